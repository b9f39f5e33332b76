// One session against those of a stored series.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

constexpr double kNormalDeviation = 1.4826;  // of the median absolute deviation
constexpr double kDeviations = 3;

double SecondLargest(std::vector<double> values) {
  std::nth_element(values.begin(), values.end() - 2, values.end());
  return *(values.end() - 2);
}

HistoryVerdict VerdictOf(const HistoryComparison& comparison, double tolerance) {
  if (comparison.first <= tolerance) return HistoryVerdict::kPass;
  if (!comparison.second) return HistoryVerdict::kUnconfirmed;
  if (*comparison.second <= tolerance) return HistoryVerdict::kPass;
  const bool beyond = std::min(comparison.first, *comparison.second) > comparison.limit;
  return beyond && !comparison.bimodal ? HistoryVerdict::kFail : HistoryVerdict::kInconclusive;
}

}  // namespace

HistoryComparison CompareWithHistory(std::span<const double> past, double first,
                                     std::optional<double> second, double tolerance) {
  const bool positive = std::all_of(past.begin(), past.end(), [](double v) { return v > 0; });
  if (past.size() < 2 || !positive || !(tolerance > 0)) {
    throw Error(Fault::kBug, "CompareWithHistory: needs sessions above 0 and a tolerance");
  }
  const std::vector<double> values(past.begin(), past.end());
  HistoryComparison comparison;
  comparison.median = Median(values);
  const auto rise = [&](double value) { return value / comparison.median - 1; };
  comparison.noise = kNormalDeviation * MedianAbsoluteDeviation(values) / comparison.median;
  comparison.limit =
      std::max({tolerance, kDeviations * comparison.noise, rise(SecondLargest(values))});
  comparison.bimodal = FindTwoLevels(values).has_value();
  comparison.first = rise(first);
  if (second) comparison.second = rise(*second);
  comparison.verdict = VerdictOf(comparison, tolerance);
  return comparison;
}

}  // namespace perfgate
