// How long the iterations of the timed windows took.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/units.h"
#include "report/html.h"
#include "report/html_sections.h"

namespace perfgate::html {
namespace {

constexpr double kStripWidth = 1200, kLabelWidth = 170, kStripHeight = 26;
constexpr size_t kMostTicks = 600;     // of a process
constexpr size_t kMostProcesses = 24;  // of both sides
// Beyond so many times the largest median the picture would be all edge.
constexpr double kEdge = 3;

struct Percentile {
  MetricId metric;
  std::string_view name;
};
constexpr Percentile kPercentiles[] = {
    {MetricId::kLatencyP50, "p50"}, {MetricId::kLatencyP95, "p95"}, {MetricId::kLatencyP99, "p99"}};

// One process of one side.
struct Strip {
  std::string label;
  std::map<std::string_view, double> percentiles;  // by name; those that it has
  const std::vector<int64_t>* samples = nullptr;   // nullptr: only the percentiles are kept
};

void AddStrips(std::string_view side, const Evidence& evidence, std::vector<Strip>* strips) {
  std::map<std::tuple<Side, int, int>, Strip> by_process;
  for (const Observation& observation : evidence.values) {
    for (const Percentile& percentile : kPercentiles) {
      if (observation.metric != percentile.metric || observation.per_step.empty()) continue;
      by_process[{observation.side, observation.pair, observation.process}]
          .percentiles[percentile.name] = observation.per_step.front();
    }
  }
  for (const TimedWindow& window : evidence.timed) {
    by_process[{window.side, window.pair, window.process}].samples = &window.latency_ns;
  }
  for (auto& [place, strip] : by_process) {
    strip.label = fmt::format("{}, process {}", side, std::get<2>(place));
    strips->push_back(std::move(strip));
  }
}

std::string PercentileCell(const Strip& strip, std::string_view name) {
  const auto found = strip.percentiles.find(name);
  return found == strip.percentiles.end() ? "–" : Time(found->second);
}

std::string StripTable(const std::vector<Strip>& strips) {
  Table table("Latency of the timed window, an iteration", {{"process"},
                                                            {"samples", true},
                                                            {"least", true},
                                                            {"p50", true},
                                                            {"p95", true},
                                                            {"p99", true},
                                                            {"most", true}});
  for (const Strip& strip : strips) {
    std::string count = "–", least = "–", most = "–";
    if (strip.samples != nullptr) {
      const auto [low, high] = std::minmax_element(strip.samples->begin(), strip.samples->end());
      count = fmt::format("{}", strip.samples->size());
      least = Time(static_cast<double>(*low));
      most = Time(static_cast<double>(*high));
    }
    table.Add({{Text(strip.label)},
               {count},
               {least},
               {PercentileCell(strip, "p50")},
               {PercentileCell(strip, "p95")},
               {PercentileCell(strip, "p99")},
               {most}});
  }
  return table.Take();
}

// What the picture spans.
struct Scale {
  double least_ns = 0, edge_ns = 0;

  double X(double ns) const {
    const double share = (ns - least_ns) / (edge_ns - least_ns);
    return kLabelWidth + (kStripWidth - kLabelWidth) * std::clamp(share, 0.0, 1.0);
  }
};

// Nothing where no value differs from another.
std::optional<Scale> ScaleOf(const std::vector<Strip>& strips) {
  std::vector<double> all, medians;
  for (const Strip& strip : strips) {
    for (const auto& [name, value] : strip.percentiles) all.push_back(value);
    if (strip.percentiles.contains("p50")) medians.push_back(strip.percentiles.at("p50"));
    if (strip.samples == nullptr) continue;
    for (const int64_t ns : *strip.samples) all.push_back(static_cast<double>(ns));
  }
  if (all.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  Scale scale{*least, *most};
  if (!medians.empty()) {
    const double edge = kEdge * *std::max_element(medians.begin(), medians.end());
    scale.edge_ns = std::min(scale.edge_ns, std::max(edge, *least));
  }
  if (scale.edge_ns <= scale.least_ns) return std::nullopt;
  return scale;
}

// A tick a sample; of more than kMostTicks every so many-th by size.
std::string Ticks(const std::vector<int64_t>& samples, const Scale& scale, double y,
                  int64_t* beyond) {
  std::vector<int64_t> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const size_t stride = (sorted.size() + kMostTicks - 1) / kMostTicks;
  std::string path;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto ns = static_cast<double>(sorted[i]);
    *beyond += ns > scale.edge_ns;
    if (i % stride == 0 && ns <= scale.edge_ns) {
      path += fmt::format("M{:.1f} {:.0f}v12", scale.X(ns), y + 7);
    }
  }
  return path.empty() ? "" : fmt::format("<path class=\"ticks\" d=\"{}\"/>\n", path);
}

std::string StripMarkup(const Strip& strip, const Scale& scale, double y, int64_t* beyond) {
  std::string text =
      fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 17, Text(strip.label));
  if (strip.samples != nullptr) text += Ticks(*strip.samples, scale, y, beyond);
  for (const auto& [name, value] : strip.percentiles) {
    text += fmt::format(
        "<path class=\"{0}\" d=\"M{1:.1f} {2:.0f}v20\"><title>{3}: {0} {4}</title></path>\n", name,
        scale.X(value), y + 3, Text(strip.label), Time(value));
  }
  return text;
}

std::string StripPicture(const std::vector<Strip>& strips, const Scale& scale) {
  std::string body;
  double y = 0;
  int64_t beyond = 0;
  for (const Strip& strip : strips) {
    body += StripMarkup(strip, scale, y, &beyond);
    y += kStripHeight;
  }
  for (int tick = 0; tick <= 4; ++tick) {
    const double ns = scale.least_ns + (scale.edge_ns - scale.least_ns) * tick / 4;
    body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n",
                        scale.X(ns), y + 14, tick == 4 ? "end" : "middle", Time(ns));
  }
  const std::string edge =
      beyond == 0 ? "" : fmt::format("; {} beyond the right edge", Plural(beyond, "sample"));
  return fmt::format(
      "<figure>\n<figcaption>A tick an iteration; blue p50, dashed p95, red p99{}</figcaption>\n"
      "<div class=\"scroll\">\n<svg class=\"strips\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"group\">\n"
      "<title>Latency of the timed windows</title>\n<desc>The table above holds the "
      "percentiles.</desc>\n{}</svg>\n</div>\n</figure>\n",
      edge, kStripWidth, y + 20, body);
}

}  // namespace

std::string Latency(const Sides& sides) {
  std::vector<Strip> strips;
  const bool both = sides.base != nullptr && sides.head != nullptr;
  if (sides.base != nullptr) AddStrips("base", *sides.base, &strips);
  if (sides.head != nullptr) AddStrips(both ? "head" : "run", *sides.head, &strips);
  if (strips.empty()) return "";
  std::string left_out;
  if (strips.size() > kMostProcesses) {
    left_out = fmt::format("<p>{} more processes are left out here.</p>\n",
                           strips.size() - kMostProcesses);
    strips.resize(kMostProcesses);
  }
  const std::optional<Scale> scale = ScaleOf(strips);
  return "<h3>Latency</h3>\n" + StripTable(strips) + left_out +
         (scale ? StripPicture(strips, *scale) : "");
}

}  // namespace perfgate::html
