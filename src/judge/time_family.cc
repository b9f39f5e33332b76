#include "judge/time_family.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "judge/checks.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

// Errors of one comparison and of the family of all, each shared out among the confirmations.
constexpr double kAlphaFail = 0.01, kAlphaPass = 0.05, kAlphaFamily = 0.05;
// With more noise than this part of the tolerance, five pairs overlook a slowdown of the tolerance
// more often than 1 time in 20: they pass nothing then.
constexpr double kClearNoise = 0.68;

struct Sides {
  std::vector<double> base, head;
};

// The value of each process by the number of its pair; of several ranks the slowest counts.
std::map<int, double> ByPair(const Evidence& evidence, MetricId id) {
  std::map<int, double> values;
  for (const Observation& observation : evidence.values) {
    if (observation.metric != id || observation.per_step.empty()) continue;
    const double value = Median(observation.per_step);
    const auto [slowest, first] = values.try_emplace(observation.pair, value);
    if (!first) slowest->second = std::max(slowest->second, value);
  }
  return values;
}

// By round: the pairs of which both sides have a value.
std::vector<Sides> RoundsOf(const CasePair& pair, MetricId id) {
  const std::map<int, double> base = ByPair(*pair.head.base_side, id), head = ByPair(pair.head, id);
  std::vector<Sides> rounds(pair.rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    const PairRound& round = pair.rounds[i];
    for (int number = round.first_pair; number < round.first_pair + round.pairs; ++number) {
      const auto of_base = base.find(number), of_head = head.find(number);
      if (of_base == base.end() || of_head == head.end()) continue;
      rounds[i].base.push_back(of_base->second);
      rounds[i].head.push_back(of_head->second);
    }
  }
  return rounds;
}

void Take(const Sides& sides, const PairRound& round, Comparison comparison, PairedTimes& times) {
  times.round = round.round;
  times.planned = round.pairs;
  times.base = Median(sides.base);
  times.head = Median(sides.head);
  times.comparison = std::move(comparison);
}

PairedTimes Screen(const Sides& sides, const PairRound& round, double tolerance) {
  PairedTimes times;
  Take(sides, round, ComparePairs(sides.base, sides.head, {.tolerance = tolerance}), times);
  Comparison& comparison = times.comparison;
  comparison.improved = false;
  const bool enough = comparison.pairs >= kScreeningPairs;
  const bool clear = comparison.noise <= kClearNoise * tolerance;
  if (enough && clear && !IsSuspicious(sides.base, sides.head, tolerance)) {
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

// One comparison of the family on its way.
struct ComparedTimes {
  double tolerance = 0;
  const CasePair* pair = nullptr;
  std::vector<Sides> rounds;
  PairedTimes times;

  // The comparison of a round that this one still needs; nothing if it is decided or was not run.
  std::optional<Comparison> Compare(size_t round) const {
    const bool open = times.wants_pairs && round < rounds.size() && !rounds[round].base.empty();
    if (!open) return std::nullopt;
    return ComparePairs(rounds[round].base, rounds[round].head,
                        {.tolerance = tolerance,
                         .alpha_fail = kAlphaFail / kMostComparisons,
                         .alpha_pass = kAlphaPass / kMostComparisons});
  }

  void Decide(size_t round, const Comparison& comparison) {
    Take(rounds[round], pair->rounds[round], comparison, times);
    const bool hopeless = comparison.undecided == Undecided::kBimodal ||
                          comparison.undecided == Undecided::kNotPositive;
    times.wants_pairs =
        comparison.verdict == PairsVerdict::kInconclusive && !hopeless && round < kMostComparisons;
  }
};

}  // namespace

TimeFamily::TimeFamily(std::span<const Rule> rules, std::span<const CasePair> cases) {
  std::map<std::tuple<std::string, std::string, MetricId>, ComparedTimes> members;
  for (const Rule& rule : rules) {
    const auto* check = std::get_if<RegressionCheck>(&rule.check);
    for (const CasePair& pair : cases) {
      if (check == nullptr || !pair.head.base_side || pair.rounds.empty() ||
          !pair.head.Complete() || !NotForThisCase(rule, pair).empty()) {
        continue;
      }
      for (const MetricId id : rule.metrics) {
        ComparedTimes member{check->tolerance, &pair, RoundsOf(pair, id), {}};
        if (member.rounds.front().base.empty()) continue;
        member.times = Screen(member.rounds.front(), pair.rounds.front(), check->tolerance);
        members.insert_or_assign({rule.full_id, pair.declared.name, id}, std::move(member));
      }
    }
  }
  for (size_t round = 1; round <= kMostComparisons; ++round) {
    std::vector<Comparison> family;  // what is not compared in this round cannot fail in it
    std::vector<ComparedTimes*> compared;
    for (auto& [key, member] : members) {
      const std::optional<Comparison> comparison = member.Compare(round);
      family.push_back(comparison.value_or(Comparison()));
      compared.push_back(comparison ? &member : nullptr);
    }
    ApplyHolm(family, kAlphaFamily / kMostComparisons);
    for (size_t i = 0; i < family.size(); ++i) {
      if (compared[i] != nullptr) compared[i]->Decide(round, family[i]);
    }
  }
  for (auto& [key, member] : members) {
    member.times.pairs_wanted = PairsFor(members.size());
    times_.emplace(key, std::move(member.times));
  }
}

const PairedTimes* TimeFamily::Find(const std::string& rule, const std::string& case_name,
                                    MetricId id) const {
  const auto found = times_.find({rule, case_name, id});
  return found == times_.end() ? nullptr : &found->second;
}

}  // namespace perfgate
