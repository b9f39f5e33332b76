#include <cmath>
#include <limits>

#include "stats/stats.h"

namespace perfgate {

void TensorErrorSum::Add(std::span<const float> values, std::span<const float> reference) {
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = values[i], wanted = reference[i];
    const int64_t at = error_.compared++;
    if (std::isfinite(value) && std::isfinite(wanted)) {
      AddNumbers(at, value, wanted);
    } else if (value != wanted && !(std::isnan(value) && std::isnan(wanted))) {
      AddUnlike(at, value, wanted);
    }
  }
}

void TensorErrorSum::AddNumbers(int64_t at, float value, float reference) {
  ++error_.numbers;
  const double difference = double{value} - double{reference};
  square_sum_ += difference * difference;
  reference_square_sum_ += double{reference} * double{reference};
  if (std::abs(difference) <= error_.largest && error_.numbers > 1) return;
  error_.largest = std::abs(difference);
  if (error_.unlike > 0) return;
  error_.at = at;
  error_.value = value;
  error_.reference = reference;
}

void TensorErrorSum::AddUnlike(int64_t at, float value, float reference) {
  if (error_.unlike++ > 0) return;
  error_.at = at;
  error_.value = value;
  error_.reference = reference;
}

TensorError TensorErrorSum::Total() const {
  TensorError total = error_;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (total.unlike > 0) {
    total.relative = total.largest = kInfinity;
  } else if (square_sum_ > 0) {
    total.relative =
        reference_square_sum_ > 0 ? std::sqrt(square_sum_ / reference_square_sum_) : kInfinity;
  }
  return total;
}

}  // namespace perfgate
