#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

#include "stats/stats.h"

namespace perfgate {

int MinimumSamples(double p) { return static_cast<int>(std::ceil(std::log(0.05) / std::log(p))); }

std::optional<int64_t> Percentile(std::span<const int64_t> samples, double p) {
  if (samples.empty() || static_cast<int>(samples.size()) < MinimumSamples(p)) return std::nullopt;
  std::vector<int64_t> sorted(samples.begin(), samples.end());
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

int MinimumSamplesOfInterval(double p, double confidence) {
  // The largest sample lies above the percentile, and the smallest below it, often enough.
  const double tail = (1 - confidence) / 2;
  return static_cast<int>(std::ceil(std::log(tail) / std::log(std::max(p, 1 - p))));
}

std::optional<PercentileInterval> IntervalOfPercentile(std::span<const int64_t> samples, double p,
                                                       double confidence) {
  if (static_cast<int>(samples.size()) < MinimumSamplesOfInterval(p, confidence)) {
    return std::nullopt;
  }
  // As many samples lie below the percentile as a binomial distribution says. Ranks from 1, from
  // the expected one outwards: the sample of rank `low` is above the percentile, and that of rank
  // `high` below it, in at most `tail` of all cases each.
  const double tail = (1 - confidence) / 2;
  const auto count = static_cast<double>(samples.size());
  const boost::math::binomial_distribution<> below(count, p);
  auto low = static_cast<size_t>(count * p) + 1, high = std::max<size_t>(low - 1, 1);
  while (low > 1 && cdf(below, static_cast<double>(low - 1)) > tail) --low;
  while (high < samples.size() && cdf(complement(below, static_cast<double>(high - 1))) > tail) {
    ++high;
  }
  std::vector<int64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return PercentileInterval{sorted[low - 1], sorted[high - 1]};
}

}  // namespace perfgate
