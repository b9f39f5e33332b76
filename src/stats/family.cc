// Times of base and head in rounds of pairs: a screening, then confirmations.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stats/stats.h"

namespace perfgate {
namespace {

// Errors of one comparison and of the family of all, each shared out among the confirmations.
constexpr double kAlphaFail = 0.01, kAlphaPass = 0.05, kAlphaFamily = 0.05;
// With more spread than this part of the tolerance, five pairs overlook a slowdown of the tolerance
// more often than 1 time in 20: they pass nothing then. Not a robust measure, for which three of
// five need to agree: where pairs differ by 11 %, three do by chance.
constexpr double kClearSpread = 0.78;

void Take(const PairedMetric& metric, size_t round, Comparison comparison, PairedTimes& times) {
  times.round = static_cast<int>(round);
  times.planned = metric.rounds[round].planned;
  times.base = Median(metric.rounds[round].base);
  times.head = Median(metric.rounds[round].head);
  times.comparison = std::move(comparison);
}

PairedTimes Screen(const PairedMetric& metric) {
  const PairsOfRound& pairs = metric.rounds.front();
  PairedTimes times;
  Take(metric, 0, ComparePairs(pairs.base, pairs.head, {.tolerance = metric.tolerance}), times);
  Comparison& comparison = times.comparison;
  comparison.improved = false;
  const bool enough = comparison.pairs >= kScreeningPairs;
  const bool clear = comparison.spread <= kClearSpread * metric.tolerance;
  if (enough && clear && !IsSuspicious(pairs.base, pairs.head, metric.tolerance)) {
    comparison.verdict = PairsVerdict::kPass;
    comparison.undecided = Undecided::kNothing;
    comparison.pairs_to_decide.reset();
    return times;
  }
  comparison.verdict = PairsVerdict::kInconclusive;
  if (comparison.undecided != Undecided::kNotPositive) {
    comparison.undecided = Undecided::kTooFewPairs;
    times.wants_pairs = enough;
  }
  return times;
}

// Of so many comparisons a single one can fail only with so many pairs: p is at least 2^-n.
int PairsFor(size_t family) {
  const double least =
      std::ceil(std::log2(static_cast<double>(family) * kMostComparisons / kAlphaFamily));
  return std::max(kComparisonPairs, static_cast<int>(least) + 1);
}

int PairsWanted(const PairedMetric& metric, size_t family) {
  const int least = PairsFor(family);
  const int resolving =
      std::min(PairsToResolve(metric.known_noise, metric.tolerance), kMostPlannedPairs);
  return std::max(least, resolving);
}

// Whether a comparison still needs a round that it has.
bool IsOpen(const PairedMetric& metric, const PairedTimes& times, size_t round) {
  return times.wants_pairs && round < metric.rounds.size() && !metric.rounds[round].base.empty();
}

Comparison Confirm(const PairedMetric& metric, size_t round) {
  return ComparePairs(metric.rounds[round].base, metric.rounds[round].head,
                      {.tolerance = metric.tolerance,
                       .alpha_fail = kAlphaFail / kMostComparisons,
                       .alpha_pass = kAlphaPass / kMostComparisons});
}

void Decide(const PairedMetric& metric, size_t round, const Comparison& comparison,
            PairedTimes& times) {
  Take(metric, round, comparison, times);
  const bool hopeless = comparison.undecided == Undecided::kBimodal ||
                        comparison.undecided == Undecided::kNotPositive;
  times.wants_pairs =
      comparison.verdict == PairsVerdict::kInconclusive && !hopeless && round < kMostComparisons;
}

}  // namespace

std::vector<PairedTimes> CompareFamily(std::span<const PairedMetric> family) {
  std::vector<PairedTimes> times;
  for (const PairedMetric& metric : family) {
    times.push_back(Screen(metric));
    times.back().pairs_wanted = PairsWanted(metric, family.size());
  }
  for (size_t round = 1; round <= kMostComparisons; ++round) {
    // What is not compared in this round cannot fail in it.
    std::vector<Comparison> compared(family.size());
    for (size_t i = 0; i < family.size(); ++i) {
      if (IsOpen(family[i], times[i], round)) compared[i] = Confirm(family[i], round);
    }
    ApplyHolm(compared, kAlphaFamily / kMostComparisons);
    for (size_t i = 0; i < family.size(); ++i) {
      if (IsOpen(family[i], times[i], round)) Decide(family[i], round, compared[i], times[i]);
    }
  }
  return times;
}

}  // namespace perfgate
