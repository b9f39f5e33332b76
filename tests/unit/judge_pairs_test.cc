// `regression` rules on pairs of base and head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "judge_cases.h"
#include "stats_noise.h"

namespace perfgate {
namespace {

using testing::HasSubstr;
using enum MetricId;

constexpr double kBaseNs = 100'000;

// A case measured in pairs, round after round: the ratio of head to base of each pair.
CasePair Measured(const std::vector<std::vector<double>>& rounds, const std::string& name = "a") {
  CasePair pair;
  pair.declared.name = name;
  pair.head = SomeEvidence();
  Evidence base = SomeEvidence();
  int number = 0;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const int count = static_cast<int>(rounds[i].size());
    pair.rounds.push_back({name, static_cast<int>(i), number, count});
    for (const double ratio : rounds[i]) {
      base.values.push_back({kLatencyP50, Side::kBase, number, number, {kBaseNs}});
      pair.head.values.push_back({kLatencyP50, Side::kHead, number, number, {kBaseNs * ratio}});
      ++number;
    }
  }
  pair.head.base_side = std::make_shared<const Evidence>(std::move(base));
  return pair;
}

std::vector<double> Around(double ratio, int count, double spread = 0.002) {
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) ratios.push_back(ratio * (1 + spread * (i % 3 - 1)));
  return ratios;
}

Rule P50(double tolerance = 0.02) { return SomeRule(RegressionCheck{tolerance}, {kLatencyP50}); }

TEST(Pairs, ThatShowNothingInAScreeningPassAsScreened) {
  const Finding finding = FindingOf(P50(), Measured({Around(1.002, 5)}));
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_EQ(finding.message,
            "latency.p50 is 0.2 % slower than base; the limit is 2 % (100 us -> 100 us, 5 pairs, "
            "screened, p 0.16)");
  EXPECT_FALSE(finding.times->wants_pairs);
}

TEST(Pairs, ThatLookSlowerInAScreeningAreNotJudgedButWantFreshOnes) {
  const Finding finding = FindingOf(P50(), Measured({Around(1.05, 5)}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_TRUE(finding.times->wants_pairs);
  EXPECT_EQ(finding.times->pairs_wanted, 12);
  EXPECT_THAT(finding.message,
              HasSubstr("a screening of 5 pairs cannot tell it from the limit of 2 %"));
}

TEST(Pairs, ThatPassAloneButNotWithThoseBeforeThemAreSaidToBeSo) {
  const Finding finding =
      FindingOf(P50(0.05), Measured({Around(1.12, 5), Around(1, 12), Around(1, 12)}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_THAT(finding.message,
              HasSubstr("; the last 12 pairs alone would pass, but not with the "
                        "17 before them: measure again (100 us -> 100 us, 29 pairs"));
}

TEST(Pairs, ThatAreTooNoisyForAScreeningDoNotPassByIt) {
  const Finding finding = FindingOf(P50(), Measured({{0.96, 1.05, 0.98, 1.04, 0.95}}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_TRUE(finding.times->wants_pairs);
}

TEST(Pairs, WhoseMediansSayOtherwiseSayThatToo) {
  const Finding finding = FindingOf(P50(), Measured({{0.99, 0.99, 0.99, 1.05, 1.06}}));
  EXPECT_THAT(
      finding.message,
      HasSubstr("latency.p50 is 2.0 % slower than base pair by pair, if not by the medians; "
                "a screening"));
  EXPECT_THAT(finding.message, HasSubstr("(100 us -> 99.0 us, 5 pairs"));
}

TEST(Pairs, ThatConfirmASlowdownFailWithWordsFirstAndNumbersBehind) {
  const Finding finding = FindingOf(P50(), Measured({Around(1.05, 5), Around(1.032, 12)}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message,
            "latency.p50 is 3.2 % slower than base, between 3.0 and 3.3 %; the limit is 2 % "
            "(100 us -> 103 us, 12 pairs, p 0.00024)");
  EXPECT_EQ(finding.limit, "at most +2%");
  EXPECT_EQ(finding.next, "set a 'waive' with its reason, if it is meant, in rules/mine.yaml:7:5");
  EXPECT_FALSE(finding.times->wants_pairs);
}

TEST(Pairs, OfTheScreeningCountForAPass) {
  const Finding finding = FindingOf(P50(), Measured({Around(1.02, 5), Around(1.0, 12)}));
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_THAT(finding.message, HasSubstr("; the limit is 2 % (100 us -> 100 us, 17 pairs, p "));

  const Finding against = FindingOf(P50(), Measured({Around(1.1, 5), Around(1.0, 12)}));
  EXPECT_EQ(against.status, Status::kInconclusive);
  EXPECT_THAT(against.message, HasSubstr("the last 12 pairs alone would pass, but not with the 5"));
}

TEST(Pairs, OfTheScreeningNeverCountForAFail) {
  std::vector<double> unproven;
  for (int i = 0; i < 12; ++i) unproven.push_back(0.98 + 0.01 * i);
  const Finding finding = FindingOf(P50(), Measured({Around(1.1, 5), unproven}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_EQ(finding.times->comparison.pairs, 12);
}

TEST(Pairs, ThatAreTooNoisyAreInconclusiveWithTheNumberThatWouldDecide) {
  std::vector<double> wide;
  for (int i = 0; i < 12; ++i) wide.push_back(0.96 + 0.01 * i);
  const CasePair once = Measured({Around(1.05, 5), wide});
  const Finding first = FindingOf(P50(), once);
  EXPECT_EQ(first.status, Status::kInconclusive);
  EXPECT_TRUE(first.times->wants_pairs);
  EXPECT_THAT(first.message, HasSubstr("12 pairs of this machine cannot tell it from the limit of "
                                       "2 %; about "));
  const Finding second = FindingOf(P50(), Measured({Around(1.05, 5), wide, wide}));
  EXPECT_EQ(second.status, Status::kInconclusive);
  EXPECT_FALSE(second.times->wants_pairs);
  EXPECT_EQ(second.times->round, 2);
}

TEST(Pairs, OfASecondConfirmationDecideWhatTheFirstCouldNot) {
  std::vector<double> wide;
  for (int i = 0; i < 12; ++i) wide.push_back(0.96 + 0.01 * i);
  const Finding slower = FindingOf(P50(), Measured({Around(1.05, 5), wide, Around(1.04, 12)}));
  EXPECT_EQ(slower.status, Status::kFail);
  const Finding same = FindingOf(P50(), Measured({Around(1.015, 5), wide, Around(1.0, 12)}));
  EXPECT_EQ(same.status, Status::kPass);
}

TEST(Pairs, ThatAreFasterByMoreThanTheLimitAreAnImprovement) {
  const Finding finding = FindingOf(P50(), Measured({Around(0.9, 5, 0.05), Around(0.9, 12)}));
  EXPECT_EQ(finding.status, Status::kImproved);
  EXPECT_THAT(finding.message, HasSubstr("10.0 % faster than base"));
}

TEST(Pairs, ThatFallIntoTwoGroupsDecideNothingAndWantNoMore) {
  std::vector<double> modes;
  for (int i = 0; i < 12; ++i) modes.push_back(i % 2 == 0 ? 1.0 + 0.001 * i : 1.5 + 0.001 * i);
  const Finding finding = FindingOf(P50(), Measured({Around(1.05, 5), modes}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_FALSE(finding.times->wants_pairs);
  EXPECT_THAT(finding.message, HasSubstr("two groups"));
}

TEST(Pairs, ThatTheBudgetCutSayWhatItCost) {
  CasePair pair = Measured({Around(1.05, 5), Around(1.05, 9)});
  pair.budget_ns = 60'000'000'000;
  const Finding finding = FindingOf(P50(), pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_THAT(finding.message,
              HasSubstr("; the budget of 1 min ended it after 9 of 12 pairs, which show a change "
                        "from "));
}

TEST(Pairs, ThatTheBudgetCutSayWhatItCostWhereAllPass) {
  CasePair pair = Measured({Around(1.015, 5), Around(1.0, 9)});
  pair.budget_ns = 60'000'000'000;
  const Finding finding = FindingOf(P50(), pair);
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_THAT(finding.message, HasSubstr("14 pairs, p "));
  EXPECT_THAT(finding.message, HasSubstr("ended it after 9 of 12 pairs"));
}

TEST(Pairs, ThatTheBudgetLeftOutAreSaid) {
  CasePair pair = Measured({Around(1.05, 5)});
  pair.budget_ns = 60'000'000'000;
  EXPECT_THAT(
      FindingOf(P50(), pair).message,
      HasSubstr("the confirmation by 12 fresh pairs was not run: the budget of 1 min has no "
                "time for it"));
}

TEST(Pairs, TooFewForAScreeningNeverPass) {
  const Finding finding = FindingOf(P50(), Measured({Around(1.0, 4)}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_FALSE(finding.times->wants_pairs);
  EXPECT_THAT(finding.message, HasSubstr("4 pairs are too few"));
}

TEST(Pairs, OfManyComparisonsMustBeSurerAndAreMore) {
  // 12 pairs have a p of 0.00024 at least: enough for one of 100 comparisons, not for one of 200.
  std::vector<CasePair> cases = {Measured({Around(1.05, 5), Around(1.05, 12)}, "slow")};
  for (int i = 0; i < 199; ++i) cases.push_back(Measured({Around(1.0, 5)}, std::to_string(i)));
  const Rule rule = P50();
  const auto first = [&](size_t count) {
    return Judge({&rule, 1}, {cases.data(), count}, {.today = "2027-01-15"})
        .cases.at(0)
        .findings.at(0);
  };
  EXPECT_EQ(first(100).status, Status::kFail);
  const Finding many = first(200);
  EXPECT_EQ(many.status, Status::kInconclusive);
  EXPECT_EQ(many.times->pairs_wanted, 14);
  EXPECT_TRUE(many.times->wants_pairs);
  EXPECT_THAT(many.message, HasSubstr("among all comparisons of this run chance alone"));
}

TEST(Pairs, OfARuleThatOnlyWarnsWarn) {
  Rule rule = P50();
  rule.severity = Severity::kWarn;
  EXPECT_EQ(FindingOf(rule, Measured({Around(1.05, 5), Around(1.05, 12)})).status, Status::kWarn);
}

TEST(Pairs, WhoseBaseCannotRunAreMissingAndWhoseBaseFailsOnceAreAnError) {
  const auto with_faults = [](const std::string& first, const std::string& second) {
    CasePair pair = Measured({Around(1.0, 5)});
    Evidence base = *pair.head.base_side;
    base.attempts.resize(2);
    base.attempts[0].result.fault = first;
    base.attempts[1].result.fault = second;
    base.incomplete_because = {"process 0: exit code 2"};
    pair.head.base_side = std::make_shared<const Evidence>(base);
    return FindingOf(P50(), pair);
  };
  const Finding never = with_faults("exit code 2", "exit code 2");
  EXPECT_EQ(never.status, Status::kMissing);
  EXPECT_EQ(never.lacks, Lack::kPairs);
  EXPECT_EQ(never.message, "the base cannot run this case: process 0: exit code 2");
  EXPECT_EQ(with_faults("exit code 2", "").status, Status::kError);
}

TEST(Pairs, OfProcessesThatNeverGotSteadyProveNothing) {
  CasePair pair = Measured({Around(1.0, 5)});
  pair.head.not_steady = "the warm-up did not reach a steady state, which was asked for";
  EXPECT_EQ(FindingOf(P50(), pair).status, Status::kInconclusive);
}

TEST(Pairs, OfOtherInputShapesAreNotCompared) {
  CasePair pair = Measured({Around(1.0, 5)});
  pair.different_work = "aten::addmm: 64 / 128";
  const Finding finding = FindingOf(P50(), pair);
  EXPECT_EQ(finding.status, Status::kNotComparable);
  EXPECT_EQ(finding.lacks, Lack::kSameWork);
}

// The whole schedule as a run goes through it: a screening, then fresh pairs while the verdict
// wants some.
Status RunSchedule(Noise& noise, const Machine& machine, double change, const Rule& rule) {
  std::vector<std::vector<double>> rounds;
  const auto measure = [&](int count) {
    const Pairs pairs = MeasurePairs(noise, machine, count, change);
    std::vector<double> ratios;
    for (size_t i = 0; i < pairs.base.size(); ++i) ratios.push_back(pairs.head[i] / pairs.base[i]);
    rounds.push_back(std::move(ratios));
  };
  measure(kScreeningPairs);
  Finding finding = FindingOf(rule, Measured(rounds));
  while (finding.times->wants_pairs) {
    measure(finding.times->pairs_wanted);
    finding = FindingOf(rule, Measured(rounds));
  }
  EXPECT_LE(rounds.size(), 1u + kMostComparisons);
  return finding.status;
}

int CountOfSchedules(const Machine& machine, double change, double tolerance, Status status,
                     int trials) {
  Noise noise(11);
  const Rule rule = P50(tolerance);
  int count = 0;
  for (int i = 0; i < trials; ++i) count += RunSchedule(noise, machine, change, rule) == status;
  return count;
}

TEST(Schedules, OfUnchangedCodeFailInAtMostOneOfAHundredOnEveryMachine) {
  for (const Machine& machine : Machines()) {
    EXPECT_LE(CountOfSchedules(machine, 0, 0.03, Status::kFail, 300), 3) << machine.name;
  }
}

TEST(Schedules, OfSlowerCodeFailAndHardlyEverPass) {
  const std::vector<Machine> machines = Machines();
  EXPECT_EQ(CountOfSchedules(machines[0], 0.05, 0.03, Status::kFail, 100), 100);
  EXPECT_GE(CountOfSchedules(machines[1], 0.05, 0.03, Status::kFail, 100), 95);
  for (const Machine& machine : machines) {
    EXPECT_LE(CountOfSchedules(machine, 0.05, 0.03, Status::kPass, 100), 8) << machine.name;
  }
}

}  // namespace
}  // namespace perfgate
