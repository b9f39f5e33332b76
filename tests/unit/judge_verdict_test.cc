#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge_cases.h"

namespace perfgate {
namespace {

using enum MetricId;
using testing::ElementsAre;
using testing::HasSubstr;

Rule NoExtraKernel() { return ChangeRule(kKernels, {"+0"}); }
CasePair Same() { return PairOf(kKernels, {3}, {3}); }
CasePair Worse() { return PairOf(kKernels, {3}, {4}); }

TEST(JudgeVerdict, APassIsGreen) {
  const Verdict verdict = JudgeOne(NoExtraKernel(), Same());
  EXPECT_EQ(verdict.result, Result::kPass);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(verdict.cases[0].status, Status::kPass);
  EXPECT_EQ(verdict.rules, 1);
  EXPECT_THAT(verdict.problems, testing::IsEmpty());
}

TEST(JudgeVerdict, AFailureIsExitOne) {
  const Verdict verdict = JudgeOne(NoExtraKernel(), Worse());
  EXPECT_EQ(verdict.result, Result::kFail);
  EXPECT_EQ(verdict.exit_code, 1);
}

TEST(JudgeVerdict, AMissingBaselineIsExitFourUnlessItWarns) {
  CasePair pair = Same();
  pair.base.reset();
  pair.diff.reset();
  pair.comparable = false;
  const Verdict verdict = JudgeOne(NoExtraKernel(), pair);
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kMissing);
  EXPECT_EQ(verdict.result, Result::kNotComparable);
  EXPECT_EQ(verdict.exit_code, 4);
  EXPECT_EQ(verdict.cases[0].findings[0].next,
            "perfgate baseline accept --case 'geglu[mode=aoti]' --reason '…'");
  const Verdict warned =
      JudgeOne(NoExtraKernel(), pair, {.today = "2027-01-15", .no_baseline_warns = true});
  EXPECT_EQ(warned.cases[0].findings[0].status, Status::kWarn);
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_TRUE(warned.no_baseline_warns);
}

TEST(JudgeVerdict, AnotherKeyIsNotComparableWithItsFields) {
  CasePair pair = Worse();
  pair.comparable = false;
  pair.key_differences = {"torch: 2.11.0 / 2.12.0"};
  const Verdict verdict = JudgeOne(NoExtraKernel(), pair);
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kNotComparable);
  EXPECT_THAT(verdict.cases[0].findings[0].message, HasSubstr("torch: 2.11.0 / 2.12.0"));
  EXPECT_THAT(verdict.cases[0].key_differences, ElementsAre("torch: 2.11.0 / 2.12.0"));
  EXPECT_EQ(verdict.exit_code, 4);
  EXPECT_EQ(
      JudgeOne(NoExtraKernel(), pair, {.today = "2027-01-15", .no_baseline_warns = true}).exit_code,
      4)
      << "only a missing baseline may warn";
}

TEST(JudgeVerdict, OtherShapesAreNotComparable) {
  CasePair pair = Worse();
  pair.diff->different_shapes = "aten::mm [[64, 8]] / [[32, 8]]";
  const Verdict verdict = JudgeOne(NoExtraKernel(), pair);
  EXPECT_EQ(verdict.cases[0].findings[0].status, Status::kNotComparable);
  EXPECT_THAT(verdict.cases[0].findings[0].message, HasSubstr("not the same work: aten::mm"));
}

TEST(JudgeVerdict, IncompleteEvidenceIsAnErrorForEveryRule) {
  CasePair pair = Worse();
  pair.head.incomplete_because = {"timed out after 300 s", "no trace"};
  const std::vector<Rule> rules = {NoExtraKernel(), LimitRule(kKernels, 9)};
  const Verdict verdict = Judge(rules, {&pair, 1}, {.today = "2027-01-15"});
  for (const Finding& finding : verdict.cases[0].findings) {
    EXPECT_EQ(finding.status, Status::kError);
    EXPECT_EQ(finding.message, "not judged, the evidence is incomplete: timed out after 300 s");
  }
  EXPECT_EQ(verdict.result, Result::kError);
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_THAT(verdict.cases[0].incomplete_because, testing::SizeIs(2));
}

TEST(JudgeVerdict, IncompleteEvidenceIsAnErrorEvenIfNoRuleAsks) {
  CasePair pair = Same();
  pair.head.incomplete_because = {"killed by SIGSEGV"};
  Rule rule = NoExtraKernel();
  rule.severity = Severity::kOff;
  const Verdict verdict = JudgeOne(rule, pair);
  EXPECT_EQ(verdict.cases[0].status, Status::kError);
  EXPECT_EQ(verdict.exit_code, 3);
}

TEST(JudgeVerdict, AnIncompleteBaseIsAnError) {
  CasePair pair = Same();
  pair.base->incomplete_because = {"launches without a kernel"};
  EXPECT_EQ(FindingOf(NoExtraKernel(), pair).status, Status::kError);
  EXPECT_EQ(FindingOf(NoExtraKernel(), pair).message,
            "the base's evidence is incomplete: launches without a kernel");
}

TEST(JudgeVerdict, ErrorsComeBeforeFailuresBeforeMissingBaselines) {
  CasePair missing = Same();
  missing.base.reset();
  CasePair broken = Same();
  broken.head.incomplete_because = {"x"};
  const Rule rule = NoExtraKernel();
  const auto exit_code = [&](std::vector<CasePair> cases) {
    return Judge({&rule, 1}, cases, {.today = "2027-01-15"}).exit_code;
  };
  EXPECT_EQ(exit_code({Same(), missing}), 4);
  EXPECT_EQ(exit_code({missing, Worse()}), 1);
  EXPECT_EQ(exit_code({missing, Worse(), broken}), 3);
}

TEST(JudgeVerdict, NothingJudgedIsNeverGreen) {
  const Rule rule = NoExtraKernel();
  const CasePair pair = Same();
  const Verdict no_case = Judge({&rule, 1}, {}, {});
  EXPECT_EQ(no_case.exit_code, 3);
  EXPECT_EQ(no_case.result, Result::kError);
  EXPECT_THAT(no_case.problems, ElementsAre(HasSubstr("no case was judged")));
  const Verdict no_rule = Judge({}, {&pair, 1}, {});
  EXPECT_EQ(no_rule.exit_code, 3);
  EXPECT_THAT(no_rule.problems, ElementsAre(HasSubstr("there are no rules")));
  Rule off = rule;
  off.severity = Severity::kOff;
  const Verdict skipped = JudgeOne(off, pair);
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_EQ(skipped.cases[0].status, Status::kError);
  EXPECT_EQ(skipped.cases[0].findings.back().message,
            "no rule judged this case: every rule was skipped (switched off)");
}

TEST(JudgeVerdict, ACaseMeasuredOnlyAsAReferenceNeedsNoRule) {
  CasePair reference = Same();
  reference.declared.name = "fp32";
  reference.declared.reference_only = true;
  Rule rule = NoExtraKernel();
  rule.cases = "geglu*";
  const std::vector<CasePair> cases = {Same(), reference};
  EXPECT_EQ(Judge({&rule, 1}, cases, {.today = "2027-01-15"}).exit_code, 0);
}

CasePair Compared(const std::string& name, double error) {
  CasePair pair = Same();
  pair.declared.name = name;
  pair.declared.reference = "eager";
  Set(pair.head, MetricId::kRelativeError, {error});
  OutputRow row;
  row.name = "y";
  row.dtype = "fp32";
  row.error.emplace().relative = error;
  pair.head.outputs = {row};
  return pair;
}

TEST(JudgeVerdict, AReferenceOfOneProcessNeedsNoRuleWhereOthersAreComparedWithIt) {
  CasePair reference = Compared("eager", 0);
  reference.head.values.clear();
  reference.head.outputs.clear();
  reference.head.unavailable[MetricId::kRelativeError] = std::string(kReferenceAlone);
  Rule drift = LimitRule(MetricId::kRelativeError, 0.01);
  const std::vector<CasePair> cases = {reference, Compared("fast", 0)};
  const Verdict verdict = Judge({&drift, 1}, cases, {});
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(verdict.cases[0].status, Status::kSkipped);
  EXPECT_EQ(verdict.cases[0].notes,
            std::vector<std::string>{
                "no rule judged this case: it is the reference that others were compared with"});
  EXPECT_EQ(verdict.cases[1].status, Status::kPass);

  const Verdict alone = JudgeOne(drift, reference);
  EXPECT_EQ(alone.exit_code, 3) << "nothing was compared with it";
  EXPECT_THAT(alone.cases[0].findings.back().next, HasSubstr("trace it in two processes"));
  drift.cases = "fast";
  EXPECT_EQ(Judge({&drift, 1}, cases, {}).exit_code, 3) << "with two processes it is not judged";
}

TEST(JudgeVerdict, IncompleteEvidenceIsAnErrorOfRulesForTheOtherDeviceToo) {
  CasePair pair = Same();
  pair.head.device_kind = "cpu";
  pair.head.incomplete_because = {"exit code 1"};
  Rule rule = NoExtraKernel();
  rule.device = DeviceFilter::kCuda;
  const Finding finding = FindingOf(rule, pair);
  EXPECT_EQ(finding.status, Status::kError);
  EXPECT_THAT(finding.message, HasSubstr("exit code 1"));
}

TEST(JudgeVerdict, EveryRuleHasAFindingOfEveryCase) {
  CasePair other = Same();
  other.declared.name = "mlp";
  Rule narrow = NoExtraKernel();
  narrow.cases = "geglu*";
  Rule cpu = NoExtraKernel();
  cpu.device = DeviceFilter::kCpu;
  const std::vector<Rule> rules = {narrow, cpu, NoExtraKernel()};
  const std::vector<CasePair> cases = {Same(), other};
  const Verdict verdict = Judge(rules, cases, {});
  for (const CaseVerdict& each : verdict.cases) EXPECT_EQ(each.findings.size(), 3u);
  EXPECT_EQ(verdict.cases[1].findings[0].status, Status::kSkipped);
  EXPECT_EQ(verdict.cases[1].findings[0].message, "for other cases (geglu*)");
  EXPECT_EQ(verdict.cases[0].findings[1].message, "for cpu only; this case ran on cuda");
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(JudgeVerdict, ACaseThatNoRuleJudgesSaysSo) {
  CasePair other = Same();
  other.declared.name = "mlp";
  Rule narrow = NoExtraKernel();
  narrow.cases = "geglu*";
  const std::vector<CasePair> cases = {Same(), other};
  const Verdict verdict = Judge({&narrow, 1}, cases, {});
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_EQ(verdict.cases[0].status, Status::kPass);
  EXPECT_EQ(verdict.cases[1].status, Status::kError);
  EXPECT_THAT(verdict.cases[1].findings.back().message, HasSubstr("no rule judged this case"));
}

TEST(JudgeVerdict, AReferenceIsNotJudged) {
  CasePair reference = Worse();
  reference.declared.reference_only = true;
  const Rule rule = NoExtraKernel();
  const std::vector<CasePair> cases = {Same(), reference};
  const Verdict verdict = Judge({&rule, 1}, cases, {});
  EXPECT_EQ(verdict.cases.size(), 1u);
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(JudgeVerdict, AWarningDoesNotFailButAnErrorStaysOne) {
  Rule rule = NoExtraKernel();
  rule.severity = Severity::kWarn;
  EXPECT_EQ(FindingOf(rule, Worse()).status, Status::kWarn);
  EXPECT_EQ(JudgeOne(rule, Worse()).exit_code, 0);
  CasePair missing = Same();
  missing.base.reset();
  EXPECT_EQ(JudgeOne(rule, missing).exit_code, 0);
  EXPECT_EQ(FindingOf(rule, missing).status, Status::kWarn);
  EXPECT_EQ(FindingOf(rule, PairOf(kKernels, {3}, {3, 4})).status, Status::kError);
  EXPECT_EQ(JudgeOne(rule, PairOf(kKernels, {3}, {3, 4})).exit_code, 3);
}

TEST(JudgeVanishedWork, IsSuspiciousBelowHalf) {
  const Rule rule = NoExtraKernel();
  const Verdict half = JudgeOne(rule, PairOf(kKernels, {10}, {5}));
  EXPECT_EQ(half.cases[0].findings.size(), 1u);
  EXPECT_EQ(half.exit_code, 0);
  const Verdict less = JudgeOne(rule, PairOf(kKernels, {10}, {4}));
  ASSERT_EQ(less.cases[0].findings.size(), 2u);
  const Finding& finding = less.cases[0].findings[1];
  EXPECT_EQ(finding.status, Status::kSuspicious);
  EXPECT_EQ(finding.rule, "perfgate:vanished-work");
  EXPECT_EQ(finding.message, "kernels 10 -> 4 a step: less than half is left");
  EXPECT_THAT(finding.next, HasSubstr("--rule 'perfgate:vanished-work'"));
  EXPECT_EQ(less.cases[0].status, Status::kSuspicious);
  EXPECT_EQ(less.exit_code, 3);
}

TEST(JudgeVanishedWork, IsSeenInGpuTimeAndCpuKernelsToo) {
  for (const MetricId metric : {kGpuTime, kCpuKernels}) {
    EXPECT_EQ(JudgeOne(ChangeRule(metric, {"+0"}), PairOf(metric, {1000}, {0})).exit_code, 3);
  }
}

// The first of them waited for another rank.
TEST(JudgeVanishedWork, IsNoShorterWaitForTheSameMessages) {
  const Rule rule = ChangeRule(kCommTime, {"+0"});
  CasePair pair = PairOf(kCommTime, {9000}, {2000});
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 3);
  Set(*pair.base, kCommCount, {4});
  Set(pair.head, kCommCount, {4});
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 0);
  Set(*pair.base, kCommBytes, {100});
  Set(pair.head, kCommBytes, {25});
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 3);
  Set(*pair.base, kCommCount, {12});
  Set(pair.head, kCommBytes, {100});
  EXPECT_EQ(JudgeOne(rule, pair).exit_code, 0);
}

TEST(JudgeVanishedWork, IsOnlyANoteInABareDiff) {
  const Verdict verdict = JudgeOne(NoExtraKernel(), PairOf(kKernels, {10}, {1}),
                                   {.today = "2027-01-15", .bare_diff = true});
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_THAT(verdict.cases[0].notes,
              ElementsAre("kernels 10 -> 1 a step: less than half is left"));
}

// GPU time is that of all other work than collectives.
TEST(JudgeChange, OfGpuTimeNamesNoCollective) {
  CasePair pair = PairOf(kGpuTime, {1000}, {2000});
  Change split, other;
  split.time_ns = other.time_ns = 500;
  split.head.emplace_back().name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)";
  other.head.emplace_back().name = "a_kernel";
  pair.diff->changes = {split, other};
  pair.diff->slower.emplace_back().head = split.head[0];
  const Finding finding = FindingOf(ChangeRule(kGpuTime, {"+0"}), pair);
  EXPECT_THAT(finding.changes, ElementsAre(1));
  EXPECT_THAT(finding.slower, testing::IsEmpty());
}

Rule Waived(std::optional<Allowance> up_to = std::nullopt) {
  Rule rule = NoExtraKernel();
  rule.waive = Waiver{"2027-01-31", "ticket 12", "", "", std::move(up_to)};
  return rule;
}

TEST(JudgeWaiver, LetsAFailureThroughUntilItsLastDay) {
  const Finding finding = FindingOf(Waived(), Worse(), {.today = "2027-01-31"});
  EXPECT_EQ(finding.status, Status::kWaived);
  EXPECT_THAT(finding.message, HasSubstr("; waived until 2027-01-31: ticket 12"));
  EXPECT_EQ(JudgeOne(Waived(), Worse(), {.today = "2027-01-31"}).exit_code, 0);
}

TEST(JudgeWaiver, FailsTheDayAfterAndSaysWhy) {
  const Finding finding = FindingOf(Waived(), Worse(), {.today = "2027-02-01"});
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_THAT(finding.message, HasSubstr("the waiver expired on 2027-01-31 (ticket 12)"));
}

TEST(JudgeWaiver, HoldsForItsCasesOnly) {
  Rule rule = Waived();
  rule.waive->cases = "mlp*";
  EXPECT_EQ(FindingOf(rule, Worse()).status, Status::kFail);
  rule.waive->cases = "geglu[*";
  EXPECT_EQ(FindingOf(rule, Worse()).status, Status::kWaived);
}

TEST(JudgeWaiver, HoldsUpToItsSize) {
  const Rule rule = Waived(Allowance{2, false, "+2"});
  EXPECT_EQ(FindingOf(rule, PairOf(kKernels, {3}, {5})).status, Status::kWaived);
  const Finding beyond = FindingOf(rule, PairOf(kKernels, {3}, {6}));
  EXPECT_EQ(beyond.status, Status::kFail);
  EXPECT_THAT(beyond.message, HasSubstr("beyond the waiver, which holds up to +2"));
  const Rule percent = Waived(Allowance{0.5, true, "+50%"});
  EXPECT_EQ(FindingOf(percent, PairOf(kKernels, {4}, {6})).status, Status::kWaived);
  EXPECT_EQ(FindingOf(percent, PairOf(kKernels, {4}, {7})).status, Status::kFail);
}

TEST(JudgeWaiver, OfALimitIsMeasuredFromTheLimit) {
  Rule rule = LimitRule(kKernels, 3);
  rule.waive = Waiver{"2027-01-31", "known", "", "", Allowance{1, false, "+1"}};
  EXPECT_EQ(FindingOf(rule, PairOf(kKernels, {}, {4})).status, Status::kWaived);
  EXPECT_EQ(FindingOf(rule, PairOf(kKernels, {}, {5})).status, Status::kFail);
}

TEST(JudgeWaiver, NeverHidesAnErrorOrAMissingBaseline) {
  EXPECT_EQ(FindingOf(Waived(), PairOf(kKernels, {3}, {3, 4})).status, Status::kError);
  CasePair missing = Worse();
  missing.base.reset();
  EXPECT_EQ(FindingOf(Waived(), missing).status, Status::kMissing);
}

TEST(JudgeStatus, HasTheNamesOfTheSchema) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Status::kWaived); ++i) {
    names.emplace_back(ToString(static_cast<Status>(i)));
  }
  EXPECT_THAT(names, ElementsAre("pass", "improved", "warn", "fail", "inconclusive", "error",
                                 "missing", "not_comparable", "suspicious", "skipped", "waived"));
}

}  // namespace
}  // namespace perfgate
