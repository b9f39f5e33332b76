// Limits, and metrics that vary or are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "judge_cases.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

using enum MetricId;

TEST(JudgeLimit, HoldsAtItsBoundAndFailsBeyondIt) {
  const Rule rule = LimitRule(kFallbacks, 1);
  EXPECT_EQ(FindingOf(rule, PairOf(kFallbacks, {}, {1})).status, Status::kPass);
  const Finding finding = FindingOf(rule, PairOf(kFallbacks, {}, {2}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message, "fallbacks is 2 (at most 1)");
  EXPECT_EQ(finding.next, "set another bound or a waiver in rules/mine.yaml:7:5");
  const Rule least = SomeRule(LimitCheck{std::nullopt, 2.0, "at least 2"}, {kStreams});
  EXPECT_EQ(FindingOf(least, PairOf(kStreams, {}, {2})).status, Status::kPass);
  EXPECT_EQ(FindingOf(least, PairOf(kStreams, {}, {1})).status, Status::kFail);
}

TEST(JudgeLimit, NaNIsAnErrorAndNeverAPass) {
  const Finding finding =
      FindingOf(LimitRule(kPeakBytes, 64), PairOf(kPeakBytes, {}, {std::nan("")}));
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_THAT(finding.message, HasSubstr("peak_bytes"));
}

TEST(JudgeLimit, NeedsNoBaseline) {
  CasePair pair = PairOf(kKernels, {}, {3});
  pair.base.reset();
  pair.diff.reset();
  EXPECT_EQ(FindingOf(LimitRule(kKernels, 3), pair).status, Status::kPass);
}

TEST(JudgeLimit, OnKernelsDrawsANote) {
  const Verdict verdict = JudgeOne(LimitRule(kKernels, 3), PairOf(kKernels, {}, {3}));
  ASSERT_EQ(verdict.cases[0].notes.size(), 1u);
  EXPECT_THAT(verdict.cases[0].notes[0],
              HasSubstr("counts differ between GPUs of other SM counts"));
  EXPECT_TRUE(
      JudgeOne(ChangeRule(kKernels, {"+0"}), PairOf(kKernels, {3}, {3})).cases[0].notes.empty());
}

TEST(JudgeLimit, OfAPackSaysHowToOverrideIt) {
  Rule rule = LimitRule(kNanCount, 0);
  rule.from_pack = true;
  rule.full_id = "perfgate:numerics/no-nan";
  rule.where = {"perfgate:numerics", 4, 5};
  EXPECT_EQ(
      FindingOf(rule, PairOf(kNanCount, {}, {1})).next,
      "set another bound or a waiver with 'override: perfgate:numerics/no-nan' in a rule file of "
      "your own");
}

TEST(JudgeStability, AnUnstableValueIsAnErrorUnlessTheLargestIsJudged) {
  const CasePair pair = PairOf(kKernels, {4, 4}, {4, 5});
  Rule rule = ChangeRule(kKernels, {"+0"});
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message,
            "kernels of this run is unstable: it differs from step to step (4 to 5)");
  EXPECT_THAT(finding.next, HasSubstr("aggregate: max"));
  rule.aggregate_max = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kFail);
  EXPECT_EQ(FindingOf(rule, PairOf(kKernels, {4, 5}, {4, 5})).status, Status::kPass);
}

TEST(JudgeStability, WhatDiffersIsSaidInItsUnit) {
  EXPECT_THAT(FindingOf(ChangeRule(MetricId::kPeakBytes, {"+0"}),
                        PairOf(MetricId::kPeakBytes, {8933380, 8933380}, {8933380, 9000000}))
                  .message,
              HasSubstr("it differs from step to step (8.52 MiB to 8.58 MiB)"));
}

TEST(JudgeStability, AnUnstableBaseIsAnErrorToo) {
  const Finding finding = FindingOf(ChangeRule(kKernels, {"+0"}), PairOf(kKernels, {4, 5}, {4, 4}));
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_THAT(finding.message, HasSubstr("kernels of the base is unstable"));
}

TEST(JudgeStability, TimesThatVaryAreNotUnstable) {
  EXPECT_EQ(
      FindingOf(ChangeRule(kGpuTime, {"+3%"}), PairOf(kGpuTime, {1000, 1010}, {1005, 1015})).status,
      Status::kPass);
}

TEST(JudgeAvailability, AnUnavailableMetricIsAnErrorUnlessOptional) {
  CasePair pair = SomePair();
  pair.head.unavailable[kAllocations] = "the trace has no memory events";
  Rule rule = ChangeRule(kAllocations, {"+0"});
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_EQ(finding.message, "allocations is unavailable: the trace has no memory events");
  EXPECT_THAT(finding.next, HasSubstr("measure with a trace taken with profile_memory"));
  rule.optional = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kSkipped);
}

TEST(JudgeAvailability, ABareDiffSkipsWhatTracesLack) {
  CasePair pair = SomePair();
  pair.head.unavailable[kAllocations] = "the trace has no memory events";
  Rule other = LimitRule(kKernels, 1);
  Set(pair.head, kKernels, {1});
  const std::vector<Rule> rules = {ChangeRule(kAllocations, {"+0"}), other};
  const Verdict verdict = Judge(rules, {&pair, 1}, {.today = "2027-01-15", .bare_diff = true});
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kSkipped);
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(JudgeAvailability, AMetricThatTheBaseLacksIsAnError) {
  CasePair pair = PairOf(kKernels, {}, {3});
  pair.base->values.clear();
  const Finding finding = FindingOf(ChangeRule(kKernels, {"+0"}), pair);
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_THAT(finding.message, HasSubstr("(in the base)"));
}

TEST(JudgeAvailability, OfSeveralMetricsEachIsJudgedWhereItIs) {
  CasePair pair = PairOf(kKernels, {3}, {4});
  Rule rule = ChangeRule(kKernels, {"+0"});
  rule.metrics = {kKernels, kCpuKernels};
  const Verdict verdict = JudgeOne(rule, pair);
  ASSERT_EQ(verdict.cases[0].findings.size(), 2u);
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kFail);
  EXPECT_EQ(verdict.cases[0].findings[1].status, Status::kSkipped);
  EXPECT_EQ(verdict.cases[0].findings[1].message, "cpu_kernels is not for a case on cuda");
}

TEST(JudgeAvailability, OfSeveralMetricsOneThatGotLostIsAnError) {
  CasePair pair = PairOf(kAllocations, {3}, {});
  pair.head.values.clear();
  Set(pair.head, kHostOps, {1});
  Set(*pair.base, kHostOps, {1});
  Rule rule = ChangeRule(kAllocations, {"+0"});
  rule.metrics = {kAllocations, kHostOps};
  const Verdict verdict = JudgeOne(rule, pair);
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kError);
  EXPECT_EQ(verdict.cases[0].findings[1].status, Status::kPass);
}

TEST(JudgeAvailability, OfSeveralMetricsNoneThereIsAnError) {
  Rule rule = ChangeRule(kKernels, {"+0"});
  rule.metrics = {kKernels, kGpuTime};
  const Verdict verdict = JudgeOne(rule, SomePair("cpu"));
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kError);
  EXPECT_EQ(verdict.cases[0].findings[1].status, Status::kError);
  EXPECT_EQ(verdict.exit_code, 3);
}

TEST(JudgeRegression, IsSkippedWithoutPairsAndNotComparableIfTheyAreRequired) {
  Rule rule = SomeRule(RegressionCheck{0.05}, {kLatencyP50});
  const CasePair pair = PairOf(kLatencyP50, {1000}, {9000});
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kSkipped);
  EXPECT_THAT(finding.message, HasSubstr("in interleaved pairs of base and head only"));
  EXPECT_EQ(finding.limit, "at most +5%");
  rule.require_paired = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kNotComparable);
  EXPECT_THAT(FindingOf(rule, pair).next, HasSubstr("'require_paired: false'"));
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 4);
}

TEST(JudgeLimit, OfALatencyThatIsNotSteadyIsInconclusive) {
  CasePair pair = PairOf(kLatencyP50, {100}, {100});
  EXPECT_EQ(FindingOf(LimitRule(kLatencyP50, 200), pair).status, Status::kPass);
  pair.head.not_steady = "the warm-up did not reach a steady state";
  const Finding finding = FindingOf(LimitRule(kLatencyP50, 200), pair);
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_THAT(finding.message, HasSubstr("did not reach a steady state"));
  EXPECT_EQ(JudgeOne(LimitRule(kLatencyP50, 200), pair).exit_code, 4);
}

TEST(JudgeLimit, OfALatencyOfZeroIsInconclusive) {
  const Finding finding = FindingOf(LimitRule(kLatencyP50, 200), PairOf(kLatencyP50, {100}, {0}));
  EXPECT_EQ(finding.status, Status::kInconclusive);
  EXPECT_THAT(finding.message, HasSubstr("no step takes no time"));
}

}  // namespace
}  // namespace perfgate
