// Plain numbers in and out: percentiles and medians.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace perfgate {

// The nearest-rank percentile, or nothing below the minimum sample count at which the one-sided
// 95 % bound of that percentile exists (statistics: n >= ln(0.05)/ln(p)): p50 5, p95 59, p99 299.
std::optional<int64_t> Percentile(std::span<const int64_t> samples, double p);

// The least number of samples for Percentile(p).
int MinimumSamples(double p);

// The middle value; of an even number of values the mean of the two in the middle. 0 of none.
double Median(std::vector<double> values);

// The middle value; of an even number of values the lower of the two in the middle, so that it is
// one that was measured. 0 of none.
int64_t LowerMedian(std::vector<int64_t> values);

}  // namespace perfgate
