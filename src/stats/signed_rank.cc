#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/stats.h"

namespace perfgate {
namespace {

// P(T <= t), t = 0 ... n(n+1)/2, of the sum T of those of the ranks 1 ... n that a fair coin picks.
std::vector<double> SignedRankDistribution(int n) {
  std::vector<double> chance(static_cast<size_t>(n) * (n + 1) / 2 + 1, 0.0);
  chance[0] = 1;
  for (size_t rank = 1, most = 0; rank <= static_cast<size_t>(n); ++rank) {
    most += rank;
    for (size_t sum = most + 1; sum-- > 0;) {
      chance[sum] = (chance[sum] + (sum >= rank ? chance[sum - rank] : 0.0)) / 2;
    }
  }
  std::partial_sum(chance.begin(), chance.end(), chance.begin());
  return chance;
}

}  // namespace

std::vector<double> SortedWalshAverages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (size_t i = 0; i < differences.size(); ++i) {
    for (size_t j = i; j < differences.size(); ++j) {
      averages.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double HodgesLehmann(std::span<const double> differences) {
  return Median(SortedWalshAverages(differences));
}

int SignedRankBound(int n, double alpha) {
  if (n < 1) return 0;
  const std::vector<double> distribution = SignedRankDistribution(n);
  return static_cast<int>(std::upper_bound(distribution.begin(), distribution.end(), alpha) -
                          distribution.begin());
}

int MinimumPairs(double alpha) { return static_cast<int>(std::ceil(-std::log2(alpha))); }

double SignedRankP(std::span<const double> differences) {
  if (differences.empty()) return 1;
  const std::vector<double> averages = SortedWalshAverages(differences);
  const auto not_above = std::upper_bound(averages.begin(), averages.end(), 0.0) - averages.begin();
  return SignedRankDistribution(
      static_cast<int>(differences.size()))[static_cast<size_t>(not_above)];
}

std::vector<double> AdjustByHolm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(p.size() - i));
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace perfgate
