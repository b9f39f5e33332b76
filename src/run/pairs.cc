#include "run/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/text.h"
#include "metric/metric.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

bool IsOfTheTracedWindow(MetricId id) { return Info(id).needs.starts_with("a trace"); }

Attempt MemberOf(const PairedCase& paired, int pair, Side side) {
  const Case& declared = *paired.declared;
  Attempt attempt;
  attempt.case_name = declared.name;
  attempt.side = side;
  attempt.pair = attempt.process = pair;
  const bool first = paired.traced || pair < ProcessesOf(declared);
  attempt.phase = first ? PhaseOfFirst(declared) : Phase::kTimed;
  attempt.dir =
      std::filesystem::path("attempts") / Slug(declared.name) /
      fmt::format("{}{}-{}", side == Side::kBase ? "base-" : "", ToString(attempt.phase), pair);
  return attempt;
}

const PairedCase& Find(std::span<const PairedCase> cases, const std::string& name) {
  return *std::find_if(cases.begin(), cases.end(),
                       [&](const PairedCase& paired) { return paired.declared->name == name; });
}

// `pairs`: of base and head, else head alone.
std::vector<Attempt> InTurns(std::span<const PairedCase> cases,
                             const std::vector<PairRound>& rounds, uint64_t seed,
                             bool pairs = true) {
  std::mt19937_64 chance(seed);
  int most = 0;
  for (const PairRound& round : rounds) most = std::max(most, round.pairs);
  std::vector<Attempt> attempts;
  for (int i = 0; i < most; ++i) {
    for (const PairRound& round : rounds) {
      if (i >= round.pairs) continue;
      const PairedCase& paired = Find(cases, round.case_name);
      const int pair = round.first_pair + i;
      const bool head_first = chance() >> 63 != 0;
      const bool alone = !pairs || paired.declared->reference_only;
      if (alone || head_first) attempts.push_back(MemberOf(paired, pair, Side::kHead));
      if (!alone) attempts.push_back(MemberOf(paired, pair, Side::kBase));
      if (!alone && !head_first) attempts.push_back(MemberOf(paired, pair, Side::kHead));
    }
  }
  return attempts;
}

}  // namespace

std::vector<PairedCase> PairedCases(const std::vector<Rule>& rules,
                                    const std::vector<Case>& cases) {
  std::vector<PairedCase> paired;
  for (const Case& declared : cases) {
    PairedCase& wanted = paired.emplace_back(PairedCase{&declared});
    if (declared.reference_only || !declared.trace.empty()) continue;
    if (declared.profiler == Profiler::kInstructions) continue;
    for (const Rule& rule : rules) {
      const bool in_pairs = std::holds_alternative<RegressionCheck>(rule.check);
      const bool compares = in_pairs || std::holds_alternative<HistoryCheck>(rule.check);
      if (!compares || rule.severity == Severity::kOff || !MatchesGlob(rule.cases, declared.name)) {
        continue;
      }
      wanted.timed |= in_pairs;
      wanted.traced |= std::any_of(rule.metrics.begin(), rule.metrics.end(), IsOfTheTracedWindow);
    }
  }
  return paired;
}

PlannedRound PlanScreening(std::span<const PairedCase> cases, uint64_t seed) {
  PlannedRound plan;
  for (const PairedCase& paired : cases) {
    const int traced = ProcessesOf(*paired.declared);
    const int pairs = paired.timed ? std::max(traced, kScreeningPairs) : traced;
    plan.rounds.push_back({paired.declared->name, 0, 0, pairs});
  }
  plan.attempts = InTurns(cases, plan.rounds, seed);
  return plan;
}

PlannedRound PlanConfirmation(std::span<const PairedCase> cases,
                              const std::vector<PairRound>& before, const Unsettled& unsettled,
                              uint64_t seed) {
  PlannedRound plan;
  for (const std::string& name : unsettled.cases) {
    PairRound next{name, 0, 0, unsettled.pairs};
    for (const PairRound& round : before) {
      if (round.case_name != name) continue;
      next.round = std::max(next.round, round.round + 1);
      next.first_pair = std::max(next.first_pair, round.first_pair + round.pairs);
    }
    plan.rounds.push_back(std::move(next));
  }
  // Another order than in the rounds before.
  plan.attempts = InTurns(cases, plan.rounds, seed + before.size());
  return plan;
}

PlannedRound PlanSecondSession(std::span<const PairedCase> cases, const Unsettled& unsettled,
                               uint64_t seed) {
  PlannedRound plan;
  for (const std::string& name : unsettled.cases) {
    const int processes = ProcessesOf(*Find(cases, name).declared);
    plan.rounds.push_back({name, 1, processes, processes});
  }
  plan.attempts = InTurns(cases, plan.rounds, seed, false);
  for (Attempt& attempt : plan.attempts) attempt.pair = 0;  // of none
  return plan;
}

int PairsThatFit(int64_t left_ns, int64_t pair_ns, int wanted) {
  const int64_t fit = std::clamp<int64_t>(left_ns / std::max<int64_t>(pair_ns, 1), 0, wanted);
  return fit < kFewestPairs ? 0 : static_cast<int>(fit);
}

}  // namespace perfgate
