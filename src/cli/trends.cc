#include "cli/trends.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/judging.h"

namespace perfgate::cli {

std::vector<Trend> TrendsOf(std::span<const HistoryPoint> points) {
  std::map<std::pair<std::string, std::string>, size_t> series;  // case and key, as they first come
  std::map<std::tuple<std::string, size_t, MetricId>, Trend> trends;
  for (const HistoryPoint& point : points) {
    const size_t order =
        series.try_emplace({point.case_name, point.key}, series.size()).first->second;
    Trend& trend = trends[{point.case_name, order, point.metric}];
    trend.case_name = point.case_name;
    trend.key = point.key;
    trend.metric = point.metric;
    trend.points.push_back({point.run_id, point.started, point.commit,
                            ShortCommit(point.commit, point.dirty), point.value,
                            point.unavailable});
  }
  std::vector<Trend> found;
  for (auto& [place, trend] : trends) {
    FindChanges(trend);
    found.push_back(std::move(trend));
  }
  return found;
}

std::vector<Trend> TrendsUpTo(const std::string& run_id, const Store& store) {
  constexpr int kMostRuns = 100;
  std::vector<Trend> trends = TrendsOf(store.History("*", std::nullopt, kMostRuns));
  std::erase_if(trends, [&](const Trend& trend) {
    return std::none_of(trend.points.begin(), trend.points.end(),
                        [&](const TrendPoint& point) { return point.run == run_id; });
  });
  return trends;
}

}  // namespace perfgate::cli
