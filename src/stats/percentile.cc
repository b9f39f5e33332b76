#include <algorithm>
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

}  // namespace perfgate
