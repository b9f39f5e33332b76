#include <algorithm>
#include <cmath>

#include "stats/stats.h"

namespace perfgate {

bool IsBimodal(std::vector<double> values) {
  constexpr size_t kFewest = 10;
  constexpr double kLeastShare = 0.2, kLeastSize = 0.02, kGaps = 8;
  const size_t n = values.size();
  if (n < kFewest) return false;
  std::sort(values.begin(), values.end());
  const auto fewest = static_cast<size_t>(std::ceil(kLeastShare * static_cast<double>(n)));
  double gap = 0;
  for (size_t i = fewest; i <= n - fewest; ++i) gap = std::max(gap, values[i] - values[i - 1]);
  const double others = (values.back() - values.front() - gap) / static_cast<double>(n - 2);
  return gap > kGaps * others && gap > kLeastSize * std::abs(values[n / 2]);
}

}  // namespace perfgate
