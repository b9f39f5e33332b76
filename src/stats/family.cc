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

void Take(const PairsOfRound& pairs, Comparison comparison, PairedTimes& times) {
  times.base = Median(pairs.base);
  times.head = Median(pairs.head);
  times.comparison = std::move(comparison);
}

PairedTimes Screen(const PairedMetric& metric) {
  const PairsOfRound& pairs = metric.rounds.front();
  PairedTimes times;
  times.planned = pairs.planned;
  Take(pairs, ComparePairs(pairs.base, pairs.head, {.tolerance = metric.tolerance}), times);
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

Comparison Confirm(const PairsOfRound& pairs, double tolerance) {
  return ComparePairs(pairs.base, pairs.head,
                      {.tolerance = tolerance,
                       .alpha_fail = kAlphaFail / kMostComparisons,
                       .alpha_pass = kAlphaPass / kMostComparisons});
}

// The pairs of all rounds up to this one.
PairsOfRound PairsUpTo(const PairedMetric& metric, size_t round) {
  PairsOfRound all;
  for (size_t i = 0; i <= round; ++i) {
    const PairsOfRound& pairs = metric.rounds[i];
    all.base.insert(all.base.end(), pairs.base.begin(), pairs.base.end());
    all.head.insert(all.head.end(), pairs.head.begin(), pairs.head.end());
  }
  return all;
}

// A round is measured because head looked slow, or was undecided, in those before it: their pairs
// prove no slowdown, but a pass by all of them errs, if at all, on the safe side. One that they
// speak against is none.
void PassByAll(const PairedMetric& metric, size_t round, PairedTimes& times) {
  const PairsOfRound all = PairsUpTo(metric, round);
  Comparison by_all = Confirm(all, metric.tolerance);
  const bool passes = by_all.verdict == PairsVerdict::kPass;
  if (!passes && times.comparison.verdict != PairsVerdict::kPass) return;
  if (!passes) {
    if (by_all.verdict == PairsVerdict::kFail) by_all.undecided = Undecided::kTooWide;
    by_all.verdict = PairsVerdict::kInconclusive;
    by_all.pairs_to_decide.reset();  // the fresh ones had decided
  }
  times.earlier = by_all.pairs - times.comparison.pairs;
  Take(all, std::move(by_all), times);
}

void Decide(const PairedMetric& metric, size_t round, Comparison fresh, PairedTimes& times) {
  times.round = static_cast<int>(round);
  times.planned = metric.rounds[round].planned;
  times.earlier = 0;
  const bool passes = fresh.verdict == PairsVerdict::kPass;
  const bool open = fresh.undecided == Undecided::kTooWide;
  const bool hopeless =
      fresh.undecided == Undecided::kBimodal || fresh.undecided == Undecided::kNotPositive;
  Take(metric.rounds[round], std::move(fresh), times);
  if (passes || open) PassByAll(metric, round, times);
  times.wants_pairs = times.comparison.verdict == PairsVerdict::kInconclusive && !hopeless &&
                      round < kMostComparisons;
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
      if (!IsOpen(family[i], times[i], round)) continue;
      compared[i] = Confirm(family[i].rounds[round], family[i].tolerance);
    }
    ApplyHolm(compared, kAlphaFamily / kMostComparisons);
    for (size_t i = 0; i < family.size(); ++i) {
      if (!IsOpen(family[i], times[i], round)) continue;
      Decide(family[i], round, std::move(compared[i]), times[i]);
    }
  }
  return times;
}

}  // namespace perfgate
