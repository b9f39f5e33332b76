// What may change from base to head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "judge_cases.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

using enum MetricId;

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
