#include <algorithm>
#include <cmath>

#include "stats/stats.h"

namespace perfgate {

std::optional<TwoLevels> FindTwoLevels(std::vector<double> values) {
  constexpr size_t kFewest = 10;
  constexpr double kLeastShare = 0.2, kLeastSize = 0.02, kGaps = 8;
  const size_t n = values.size();
  if (n < kFewest) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto fewest = static_cast<size_t>(std::ceil(kLeastShare * static_cast<double>(n)));
  size_t cut = fewest;
  const auto gap_before = [&](size_t i) { return values[i] - values[i - 1]; };
  for (size_t i = fewest; i <= n - fewest; ++i) {
    if (gap_before(i) > gap_before(cut)) cut = i;
  }
  const double gap = gap_before(cut);
  const double others = (values.back() - values.front() - gap) / static_cast<double>(n - 2);
  if (gap <= kGaps * others || gap <= kLeastSize * std::abs(values[n / 2])) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(cut);
  return TwoLevels{Median({values.begin(), middle}), Median({middle, values.end()}),
                   static_cast<int>(cut), static_cast<int>(n - cut)};
}

}  // namespace perfgate
