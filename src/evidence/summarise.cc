#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "evidence/evidence.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

// The side that the evidence is about: head, unless only base was measured.
Side MeasuredSide(const Evidence& evidence) {
  const bool head = std::any_of(evidence.values.begin(), evidence.values.end(),
                                [](const Observation& o) { return o.side == Side::kHead; });
  return head || evidence.values.empty() ? Side::kHead : Side::kBase;
}

}  // namespace

int Evidence::TotalSteps() const {
  int64_t total = 0;
  for (const int count : steps) total = SaturatingAdd(total, std::max(count, 1));
  return static_cast<int>(std::min<int64_t>(total, std::numeric_limits<int>::max()));
}

std::map<int, double> ValuesByPair(const Evidence& evidence, MetricId metric) {
  std::map<int, double> values;
  for (const Observation& observation : evidence.values) {
    if (observation.metric != metric || observation.per_step.empty()) continue;
    const double value = Median(observation.per_step);
    const auto [slowest, first] = values.try_emplace(observation.pair, value);
    if (!first) slowest->second = std::max(slowest->second, value);
  }
  return values;
}

MetricValue Summarise(const Evidence& evidence, MetricId metric) {
  MetricValue summary;
  const auto unavailable = evidence.unavailable.find(metric);
  if (unavailable != evidence.unavailable.end()) {
    summary.unavailable = unavailable->second;
    return summary;
  }
  const Side side = MeasuredSide(evidence);
  std::map<std::pair<int, int>, double> by_process;  // pair and process: of its ranks the largest
  std::map<int, std::vector<double>> of_rank;
  for (const Observation& observation : evidence.values) {
    if (observation.metric != metric || observation.side != side) continue;
    if (observation.per_step.empty()) continue;
    summary.per_step.insert(summary.per_step.end(), observation.per_step.begin(),
                            observation.per_step.end());
    const double median = Median(observation.per_step);
    const auto [largest, first] =
        by_process.try_emplace({observation.pair, observation.process}, median);
    if (!first) largest->second = std::max(largest->second, median);
    of_rank[observation.rank].push_back(median);
  }
  if (!evidence.ranks.empty()) {
    for (auto& [rank, values] : of_rank) summary.by_rank[rank] = Median(std::move(values));
  }
  if (summary.per_step.empty()) {
    summary.unavailable = "not measured";
    return summary;
  }
  summary.largest = *std::max_element(summary.per_step.begin(), summary.per_step.end());
  if (Info(metric).worst_process) {
    summary.stable = true;
    summary.value = summary.largest;
    return summary;
  }
  if (Info(metric).exactness != Exactness::kExact) {
    summary.stable = true;
    std::vector<double> medians;
    for (const auto& [process, median] : by_process) medians.push_back(median);
    summary.value = Median(std::move(medians));
    return summary;
  }
  summary.stable = std::all_of(summary.per_step.begin(), summary.per_step.end(),
                               [&](double value) { return value == summary.per_step.front(); });
  if (summary.stable) summary.value = summary.per_step.front();
  return summary;
}

bool KernelSetIsStable(const Evidence& evidence) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<int64_t>> counts;
  for (const KernelRow& row : evidence.kernels) {
    // Which number generated code has is up to the process.
    const bool numbered = row.info.library == "inductor";
    std::vector<int64_t>& sum = counts[{row.device, numbered ? row.info.canonical : row.name}];
    sum.resize(std::max(sum.size(), row.count_per_step.size()));
    for (size_t step = 0; step < row.count_per_step.size(); ++step) {
      sum[step] = SaturatingAdd(sum[step], row.count_per_step[step]);
    }
  }
  return std::all_of(counts.begin(), counts.end(), [](const auto& entry) {
    const std::vector<int64_t>& sum = entry.second;
    return std::all_of(sum.begin(), sum.end(), [&](int64_t count) { return count == sum.front(); });
  });
}

}  // namespace perfgate
