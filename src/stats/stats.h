// Plain numbers in and out: percentiles, steady state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace perfgate {

// The nearest-rank percentile, or nothing below the minimum sample count at which the one-sided
// 95 % bound of that percentile exists (statistics: n >= ln(0.05)/ln(p)): p50 5, p95 59, p99 299.
std::optional<int64_t> Percentile(std::span<const int64_t> samples, double p);

// The least number of samples for Percentile(p).
int MinimumSamples(double p);

}  // namespace perfgate
