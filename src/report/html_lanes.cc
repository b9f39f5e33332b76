// One step of both sides on one scale of time, as pictures: a lane a thread and a lane a stream.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "kernel/kernel.h"
#include "report/html.h"
#include "report/html_sections.h"

namespace perfgate::html {
namespace {

// Units of the picture, about a pixel each.
constexpr double kWidth = 1200, kLabelHeight = 18, kRowHeight = 15, kGap = 8, kAxisHeight = 20;
constexpr double kNarrowest = 1;  // spans that are narrower are drawn together
constexpr double kLetter = 6.6;   // of the text in a span
constexpr size_t kMostLanes = 12;
constexpr size_t kLongestTitle = 160;

// What is drawn: one span, or neighbours too narrow to be told apart.
struct Bar {
  double start_ns = 0, end_ns = 0, busy_ns = 0;
  int64_t count = 1;
  std::string_view name, op_path, input_dims;  // of the longest
  double longest_ns = 0;
  bool gpu = false, call = false, changed = false;
};

struct Lane {
  std::string name;
  std::map<int, std::vector<Bar>> rows;  // by depth
};

struct Picture {
  std::vector<Lane> lanes;
  double end_ns = 0;
  int64_t spans = 0, merged = 0;
  size_t lanes_left_out = 0;
};

// Kernels that some change speaks of.
class ChangedNames {
 public:
  ChangedNames(const Diff* diff, bool base) {
    if (diff == nullptr) return;
    for (const Change& change : diff->changes) {
      for (const ChangedKernel& kernel : base ? change.base : change.head) {
        names_.emplace(kernel.name, kernel.op_path);
      }
    }
  }
  bool Has(std::string_view name, std::string_view op_path) const {
    return names_.contains({name, op_path});
  }

 private:
  std::set<std::pair<std::string_view, std::string_view>> names_;
};

Lane& LaneOf(const std::string& name, Picture* picture) {
  const auto found = std::find_if(picture->lanes.begin(), picture->lanes.end(),
                                  [&](const Lane& lane) { return lane.name == name; });
  if (found != picture->lanes.end()) return *found;
  return picture->lanes.emplace_back(Lane{name, {}});
}

Picture FromTimeLine(const TimeLine& line, const ChangedNames& changed) {
  Picture picture;
  picture.end_ns = static_cast<double>(line.step_ns);
  for (const Span& span : line.spans) {
    Bar bar;
    bar.start_ns = static_cast<double>(span.start_ns);
    bar.busy_ns = bar.longest_ns = static_cast<double>(span.duration_ns);
    bar.end_ns = bar.start_ns + bar.busy_ns;
    bar.name = line.texts[span.name];
    bar.op_path = line.texts[span.op_path];
    bar.input_dims = line.texts[span.input_dims];
    bar.gpu = span.gpu;
    bar.call = span.call;
    bar.changed = span.gpu && changed.Has(bar.name, bar.op_path);
    picture.end_ns = std::max(picture.end_ns, bar.end_ns);
    LaneOf(line.texts[span.lane], &picture).rows[span.depth].push_back(bar);
    ++picture.spans;
  }
  return picture;
}

// Where no trace was read: the rows of the evidence, one after another.
Picture FromRows(const Evidence& evidence, const ChangedNames& changed) {
  Picture picture;
  const double steps = std::max(1, evidence.TotalSteps());
  for (const KernelRow& row : evidence.kernels) {
    Bar bar;
    bar.busy_ns = bar.longest_ns = static_cast<double>(row.TimeNs()) / steps;
    bar.start_ns = picture.end_ns;
    bar.end_ns = picture.end_ns = bar.start_ns + bar.busy_ns;
    bar.name = row.name;
    bar.op_path = row.op_path;
    bar.input_dims = row.FirstDims();
    bar.gpu = row.device != "cpu";
    bar.changed = changed.Has(bar.name, bar.op_path);
    LaneOf("kernels, one after another", &picture).rows[0].push_back(bar);
    ++picture.spans;
  }
  return picture;
}

// Joins neighbours that would be narrower than a pixel.
void Merge(double ns_per_unit, std::vector<Bar>* bars, int64_t* merged) {
  std::stable_sort(bars->begin(), bars->end(),
                   [](const Bar& a, const Bar& b) { return a.start_ns < b.start_ns; });
  const double narrow_ns = kNarrowest * ns_per_unit;
  std::vector<Bar> kept;
  for (Bar& bar : *bars) {
    const bool narrow = bar.end_ns - bar.start_ns < narrow_ns;
    const bool joins = narrow && !kept.empty() && kept.back().longest_ns < narrow_ns &&
                       bar.end_ns - kept.back().start_ns < 2 * narrow_ns;
    if (!joins) {
      kept.push_back(bar);
      continue;
    }
    Bar& into = kept.back();
    if (into.count == 1) ++*merged;
    ++*merged;
    into.count += 1;
    into.busy_ns += bar.busy_ns;
    into.end_ns = std::max(into.end_ns, bar.end_ns);
    into.changed |= bar.changed;
    if (bar.longest_ns <= into.longest_ns) continue;
    into.longest_ns = bar.longest_ns;
    into.name = bar.name;
    into.op_path = bar.op_path;
    into.input_dims = bar.input_dims;
  }
  *bars = std::move(kept);
}

void Arrange(double ns_per_unit, Picture* picture) {
  if (picture->lanes.size() > kMostLanes) {
    picture->lanes_left_out = picture->lanes.size() - kMostLanes;
    picture->lanes.resize(kMostLanes);
  }
  for (Lane& lane : picture->lanes) {
    for (auto& [depth, bars] : lane.rows) Merge(ns_per_unit, &bars, &picture->merged);
  }
}

// "gemm", "memory", "compute", "other": the colour of GPU work by what it does.
std::string_view ColourOf(const Bar& bar, const KernelInfo& info) {
  if (bar.call) return "call";
  if (!bar.gpu) return "cpu";
  switch (info.family) {
    case Family::kGemm:
    case Family::kGemmAux:
    case Family::kGemv:
    case Family::kConv:
    case Family::kAttention:
      return "gemm";
    case Family::kCopy:
    case Family::kMemory:
    case Family::kIndexing:
      return "memory";
    case Family::kCollective:
    case Family::kOther:
      return "other";
    default:
      return "compute";
  }
}

std::string TitleOf(const Bar& bar, std::string_view short_name) {
  std::string text = bar.count > 1 ? fmt::format("{} spans, together {}; the longest: ", bar.count,
                                                 FormatValue(bar.busy_ns, Unit::kNanoseconds))
                                   : "";
  text += Shorten(short_name, kLongestTitle);
  text += fmt::format(", {} at {}", FormatValue(bar.longest_ns, Unit::kNanoseconds),
                      FormatValue(bar.start_ns, Unit::kNanoseconds));
  if (const std::string_view op = Innermost(bar.op_path); !op.empty()) {
    text += ", called by " + Shorten(op, kLongestTitle / 2);
  }
  if (!bar.input_dims.empty()) text += ", with " + Shorten(bar.input_dims, kLongestTitle);
  if (bar.changed) text += "; in a change";
  return Text(text);
}

// What has room in a span of so many letters; "" where it would say nothing.
std::string LabelOf(std::string_view name, size_t letters) {
  constexpr std::string_view kCommon = "aten::";
  if (name.starts_with(kCommon)) name.remove_prefix(kCommon.size());
  constexpr size_t kFewest = 12;  // of a name that is cut
  if (name.size() > letters && letters < kFewest) return "";
  return Shorten(name, letters);
}

std::string BarMarkup(const Bar& bar, double x, double y, double width) {
  const KernelInfo info = bar.gpu ? DecodeKernelName(bar.name) : KernelInfo{};
  const std::string_view name = info.short_name.empty() ? bar.name : info.short_name;
  std::string text = fmt::format(
      "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
      "<title>{}</title></rect>",
      ColourOf(bar, info), bar.changed ? " changed" : "", x, y, std::max(width, kNarrowest),
      kRowHeight - 1, TitleOf(bar, name));
  const auto letters = static_cast<size_t>(std::max(0.0, (width - 6) / kLetter));
  const std::string label = LabelOf(name, letters);
  if (!label.empty() && bar.count == 1) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>", x + 3, y + kRowHeight - 4,
                        Text(label));
  }
  return text + "\n";
}

std::string Axis(double end_ns, double y) {
  std::string text;
  for (int tick = 0; tick <= 4; ++tick) {
    const double x = kWidth * tick / 4;
    const std::string_view anchor = tick == 0 ? "start" : tick == 4 ? "end" : "middle";
    text +=
        fmt::format("<text class=\"axis\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>",
                    x, y + 14, anchor, Time(end_ns * tick / 4));
  }
  return text + "\n";
}

// `longest_ns`: what the whole width stands for.
std::string Draw(std::string_view side, const Picture& picture, double longest_ns) {
  const double scale = kWidth / longest_ns;
  std::string body;
  double y = 0;
  for (const Lane& lane : picture.lanes) {
    body += fmt::format("<text class=\"lane\" x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 13,
                        Text(lane.name));
    y += kLabelHeight;
    for (const auto& [depth, bars] : lane.rows) {
      for (const Bar& bar : bars) {
        const double x = std::clamp(bar.start_ns * scale, 0.0, kWidth);
        const double end = std::clamp(bar.end_ns * scale, x, kWidth);
        body += BarMarkup(bar, std::min(x, kWidth - kNarrowest), y, end - x);
      }
      y += kRowHeight;
    }
    y += kGap;
  }
  body += Axis(longest_ns, y);
  return fmt::format(
      "<svg class=\"lanes\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"group\">\n<title>{}: one step "
      "over "
      "time</title>\n<desc>{} in {}; the tables below hold the same work.</desc>\n{}</svg>\n",
      kWidth, y + kAxisHeight, Text(side), Plural(picture.spans, "span"),
      Plural(static_cast<int64_t>(picture.lanes.size()), "lane"), body);
}

std::string Remarks(const Evidence& evidence, const Picture& picture) {
  std::vector<std::string> remarks;
  if (evidence.time_line.spans.empty()) {
    remarks.emplace_back(
        "no trace was read for this side, only what is kept of it: each kernel stands for all its "
        "launches a step, without gaps");
  }
  if (picture.merged > 0) {
    remarks.push_back(fmt::format("{} narrower than a pixel are drawn together with neighbours",
                                  Plural(picture.merged, "span")));
  }
  if (evidence.time_line.left_out > 0) {
    remarks.push_back(Plural(evidence.time_line.left_out, "span") +
                      " beyond the first are left out");
  }
  if (picture.lanes_left_out > 0) {
    remarks.push_back(Plural(static_cast<int64_t>(picture.lanes_left_out), "lane") +
                      " beyond the first are left out");
  }
  return remarks.empty() ? "" : " (" + Join(remarks, "; ") + ")";
}

constexpr std::string_view kLegend =
    "<p class=\"legend\"><span class=\"gemm\">GEMM, convolution, attention</span> <span "
    "class=\"compute\">other computing</span> <span class=\"memory\">copies, fills, "
    "indexing</span> "
    "<span class=\"other\">collectives, others</span> <span class=\"cpu\">operators</span> <span "
    "class=\"call\">CUDA calls</span> <span class=\"changed\">in a change</span></p>\n";

}  // namespace

std::string Lanes(const Sides& sides, const Diff* diff) {
  struct Drawn {
    std::string_view side;
    const Evidence* evidence;
    Picture picture;
  };
  std::vector<Drawn> drawn;
  double longest_ns = 0;
  for (const auto& [side, evidence] : {std::pair{"base", sides.base}, {"head", sides.head}}) {
    if (evidence == nullptr) continue;
    const ChangedNames changed(diff, evidence == sides.base);
    Picture picture = evidence->time_line.spans.empty()
                          ? FromRows(*evidence, changed)
                          : FromTimeLine(evidence->time_line, changed);
    longest_ns = std::max(longest_ns, picture.end_ns);
    if (!picture.lanes.empty()) drawn.push_back({side, evidence, std::move(picture)});
  }
  if (drawn.empty() || longest_ns <= 0) return "";
  std::string text = "<h3>One step over time</h3>\n" + std::string(kLegend);
  for (Drawn& item : drawn) {
    Arrange(longest_ns / kWidth, &item.picture);
    const std::string_view side = sides.base == nullptr ? "trace" : item.side;
    text += fmt::format(
        "<figure>\n<figcaption>{}{}</figcaption>\n<div class=\"scroll\">\n{}</div>\n"
        "</figure>\n",
        side, Text(Remarks(*item.evidence, item.picture)), Draw(side, item.picture, longest_ns));
  }
  return text;
}

}  // namespace perfgate::html
