#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "judge_cases.h"

namespace perfgate {
namespace {

using enum MetricId;
using testing::HasSubstr;

struct ChangeRow {
  const char* name;
  MetricId metric;
  std::vector<std::string> at_most;
  double base, head;
  Status status;
  const char* message;
};

class ChangeTable : public testing::TestWithParam<ChangeRow> {};

TEST_P(ChangeTable, HasThisStatusAndMessage) {
  const ChangeRow& row = GetParam();
  const Finding finding =
      FindingOf(ChangeRule(row.metric, row.at_most), PairOf(row.metric, {row.base}, {row.head}));
  EXPECT_EQ(ToString(finding.status), ToString(row.status)) << finding.message;
  EXPECT_EQ(finding.message, row.message);
  EXPECT_EQ(finding.base, row.base);
  EXPECT_EQ(finding.head, row.head);
  EXPECT_EQ(finding.delta, row.head - row.base);
}

INSTANTIATE_TEST_SUITE_P(
    All, ChangeTable,
    testing::Values(ChangeRow{"the_same_passes",
                              kKernels,
                              {"+0"},
                              5,
                              5,
                              Status::kPass,
                              "kernels is 5 a step as before (at most +0)"},
                    ChangeRow{"one_more_fails",
                              kKernels,
                              {"+0"},
                              4,
                              5,
                              Status::kFail,
                              "kernels 4 -> 5 a step (at most +0)"},
                    ChangeRow{"one_less_is_improved",
                              kKernels,
                              {"+0"},
                              5,
                              4,
                              Status::kImproved,
                              "kernels 5 -> 4 a step (at most +0)"},
                    ChangeRow{"at_the_bound_passes",
                              kKernels,
                              {"+2"},
                              5,
                              7,
                              Status::kPass,
                              "kernels 5 -> 7 a step (at most +2)"},
                    ChangeRow{"above_the_bound_fails",
                              kKernels,
                              {"+2"},
                              5,
                              8,
                              Status::kFail,
                              "kernels 5 -> 8 a step (at most +2)"},
                    ChangeRow{"a_percentage_at_its_bound_passes",
                              kHostOps,
                              {"+0.7%"},
                              1000,
                              1007,
                              Status::kPass,
                              "host_ops 1000 -> 1007 a step (at most +0.7%)"},
                    ChangeRow{"a_percentage_above_its_bound_fails",
                              kHostOps,
                              {"+0.7%"},
                              1000,
                              1008,
                              Status::kFail,
                              "host_ops 1000 -> 1008 a step (at most +0.7%)"},
                    ChangeRow{"zero_to_zero_passes",
                              kSyncs,
                              {"+5%"},
                              0,
                              0,
                              Status::kPass,
                              "syncs is 0 a step as before (at most +5%)"},
                    ChangeRow{"any_rise_from_zero_fails_a_percentage",
                              kSyncs,
                              {"+500%"},
                              0,
                              1,
                              Status::kFail,
                              "syncs 0 -> 1 a step (at most +500%)"},
                    ChangeRow{"of_a_list_one_allowance_is_enough",
                              kGpuTime,
                              {"+3%", "+2us"},
                              10000,
                              11900,
                              Status::kPass,
                              "gpu_time 10.0 us -> 11.9 us a step, +19.0 % (at most +3% or +2us)"},
                    ChangeRow{"of_a_list_the_other_is_enough_too",
                              kGpuTime,
                              {"+3%", "+2us"},
                              1e6,
                              1.029e6,
                              Status::kPass,
                              "gpu_time 1.00 ms -> 1.03 ms a step, +2.9 % (at most +3% or +2us)"},
                    ChangeRow{"a_list_fails_if_all_are_exceeded",
                              kGpuTime,
                              {"+3%", "+2us"},
                              10000,
                              12100,
                              Status::kFail,
                              "gpu_time 10.0 us -> 12.1 us a step, +21.0 % (at most +3% or +2us)"},
                    ChangeRow{"a_base_of_zero_may_use_the_other_allowance",
                              kGpuTime,
                              {"+3%", "+2us"},
                              0,
                              1000,
                              Status::kPass,
                              "gpu_time 0 ns -> 1.00 us a step (at most +3% or +2us)"},
                    ChangeRow{"a_gain_within_the_tolerance_is_no_improvement",
                              kGpuTime,
                              {"+3%"},
                              10000,
                              9900,
                              Status::kPass,
                              "gpu_time 10.0 us -> 9.90 us a step, -1.0 % (at most +3%)"},
                    ChangeRow{"a_gain_beyond_it_is",
                              kGpuTime,
                              {"+3%"},
                              10000,
                              9000,
                              Status::kImproved,
                              "gpu_time 10.0 us -> 9.00 us a step, -10.0 % (at most +3%)"},
                    ChangeRow{"what_is_neither_better_nor_worse_is_never_improved",
                              kStreams,
                              {"+0"},
                              2,
                              1,
                              Status::kPass,
                              "streams 2 -> 1 a step (at most +0)"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(JudgeChange, AtLeastBoundsAFall) {
  ChangeCheck check;
  check.at_least = {{-0.05, true, "-5%"}};
  const Rule rule = SomeRule(check, {kStreams});
  EXPECT_EQ(FindingOf(rule, PairOf(kStreams, {100}, {95})).status, Status::kPass);
  const Finding finding = FindingOf(rule, PairOf(kStreams, {100}, {94}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message, "streams 100 -> 94 a step (at least -5%)");
  check.at_least = {{0, false, "0"}};
  EXPECT_EQ(FindingOf(SomeRule(check, {kStreams}), PairOf(kStreams, {2}, {1})).status,
            Status::kFail);
}

TEST(JudgeChange, AFailureNamesTheOperatorTheChangeAndTheNextCommand) {
  CasePair pair = PairOf(kKernels, {1}, {2});
  Change split;
  split.kind = ChangeKind::kFusionSplit;
  split.operators = {"aten::gelu"};
  split.count = 1;
  Change gained = split;
  gained.count = -1;
  gained.operators = {"aten::add"};
  pair.diff->changes = {gained, split};
  const Finding finding = FindingOf(ChangeRule(kKernels, {"+0"}), pair);
  EXPECT_THAT(finding.changes, testing::ElementsAre(1));
  EXPECT_THAT(finding.operators, testing::ElementsAre("aten::gelu"));
  EXPECT_EQ(finding.next,
            "perfgate baseline accept --case 'geglu[mode=aoti]' --rule 'rules/mine.yaml/r' "
            "--reason '…'");
  EXPECT_EQ(finding.why, "because");
  EXPECT_EQ(finding.limit, "at most +0");
}

TEST(JudgeChange, ACaseNameIsQuotedForTheShell) {
  CasePair pair = PairOf(kKernels, {1}, {2});
  pair.declared.name = "it's $(x)";
  EXPECT_THAT(FindingOf(ChangeRule(kKernels, {"+0"}), pair).next,
              HasSubstr("--case 'it'\\''s $(x)' "));
}

TEST(JudgeChange, NaNIsAnErrorOnBothSides) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [base, head] : {std::pair{nan, 1.0}, {1.0, nan}, {nan, nan}}) {
    const Finding finding =
        FindingOf(ChangeRule(kGpuTime, {"+3%"}), PairOf(kGpuTime, {base}, {head}));
    EXPECT_EQ(finding.status, Status::kError);
    EXPECT_THAT(finding.message, HasSubstr("no numbers to compare"));
  }
}

TEST(JudgeChange, InfinityIsAnError) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FindingOf(ChangeRule(kGpuTime, {"+3%"}), PairOf(kGpuTime, {1}, {infinity})).status,
            Status::kError);
}

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

TEST(JudgeChange, OfTimeNamesTheKernelsThatBecameSlower) {
  CasePair pair = PairOf(kGpuTime, {10000, 10000}, {16500, 16500});
  Drift drift;
  drift.base.op_path = drift.head.op_path = "aten::linear > aten::gelu";
  drift.base.device = drift.head.device = "cuda:0";
  drift.base.time_ns = 3200;
  drift.head.time_ns = 9700;
  pair.diff->slower = {drift};
  const Finding finding = FindingOf(ChangeRule(kGpuTime, {"+3%"}), pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.slower, std::vector<int>{0});
  EXPECT_EQ(finding.operators, std::vector<std::string>{"aten::gelu"});
}

TEST(JudgeChanges, CountAChangeForTheKindsThatAreTrueOfItToo) {
  CasePair pair = SomePair();
  Change change;
  change.kind = ChangeKind::kTensorCoreLost;
  change.also = {ChangeKind::kDtypeChanged};
  change.text = "no tensor cores any more";
  pair.diff->changes = {change};
  const Finding finding =
      FindingOf(SomeRule(ChangesCheck{{ChangeKind::kDtypeChanged}, {0, 0}}), pair);
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_THAT(finding.message, HasSubstr("no tensor cores any more"));
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

TEST(JudgeChange, OfTimeOnAnotherGpuOfTheModelOnlyWarns) {
  const Rule rule = ChangeRule(kGpuTime, {"+3%"});
  CasePair pair = PairOf(kGpuTime, {1000, 1000}, {1100, 1100});
  pair.base->key.recorded["gpu_uuid"] = "GPU-1";
  pair.head.key.recorded["gpu_uuid"] = "GPU-1";
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kFail);
  pair.head.key.recorded["gpu_uuid"] = "GPU-2";
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kWarn);
  EXPECT_THAT(finding.message, HasSubstr("the baseline is of another GPU of this model"));
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 0);
}

TEST(JudgeChange, OfACountFailsOnAnotherGpuOfTheModelToo) {
  CasePair pair = PairOf(kKernels, {3, 3}, {4, 4});
  pair.base->key.recorded["gpu_uuid"] = "GPU-1";
  pair.head.key.recorded["gpu_uuid"] = "GPU-2";
  EXPECT_EQ(FindingOf(ChangeRule(kKernels, {"+0"}), pair).status, Status::kFail);
}

}  // namespace
}  // namespace perfgate
