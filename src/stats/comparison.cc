#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "stats/stats.h"
#include "stats/walsh.h"

namespace perfgate {
namespace {

// Quantiles of the normal distribution at 99 %, 95 % and 90 %, for forecasts only; the signed-rank
// interval of normal values is wider than the best one by the square root of pi/3.
constexpr double kNormal99 = 2.326, kNormal95 = 1.645, kNormal90 = 1.282, kWidth = 1.023;
constexpr int kMostPairs = 1000;  // beyond this "more pairs" is no advice
// Pairs that tell only larger changes, in tolerances, pass nothing: what looks unchanged then does
// so by chance. Of 97 recorded pairs with a noise of 11 %, a head that is 5 % slower would pass in
// 1 of 200 draws at a tolerance of 2 %, with this in 1 of 5000.
constexpr double kMostResolvable = 1.25;

// log(head/base) of each pair, 0 of two zeros; nothing if there is a pair without one.
std::optional<std::vector<double>> LogRatios(std::span<const double> base,
                                             std::span<const double> head) {
  if (base.size() != head.size()) {
    throw Error(Fault::kBug, "pairs need as many values of head as of base");
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < base.size(); ++i) {
    const bool nothing = base[i] == 0 && head[i] == 0;  // a part of a start that there is not
    const double ratio = nothing ? 0 : std::log(head[i] / base[i]);
    if (!nothing && (!(base[i] > 0) || !(head[i] > 0))) return std::nullopt;
    if (!std::isfinite(ratio)) return std::nullopt;
    ratios.push_back(ratio);
  }
  return ratios;
}

std::vector<double> RatiosOf(std::vector<double> log_ratios) {
  for (double& ratio : log_ratios) ratio = std::exp(ratio);
  return log_ratios;
}

void CheckTolerance(double tolerance) {
  if (!(tolerance > 0)) throw Error(Fault::kBug, "a comparison of times needs a tolerance above 0");
}

double StandardDeviation(const std::vector<double>& ratios) {
  if (ratios.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  return std::sqrt(squares / static_cast<double>(ratios.size() - 1));
}

// Where more than half of the pairs are equal, as of a coarse clock, what is left still varies.
double RobustDeviation(const std::vector<double>& ratios) {
  const double robust = 1.4826 * MedianAbsoluteDeviation(ratios);
  return robust > 0 ? robust : StandardDeviation(ratios);
}

std::optional<int> PairsToDecide(double shift, double noise, double limit, int minimum) {
  const double distance = shift > limit ? shift : limit - shift;
  const double quantile = shift > limit ? kNormal99 : kNormal95;
  if (distance <= 0) return std::nullopt;
  const double pairs = std::ceil(std::pow(quantile * kWidth * noise / distance, 2));
  if (!(pairs <= kMostPairs)) return std::nullopt;
  return std::max(static_cast<int>(pairs), minimum);
}

// Of the noise over the square root of so many pairs: ResolvableTolerance. It was simulated with
// the share of the errors that a confirmation has (stats_resolution_test).
constexpr double kResolution = 2.8;

}  // namespace

double DetectableChange(double noise, int pairs, double tolerance) {
  const double error = kWidth * noise / std::sqrt(static_cast<double>(pairs));
  // Of few pairs the interval is wider than that of many, about as Student's is.
  const double few = (std::pow(kNormal99, 3) + kNormal99) / (4.0 * std::max(pairs - 1, 1));
  const double significant = (kNormal99 + few + kNormal90) * error;
  return std::expm1(std::max(std::log1p(tolerance) + kNormal90 * error, significant));
}

double ResolvableTolerance(double noise, int pairs) {
  return std::expm1(kResolution * noise / std::sqrt(static_cast<double>(pairs)));
}

int PairsToResolve(double noise, double tolerance) {
  CheckTolerance(tolerance);
  const double pairs = std::ceil(std::pow(kResolution * noise / std::log1p(tolerance), 2));
  return static_cast<int>(std::clamp<double>(pairs, kFewestPairs, std::numeric_limits<int>::max()));
}

Comparison ComparePairs(std::span<const double> base, std::span<const double> head,
                        const ComparisonSettings& settings) {
  CheckTolerance(settings.tolerance);
  Comparison result;
  result.pairs = static_cast<int>(base.size());
  const std::optional<std::vector<double>> ratios = LogRatios(base, head);
  if (!ratios) {
    result.undecided = Undecided::kNotPositive;
    return result;
  }
  const double limit = std::log1p(settings.tolerance);
  const std::vector<double> walsh = SortedWalshAverages(*ratios);
  const double shift = Median(walsh);
  const int rank_fail = SignedRankBound(result.pairs, settings.alpha_fail);
  const int rank_pass = SignedRankBound(result.pairs, settings.alpha_pass);
  const auto from_below = [&](int rank) { return walsh[static_cast<size_t>(rank) - 1]; };
  const auto from_above = [&](int rank) { return walsh[walsh.size() - static_cast<size_t>(rank)]; };
  result.shift = std::expm1(shift);
  result.noise = RobustDeviation(*ratios);
  result.spread = StandardDeviation(*ratios);
  result.p = SignedRankP(*ratios);
  if (rank_fail > 0) result.lower = std::expm1(from_below(rank_fail));
  if (rank_pass > 0) result.upper = std::expm1(from_above(rank_pass));
  if (result.pairs > 0) {
    result.detectable = DetectableChange(result.noise, result.pairs, settings.tolerance);
  }

  const bool slower = rank_fail > 0 && from_below(rank_fail) > 0 && shift > limit;
  const bool faster = rank_fail > 0 && from_above(rank_fail) < 0 && shift < -limit;
  const std::optional<TwoLevels> levels = FindTwoLevels(RatiosOf(*ratios));
  const bool bimodal = levels.has_value();
  const bool some_slower = bimodal && levels->high > 1 + settings.tolerance;
  const bool resolved =
      ResolvableTolerance(result.noise, result.pairs) <= kMostResolvable * settings.tolerance;
  if (slower && !bimodal) {
    result.verdict = PairsVerdict::kFail;
  } else if (rank_pass > 0 && from_above(rank_pass) < limit && (resolved || faster) &&
             !some_slower) {
    result.verdict = PairsVerdict::kPass;
    result.improved = faster && !bimodal;
  } else {
    const int minimum = MinimumPairs(settings.alpha_fail);
    result.undecided = bimodal                  ? Undecided::kBimodal
                       : result.pairs < minimum ? Undecided::kTooFewPairs
                                                : Undecided::kTooWide;
    if (result.pairs > 0) {
      result.pairs_to_decide = PairsToDecide(shift, result.noise, limit, minimum);
      if (result.pairs_to_decide && !resolved) {
        const int resolving = PairsToResolve(result.noise, kMostResolvable * settings.tolerance);
        result.pairs_to_decide = std::max(*result.pairs_to_decide, resolving);
      }
    }
  }
  return result;
}

void ApplyHolm(std::vector<Comparison>& family, double alpha) {
  std::vector<double> p;
  for (const Comparison& comparison : family) p.push_back(comparison.p);
  const std::vector<double> adjusted = AdjustByHolm(p);
  for (size_t i = 0; i < family.size(); ++i) {
    if (family[i].verdict != PairsVerdict::kFail || adjusted[i] <= alpha) continue;
    family[i].verdict = PairsVerdict::kInconclusive;
    family[i].undecided = Undecided::kFamily;
    // The smallest p that n pairs can have is 2^-n.
    const double needed = -std::log2(alpha / static_cast<double>(family.size()));
    family[i].pairs_to_decide = std::max(family[i].pairs, static_cast<int>(std::ceil(needed))) + 1;
  }
}

bool IsSuspicious(std::span<const double> base, std::span<const double> head, double tolerance) {
  CheckTolerance(tolerance);
  const std::optional<std::vector<double>> ratios = LogRatios(base, head);
  return !ratios || ratios->empty() || HodgesLehmann(*ratios) > std::log1p(tolerance) / 2;
}

}  // namespace perfgate
