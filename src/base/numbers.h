// Arithmetic on numbers that come from outside.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace perfgate {

// The sum, or the nearest number that fits: traces and baselines may claim anything.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

inline int64_t SaturatingSum(const std::vector<int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0}, SaturatingAdd);
}

}  // namespace perfgate
