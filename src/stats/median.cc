#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stats/stats.h"

namespace perfgate {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int64_t LowerMedian(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double MedianAbsoluteDeviation(std::vector<double> values) {
  const double median = Median(values);
  for (double& value : values) value = std::abs(value - median);
  return Median(std::move(values));
}

}  // namespace perfgate
