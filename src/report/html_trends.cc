// Metrics of a case over the stored runs: a small picture each, and in words where they changed.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html.h"
#include "report/html_sections.h"
#include "report/layout.h"

namespace perfgate::html {
namespace {

constexpr double kTrendWidth = 240, kTrendHeight = 44, kTrendMargin = 4;
constexpr size_t kMostTrendChanges = 5;

// What the picture spans: points by their number, values from the least to the most.
struct Frame {
  double least = 0, most = 0;
  size_t points = 0;

  double X(double point) const {
    return kTrendMargin +
           (kTrendWidth - 2 * kTrendMargin) * point / static_cast<double>(points - 1);
  }
  double Y(double value) const {
    const double share = most > least ? (value - least) / (most - least) : 0.5;
    return kTrendHeight - kTrendMargin - (kTrendHeight - 2 * kTrendMargin) * share;
  }
};

Frame FrameOf(const Trend& trend) {
  Frame frame{.points = trend.points.size()};
  bool first = true;
  for (const TrendPoint& point : trend.points) {
    if (!point.value) continue;
    frame.least = first ? *point.value : std::min(frame.least, *point.value);
    frame.most = first ? *point.value : std::max(frame.most, *point.value);
    first = false;
  }
  return frame;
}

// A line through the values, with gaps; a value between two gaps is a dot.
std::string TrendLine(const Trend& trend, const Frame& frame) {
  std::string path;
  bool joined = false;
  for (size_t i = 0; i < trend.points.size(); ++i) {
    const std::optional<double>& value = trend.points[i].value;
    if (value) {
      path += fmt::format("{}{:.1f} {:.1f}", joined ? "L" : "M", frame.X(static_cast<double>(i)),
                          frame.Y(*value));
      if (!joined) path += "h0";
    }
    joined = value.has_value();
  }
  return fmt::format("<path class=\"trend-line\" d=\"{}\"/>", path);
}

// The level of each stretch between changes, of a metric that is not exact.
std::string TrendLevels(const Trend& trend, const Frame& frame) {
  std::string path;
  for (size_t i = 0; i <= trend.changes.size() && !trend.changes.empty(); ++i) {
    const bool first = i == 0, last = i == trend.changes.size();
    const size_t from = first ? 0 : trend.changes[i - 1].first_after;
    const size_t to = last ? trend.points.size() - 1 : trend.changes[i].last_before;
    const double level = last ? trend.changes[i - 1].after : trend.changes[i].before;
    path += fmt::format("M{:.1f} {:.1f}H{:.1f}", frame.X(static_cast<double>(from)), frame.Y(level),
                        frame.X(static_cast<double>(to)));
  }
  return path.empty() ? "" : fmt::format("<path class=\"trend-level\" d=\"{}\"/>", path);
}

std::string Marks(const Trend& trend, const Frame& frame) {
  std::string marks;
  for (const TrendChange& change : trend.changes) {
    marks +=
        fmt::format("<path class=\"trend-change\" d=\"M{:.1f} 0V{:.0f}\"><title>{}</title></path>",
                    frame.X(static_cast<double>(change.last_before + change.first_after) / 2),
                    kTrendHeight, Text(SizeOf(change, trend) + " " + PlaceOf(change, trend)));
  }
  return marks;
}

std::string TrendPicture(const Trend& trend) {
  const Metric& metric = Info(trend.metric);
  const Frame frame = FrameOf(trend);
  const std::string label =
      fmt::format("{} over {}, from {} to {}, {}", metric.name,
                  Plural(static_cast<int64_t>(trend.measured), "run"),
                  FormatValue(frame.least, metric.unit), FormatValue(frame.most, metric.unit),
                  Plural(static_cast<int64_t>(trend.changes.size()), "change"));
  return fmt::format(
      "<svg class=\"trend\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"img\"><title>{}</title>{}{}{}</svg>",
      kTrendWidth, kTrendHeight, Text(label), Marks(trend, frame), TrendLine(trend, frame),
      metric.exactness == Exactness::kExact ? "" : TrendLevels(trend, frame));
}

std::string ChangesCell(const Trend& trend) {
  if (!trend.searched) return "<small>" + Text(TooFew(trend)) + "</small>";
  if (trend.changes.empty()) return "<small>none beyond the noise</small>";
  std::string text;
  const size_t left_out = trend.changes.size() - std::min(trend.changes.size(), kMostTrendChanges);
  for (size_t i = trend.changes.size(); i-- > left_out;) {
    const TrendChange& change = trend.changes[i];
    const TrendPoint& first = trend.points[change.first_after];
    text += fmt::format("{}{} {}", text.empty() ? "" : "<br>", Text(SizeOf(change, trend)),
                        Text(PlaceOf(change, trend)));
    // A run without a commit is named by its time.
    if (!first.short_commit.empty())
      text += " <small class=\"n\">" + Text(first.started) + "</small>";
  }
  if (left_out > 0) text += fmt::format("<br><small>and {} earlier</small>", left_out);
  return text;
}

bool IsConstant(const Trend& trend) {
  const Frame frame = FrameOf(trend);
  return trend.changes.empty() && frame.least == frame.most;
}

const TrendPoint& LastMeasured(const Trend& trend) {
  return *std::find_if(trend.points.rbegin(), trend.points.rend(),
                       [](const TrendPoint& point) { return point.value.has_value(); });
}

}  // namespace

std::string Trends(std::span<const Trend> trends) {
  size_t runs = 0;
  std::string constant;
  std::vector<const Trend*> shown;
  for (const Trend& trend : trends) {
    if (trend.measured < 2) continue;
    runs = std::max(runs, trend.points.size());
    if (IsConstant(trend)) {
      constant += (constant.empty() ? "" : ", ") + Code(Info(trend.metric).name);
    } else {
      shown.push_back(&trend);
    }
  }
  Table table(fmt::format("What varied over {} runs on the same machine and stack; a dashed line "
                          "where it changed",
                          runs),
              {{"metric"}, {"over the runs"}, {"last", true}, {"changes, the newest first"}});
  for (const Trend* trend : shown) {
    table.Add({{Code(Info(trend->metric).name)},
               {TrendPicture(*trend)},
               {Text(ValueOf(LastMeasured(*trend), trend->metric))},
               {"<div class=\"changes\">" + ChangesCell(*trend) + "</div>"}});
  }
  if (!constant.empty()) {
    constant = fmt::format("<p>The same in all {} runs: {}.</p>\n", runs, constant);
  }
  return table.Take() + constant;
}

}  // namespace perfgate::html
