// Limits on what the workload computed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "judge_cases.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

OutputRow Compared(const std::string& name, const std::string& dtype, double relative) {
  OutputRow row;
  row.name = name;
  row.dtype = dtype;
  row.shape = {4, 8};
  row.nan_count = row.inf_count = 0;
  OutputError error;
  error.reference_dtype = "fp32";
  error.compared = 32;
  error.relative = relative;
  error.largest = 10 * relative;
  error.index = {3, 7};
  error.value = 1.5;
  error.reference = 1.25;
  row.error = error;
  return row;
}

CasePair PairWith(const std::vector<OutputRow>& rows) {
  CasePair pair = SomePair();
  pair.head.reference = "geglu[dtype=fp32]";
  pair.head.outputs = rows;
  for (const OutputRow& row : rows) {
    pair.head.values.push_back(
        {MetricId::kRelativeError, Side::kHead, 0, row.process, {row.error->relative}});
    pair.head.values.push_back(
        {MetricId::kMaxAbsError, Side::kHead, 0, row.process, {row.error->largest}});
  }
  return pair;
}

Rule ByDtype() {
  LimitCheck check;
  check.by_dtype = {{"fp32", 1e-5}, {"bf16", 0.01}};
  check.text = "at most fp32 1e-5 / bf16 1%";
  return SomeRule(check, {MetricId::kRelativeError});
}

Rule AtMost(MetricId metric, double bound) {
  return SomeRule(LimitCheck{bound, std::nullopt, fmt::format("at most {}", bound)}, {metric});
}

TEST(JudgeOutputs, AFailureNamesTheTensorTheIndexAndBothValues) {
  const Finding finding =
      FindingOf(AtMost(MetricId::kRelativeError, 0.01),
                PairWith({Compared("y", "bf16", 0.001), Compared("logits", "bf16", 0.02)}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message,
            "relative_error of logits (bf16) is 0.02 (at most 0.01): furthest apart at [3, 7] of "
            "[4, 8]: 1.5 where geglu[dtype=fp32] (fp32) has 1.25");
  EXPECT_DOUBLE_EQ(*finding.head, 0.02);
  EXPECT_DOUBLE_EQ(*finding.delta, 0.01);
  ASSERT_TRUE(finding.output);
  EXPECT_EQ(finding.output->name, "logits");
}

TEST(JudgeOutputs, WithinItsBoundItPassesAndTheWorstIsTold) {
  const Finding finding =
      FindingOf(AtMost(MetricId::kMaxAbsError, 0.2),
                PairWith({Compared("y", "bf16", 0.001), Compared("logits", "bf16", 0.02)}));
  EXPECT_EQ(finding.status, Status::kPass);
  EXPECT_EQ(finding.message, "max_abs_error of logits (bf16) is 0.2 (at most 0.2)");
}

TEST(JudgeOutputs, EachOutputIsHeldAgainstTheBoundOfItsType) {
  EXPECT_EQ(FindingOf(ByDtype(), PairWith({Compared("y", "bf16", 0.009)})).status, Status::kPass);
  const Finding finding = FindingOf(
      ByDtype(), PairWith({Compared("y", "bf16", 0.009), Compared("loss", "fp32", 2e-5)}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_THAT(finding.message, HasSubstr("of loss (fp32) is 2e-05 (at most fp32 1e-5 / bf16 1%)"));
}

TEST(JudgeOutputs, ATypeWithoutABoundIsAnErrorUnlessOptional) {
  const CasePair pair = PairWith({Compared("y", "bf16", 0.001), Compared("ids", "int64", 0)});
  Rule rule = ByDtype();
  const Finding error = FindingOf(rule, pair);
  EXPECT_EQ(error.status, Status::kError);
  EXPECT_EQ(error.message,
            "at most fp32 1e-5 / bf16 1% has no bound for int64: ids has that element type");
  EXPECT_EQ(error.next, "set a bound for int64 in rules/mine.yaml:7:5");
  rule.optional = true;
  EXPECT_EQ(FindingOf(rule, pair).status, Status::kPass);
  EXPECT_EQ(FindingOf(rule, PairWith({Compared("ids", "int64", 0)})).status, Status::kSkipped);
}

Rule Optional() {
  Rule rule = ByDtype();
  rule.optional = true;
  return rule;
}

std::vector<std::string> NotesOf(const Rule& rule, const CasePair& pair) {
  return JudgeOne(rule, pair).cases.at(0).notes;
}

TEST(JudgeOutputs, WhatNoBoundIsForIsNoted) {
  const OutputRow held = Compared("y", "bf16", 0.001), loose = Compared("p", "fp8_e4m3", 0.5),
                  other = Compared("q", "fp8_e4m3", 0.5);
  EXPECT_THAT(NotesOf(Optional(), PairWith({held, loose, loose})),
              ElementsAre("no rule has a bound for fp8_e4m3: p was compared with "
                          "geglu[dtype=fp32] and not judged"));
  EXPECT_THAT(NotesOf(Optional(), PairWith({other, loose})),
              ElementsAre("no rule has a bound for fp8_e4m3: p and 1 more were compared with "
                          "geglu[dtype=fp32] and not judged"));
  EXPECT_THAT(NotesOf(Optional(), PairWith({held})), IsEmpty());
  EXPECT_THAT(NotesOf(AtMost(MetricId::kMaxAbsError, 10), PairWith({loose})), IsEmpty());
  Rule off = AtMost(MetricId::kMaxAbsError, 10);
  off.severity = Severity::kOff;
  EXPECT_THAT(NotesOf(off, PairWith({loose})), SizeIs(1));
  EXPECT_THAT(NotesOf(AtMost(MetricId::kNanCount, 0), PairWith({loose})), SizeIs(1));
}

TEST(JudgeOutputs, ANanOnOneSideOnlyFailsWithoutABoundToo) {
  OutputRow row = Compared("p", "fp8_e4m3", kInfinity);
  row.error->unlike = 1;
  const Finding finding = FindingOf(Optional(), PairWith({Compared("y", "bf16", 0.001), row}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_THAT(finding.message, HasSubstr("of p (fp8_e4m3) is infinite"));
}

TEST(JudgeOutputs, TheBoundOfIntegersIsForThoseThatAreNotNamed) {
  LimitCheck check;
  check.by_dtype = {{"integer", 0}, {"int8", 0.1}};
  const Rule rule = SomeRule(check, {MetricId::kRelativeError});
  for (const char* dtype : {"int64", "int32", "uint8", "uint16", "bool"}) {
    EXPECT_EQ(FindingOf(rule, PairWith({Compared("ids", dtype, 0)})).status, Status::kPass);
    EXPECT_EQ(FindingOf(rule, PairWith({Compared("ids", dtype, 1e-6)})).status, Status::kFail);
  }
  EXPECT_EQ(FindingOf(rule, PairWith({Compared("q", "int8", 0.05)})).status, Status::kPass);
  EXPECT_EQ(FindingOf(rule, PairWith({Compared("y", "bf16", 0)})).status, Status::kError);
}

Rule NoWorse(MetricId metric) { return SomeRule(ChangeCheck{{{0.1, true, "+10%"}}, {}}, {metric}); }

TEST(JudgeOutputs, ABaseThatSavedNoneIsMissingAndNoFaultOfHead) {
  CasePair pair = PairWith({Compared("y", "bf16", 0.001)});
  Set(pair.head, MetricId::kNanCount, {0});
  const std::string reason = "not compared with the reference eager: the case saved no outputs";
  pair.base->unavailable[MetricId::kRelativeError] = reason;
  const Finding finding = FindingOf(NoWorse(MetricId::kRelativeError), pair);
  EXPECT_EQ(finding.status, Status::kMissing);
  EXPECT_EQ(finding.message, "relative_error of the base is unavailable: " + reason);
  EXPECT_THAT(finding.next, HasSubstr("perfgate baseline accept"));
  EXPECT_EQ(FindingOf(NoWorse(MetricId::kNanCount), pair).status, Status::kMissing);
  EXPECT_EQ(FindingOf(NoWorse(MetricId::kNanCount), pair, {.today = "", .bare_diff = true}).status,
            Status::kSkipped);
  Rule optional = NoWorse(MetricId::kRelativeError);
  optional.optional = true;
  EXPECT_EQ(FindingOf(optional, pair).status, Status::kSkipped);
}

TEST(JudgeOutputs, ErrorsAgainstAnotherReferenceAreNotComparedWithEachOther) {
  CasePair pair = PairWith({Compared("y", "bf16", 0.001)});
  Set(*pair.base, MetricId::kRelativeError, {0.001});
  pair.base->reference = pair.head.reference;
  EXPECT_EQ(FindingOf(NoWorse(MetricId::kRelativeError), pair).status, Status::kPass);
  pair.base->reference = "eager";
  const Finding finding = FindingOf(NoWorse(MetricId::kRelativeError), pair);
  EXPECT_EQ(finding.status, Status::kMissing);
  EXPECT_EQ(finding.message,
            "relative_error of the base is unavailable: it was compared with the reference eager, "
            "this run with geglu[dtype=fp32]");
}

TEST(JudgeOutputs, ANanOnOneSideOnlyFailsAnyBound) {
  OutputRow row = Compared("y", "bf16", kInfinity);
  row.error->unlike = 2;
  row.error->value = std::numeric_limits<double>::quiet_NaN();
  const Finding finding = FindingOf(AtMost(MetricId::kRelativeError, 1e9), PairWith({row}));
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.message,
            "relative_error of y (bf16) is infinite (at most 1000000000): 2 elements are NaN or "
            "infinite on one side only, the first at [3, 7] of [4, 8]: NaN where "
            "geglu[dtype=fp32] (fp32) has 1.25");
  EXPECT_EQ(FindingOf(ByDtype(), PairWith({row})).status, Status::kFail);
}

TEST(JudgeOutputs, AZeroBoundHoldsEqualOutputsAndNoOthers) {
  const Rule rule = AtMost(MetricId::kRelativeError, 0);
  EXPECT_EQ(FindingOf(rule, PairWith({Compared("y", "int64", 0)})).status, Status::kPass);
  EXPECT_EQ(FindingOf(rule, PairWith({Compared("y", "int64", 1e-9)})).status, Status::kFail);
}

TEST(JudgeOutputs, WhatWasNotComparedIsAnErrorAndNoPass) {
  CasePair pair = SomePair();
  pair.head.unavailable[MetricId::kRelativeError] = "the case declares no reference";
  EXPECT_EQ(FindingOf(ByDtype(), pair).status, Status::kError);
  CasePair without_rows = PairWith({});
  Set(without_rows.head, MetricId::kRelativeError, {0});
  EXPECT_EQ(FindingOf(ByDtype(), without_rows).status, Status::kError);
}

TEST(JudgeOutputs, NanCountsSayWhereTheFirstOneIs) {
  CasePair pair = SomePair();
  Set(pair.head, MetricId::kNanCount, {3});
  OutputRow clean, dirty;
  clean.name = "x";
  clean.nan_count = 0;
  dirty.name = "y";
  dirty.dtype = "fp32";
  dirty.shape = {2, 3};
  dirty.nan_count = 3;
  dirty.first_nan = {1, 0};
  pair.head.outputs = {clean, dirty};
  EXPECT_EQ(FindingOf(AtMost(MetricId::kNanCount, 0), pair).message,
            "nan_count is 3 (at most 0): y (fp32) has 3, the first at [1, 0] of [2, 3]");
}

TEST(JudgeOutputs, AScalarHasNoIndex) {
  OutputRow row = Compared("loss", "fp32", 0.5);
  row.shape = {};
  row.error->index = {};
  EXPECT_THAT(FindingOf(AtMost(MetricId::kRelativeError, 0.1), PairWith({row})).message,
              HasSubstr("furthest apart in its only element: 1.5 where"));
}

}  // namespace
}  // namespace perfgate
