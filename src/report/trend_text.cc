// Trends for a terminal and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "report/layout.h"
#include "report/report.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

// The last values, one character each from the lowest to the highest; a blank where there is none,
// a bar where the trend changed.
std::string Sparkline(const Trend& trend) {
  constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kMostPoints = 60;
  const size_t first = trend.points.size() - std::min(trend.points.size(), kMostPoints);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t i = first; i < trend.points.size(); ++i) {
    if (!trend.points[i].value) continue;
    low = std::min(low, *trend.points[i].value);
    high = std::max(high, *trend.points[i].value);
  }
  std::string line;
  for (size_t i = first; i < trend.points.size(); ++i) {
    const std::optional<double>& value = trend.points[i].value;
    const bool changed =
        std::any_of(trend.changes.begin(), trend.changes.end(),
                    [&](const TrendChange& change) { return change.first_after == i; });
    if (changed && i > first) line += "|";
    const double part = value && high > low ? (*value - low) / (high - low) : 0;
    line += value ? kLevels[static_cast<size_t>(std::lround(part * 7))] : " ";
  }
  return line;
}

std::string ChangeAt(size_t point, const Trend& trend) {
  for (const TrendChange& change : trend.changes) {
    if (change.first_after != point) continue;
    return "  <- " + SizeOf(change, trend) + " " + PlaceOf(change, trend);
  }
  return "";
}

std::string AsText(const Trend& trend) {
  std::string text = fmt::format("{}  {}  (key {})", Safe(trend.case_name), Info(trend.metric).name,
                                 trend.key.substr(0, 8));
  if (trend.points.size() > 1) text += "  " + Sparkline(trend);
  text += "\n";
  for (size_t i = 0; i < trend.points.size(); ++i) {
    const TrendPoint& point = trend.points[i];
    text += fmt::format("  {}  {:<8}  {:>12}{}\n", Safe(point.started), Safe(point.short_commit),
                        ValueOf(point, trend.metric), ChangeAt(i, trend));
  }
  if (!trend.searched) {
    text += "  " + TooFew(trend) + "\n";
  } else if (trend.changes.empty() && trend.measured > 1) {
    const bool exact = Info(trend.metric).exactness == Exactness::kExact;
    text +=
        fmt::format("  no change {}in {} runs\n", exact ? "" : "beyond the noise ", trend.measured);
  }
  return text;
}

Json ChangeAsJson(const TrendChange& change, const Trend& trend) {
  const TrendPoint &last = trend.points[change.last_before],
                   &first = trend.points[change.first_after];
  return Json(Json::Object{{"before", Json(change.before)},
                           {"after", Json(change.after)},
                           {"last_run_before", Json(last.run)},
                           {"first_run_after", Json(first.run)},
                           {"last_commit_before", Json(last.commit)},
                           {"first_commit_after", Json(first.commit)}});
}

Json PointAsJson(const TrendPoint& point) {
  return Json(
      Json::Object{{"run", Json(point.run)},
                   {"started", Json(point.started)},
                   {"commit", Json(point.commit)},
                   {"value", point.value ? Json(*point.value) : Json()},
                   {"unavailable", point.unavailable.empty() ? Json() : Json(point.unavailable)}});
}

}  // namespace

std::string TooFew(const Trend& trend) {
  return fmt::format("too few runs to tell a change from noise: {} of the {} that it takes",
                     trend.measured, kMinimumSeries);
}

std::string TrendsAsText(std::span<const Trend> trends) {
  std::string text;
  for (const Trend& trend : trends) text += AsText(trend);
  return text;
}

Json TrendsAsJson(std::span<const Trend> trends) {
  Json series{Json::Array{}};
  for (const Trend& trend : trends) {
    Json points{Json::Array{}}, changes{Json::Array{}};
    for (const TrendPoint& point : trend.points) points.Push(PointAsJson(point));
    for (const TrendChange& change : trend.changes) changes.Push(ChangeAsJson(change, trend));
    const Metric& metric = Info(trend.metric);
    series.Push(Json(Json::Object{{"case", Json(trend.case_name)},
                                  {"key", Json(trend.key)},
                                  {"metric", Json(metric.name)},
                                  {"unit", Json(ToString(metric.unit))},
                                  {"exact", Json(metric.exactness == Exactness::kExact)},
                                  {"searched", Json(trend.searched)},
                                  {"changes", std::move(changes)},
                                  {"points", std::move(points)}}));
  }
  return Json(Json::Object{{"schema", Json("perfgate.history/1")}, {"series", std::move(series)}});
}

}  // namespace perfgate
