// The schedule of pairs: what runs next, given what came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "run/pairs.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Case SomeCase(const std::string& name) {
  Case declared;
  declared.name = name;
  declared.argv = {"bench"};
  return declared;
}

Rule RegressionOf(MetricId metric, const std::string& cases = "*") {
  Rule rule;
  rule.cases = cases;
  rule.metrics = {metric};
  rule.check = RegressionCheck{0.05};
  return rule;
}

// "a0h" is the process of head in pair 0 of case a.
std::vector<std::string> Order(const std::vector<Attempt>& attempts) {
  std::vector<std::string> order;
  for (const Attempt& attempt : attempts) {
    order.push_back(attempt.case_name + std::to_string(attempt.pair) +
                    (attempt.side == Side::kHead ? "h" : "b"));
  }
  return order;
}

TEST(Screening, OfTimesTakesFivePairsOfWhichTheFirstAreTraced) {
  const std::vector<Case> cases = {SomeCase("a")};
  const auto paired = PairedCases({RegressionOf(MetricId::kLatencyP50)}, cases);
  const PlannedRound plan = PlanScreening(paired, 1);
  ASSERT_EQ(plan.attempts.size(), 2u * kScreeningPairs);
  for (const Attempt& attempt : plan.attempts) {
    EXPECT_EQ(attempt.phase, attempt.pair < 2 ? Phase::kTraced : Phase::kTimed) << attempt.pair;
  }
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0].pairs, kScreeningPairs);
}

TEST(Screening, OfACaseWithoutARuleOnTimesPairsItsTracedProcessesAlone) {
  const std::vector<Case> cases = {SomeCase("a"), SomeCase("b")};
  const auto paired = PairedCases({RegressionOf(MetricId::kLatencyP50, "b")}, cases);
  EXPECT_FALSE(paired[0].timed);
  EXPECT_TRUE(paired[1].timed);
  EXPECT_EQ(PlanScreening(paired, 1).rounds[0].pairs, 2);
}

TEST(Screening, OfATimeOfTheTraceTracesEveryProcess) {
  const std::vector<Case> cases = {SomeCase("a")};
  const auto paired = PairedCases({RegressionOf(MetricId::kGpuIdle)}, cases);
  for (const Attempt& attempt : PlanScreening(paired, 1).attempts) {
    EXPECT_EQ(attempt.phase, Phase::kTraced);
  }
}

TEST(Screening, ARuleThatIsOffOrACaseThatIsATraceHasNoTimesToCompare) {
  Rule off = RegressionOf(MetricId::kLatencyP50);
  off.severity = Severity::kOff;
  EXPECT_FALSE(PairedCases({off}, {SomeCase("a")})[0].timed);
  Case trace = SomeCase("t");
  trace.trace = "trace.json";
  EXPECT_FALSE(PairedCases({RegressionOf(MetricId::kLatencyP50)}, {trace})[0].timed);
}

TEST(Screening, MeasuresAReferenceOnTheSideOfHeadAlone) {
  Case reference = SomeCase("r");
  reference.reference_only = true;
  const std::vector<Case> cases = {reference};
  EXPECT_THAT(Order(PlanScreening(PairedCases({}, cases), 1).attempts), ElementsAre("r0h", "r1h"));
}

TEST(Rounds, KeepThePairsOfACaseTogetherAndTheCasesInTurns) {
  const std::vector<Case> cases = {SomeCase("a"), SomeCase("b")};
  const auto paired = PairedCases({RegressionOf(MetricId::kLatencyP50)}, cases);
  const std::vector<Attempt> attempts = PlanScreening(paired, 3).attempts;
  ASSERT_EQ(attempts.size(), 20u);
  for (size_t i = 0; i < attempts.size(); i += 2) {
    EXPECT_EQ(attempts[i].pair, static_cast<int>(i / 4));
    EXPECT_EQ(attempts[i].pair, attempts[i + 1].pair);
    EXPECT_EQ(attempts[i].case_name, i % 4 == 0 ? "a" : "b");
    EXPECT_NE(attempts[i].side, attempts[i + 1].side);
  }
}

TEST(Rounds, OrderHeadAndBaseByChanceAndTheSeedRepeatsIt) {
  const std::vector<Case> cases = {SomeCase("a")};
  const auto paired = PairedCases({RegressionOf(MetricId::kLatencyP50)}, cases);
  const Unsettled unsettled{{"a"}, 200};
  const auto order = [&](uint64_t seed) {
    return Order(PlanConfirmation(paired, {{"a", 0, 0, 5}}, unsettled, seed).attempts);
  };
  int head_first = 0;
  const std::vector<std::string> first = order(7);
  for (size_t i = 0; i < first.size(); i += 2) head_first += first[i].back() == 'h';
  EXPECT_GT(head_first, 70);
  EXPECT_LT(head_first, 130);
  EXPECT_EQ(first, order(7));
  EXPECT_NE(first, order(8));
}

TEST(Confirmation, TakesFreshPairsOfTheUnsettledCasesOnly) {
  const std::vector<Case> cases = {SomeCase("a"), SomeCase("b")};
  const auto paired = PairedCases({RegressionOf(MetricId::kLatencyP50)}, cases);
  std::vector<PairRound> rounds = PlanScreening(paired, 1).rounds;
  const PlannedRound first = PlanConfirmation(paired, rounds, {{"b"}, 12}, 1);
  ASSERT_EQ(first.rounds.size(), 1u);
  EXPECT_EQ(first.rounds[0].round, 1);
  EXPECT_EQ(first.rounds[0].first_pair, 5);
  EXPECT_EQ(first.attempts.size(), 24u);
  rounds.push_back(first.rounds[0]);
  const PlannedRound second = PlanConfirmation(paired, rounds, {{"b"}, 12}, 1);
  EXPECT_EQ(second.rounds[0].round, 2);
  EXPECT_EQ(second.rounds[0].first_pair, 17);
  std::set<std::string> folders;
  for (const auto* plan : {&first, &second}) {
    for (const Attempt& attempt : plan->attempts) folders.insert(attempt.dir.string());
  }
  EXPECT_EQ(folders.size(), 48u);
}

TEST(SecondSession, TakesAsManyFreshProcessesOfHeadAlone) {
  const std::vector<Case> cases = {SomeCase("a"), SomeCase("b")};
  const PlannedRound plan = PlanSecondSession(PairedCases({}, cases), {{"b"}, 8}, 1);
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0].case_name, "b");
  EXPECT_EQ(plan.rounds[0].round, 1);
  EXPECT_EQ(plan.rounds[0].first_pair, 2);
  EXPECT_EQ(plan.rounds[0].pairs, 2);
  EXPECT_THAT(Order(plan.attempts), ElementsAre("b0h", "b0h"));
  EXPECT_EQ(plan.attempts[0].process, 2);
  EXPECT_EQ(plan.attempts[1].process, 3);
  for (const Attempt& attempt : plan.attempts) {
    EXPECT_EQ(attempt.phase, Phase::kTimed);
    EXPECT_EQ(attempt.pair, 0);
  }
}

TEST(SecondSession, OfATimeOfTheTraceIsTracedToo) {
  Rule rule = RegressionOf(MetricId::kGpuTime);
  rule.check = HistoryCheck{.tolerance = 0.05};
  const std::vector<Case> cases = {SomeCase("a")};
  const auto paired = PairedCases({rule}, cases);
  EXPECT_FALSE(paired[0].timed);
  for (const Attempt& attempt : PlanSecondSession(paired, {{"a"}, 8}, 1).attempts) {
    EXPECT_EQ(attempt.phase, Phase::kTraced);
  }
}

TEST(Budget, AllowsAsManyPairsAsFitAndNoneWhereTheyWouldProveNothing) {
  EXPECT_EQ(PairsThatFit(100, 5, 12), 12);
  EXPECT_EQ(PairsThatFit(50, 5, 12), 10);
  EXPECT_EQ(PairsThatFit(39, 5, 12), 0);
  EXPECT_EQ(PairsThatFit(-1, 5, 12), 0);
  EXPECT_EQ(PairsThatFit(50, 0, 12), 12);
}

TEST(Budget, FewestPairsHaveABoundAtTheirShareOfTheErrors) {
  EXPECT_EQ(MinimumPairs(0.01 / kMostComparisons), kFewestPairs);
}

}  // namespace
}  // namespace perfgate
