#include "trend/trend.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

void FindExactChanges(const std::vector<size_t>& measured, Trend& trend) {
  for (size_t i = 1; i < measured.size(); ++i) {
    const double before = *trend.points[measured[i - 1]].value;
    const double after = *trend.points[measured[i]].value;
    if (before != after) trend.changes.push_back({measured[i - 1], measured[i], before, after});
  }
}

void FindNoisyChanges(const std::vector<size_t>& measured, Trend& trend) {
  trend.searched = measured.size() >= kMinimumSeries;
  std::vector<double> values;
  for (const size_t point : measured) values.push_back(*trend.points[point].value);
  for (const ChangePoint& change : FindChangePoints(values)) {
    trend.changes.push_back(
        {measured[change.index - 1], measured[change.index], change.before, change.after});
  }
}

std::string NameOf(const TrendPoint& point) {
  return Printable(point.short_commit.empty() ? point.started : point.short_commit);
}

}  // namespace

void FindChanges(Trend& trend) {
  std::vector<size_t> measured;
  for (size_t i = 0; i < trend.points.size(); ++i) {
    if (trend.points[i].value) measured.push_back(i);
  }
  trend.measured = measured.size();
  if (Info(trend.metric).exactness == Exactness::kExact) {
    FindExactChanges(measured, trend);
  } else {
    FindNoisyChanges(measured, trend);
  }
}

std::string PlaceOf(const TrendChange& change, const Trend& trend) {
  const TrendPoint& before = trend.points[change.last_before];
  const TrendPoint& after = trend.points[change.first_after];
  if (!before.commit.empty() && before.commit == after.commit &&
      before.short_commit == after.short_commit) {
    const bool committed = !after.short_commit.ends_with('+');
    return (committed ? "at " : "within the uncommitted changes of ") + NameOf(after) +
           (committed ? " itself" : "");
  }
  return "between " + NameOf(before) + " and " + NameOf(after);
}

std::string SizeOf(const TrendChange& change, const Trend& trend) {
  const Metric& metric = Info(trend.metric);
  std::string text =
      FormatValue(change.before, metric.unit) + " -> " + FormatValue(change.after, metric.unit);
  if (metric.exactness != Exactness::kExact && change.before > 0) {
    text += fmt::format(" ({:+.1f} %)", 100 * (change.after / change.before - 1));
  }
  return text;
}

std::string ValueOf(const TrendPoint& point, MetricId metric) {
  if (point.value) return FormatValue(*point.value, Info(metric).unit);
  return point.unavailable.empty() ? "varies" : "n/a";
}

}  // namespace perfgate
