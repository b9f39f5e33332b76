// What selftest makes of a verdict, and what counts as a broken promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/selftest.h"

namespace perfgate::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Planted Of(Group group, double size = 0, const std::string& plant = "delay_5us") {
  Planted planted;
  planted.group = group;
  planted.workload = "geglu";
  planted.declared.name = "geglu[plant]";
  planted.declared.plant = group == Group::kUnchanged ? "" : plant;
  planted.defect = "something";
  planted.size = size;
  return planted;
}

Finding FindingOf(const std::string& rule, Status status) {
  Finding finding;
  finding.rule = rule;
  finding.status = status;
  finding.message = "because";
  return finding;
}

SelftestResult Judged(const Planted& planted, const std::vector<Finding>& findings) {
  CaseVerdict verdict;
  verdict.findings = findings;
  return ResultOf(planted, verdict);
}

int ExitOf(const SelftestResult& result) {
  SelftestReport report;
  report.results = {result};
  return report.ExitCode();
}

TEST(Selftest, NamesTheRulesThatCaughtADefectAndThoseThatWarned) {
  const SelftestResult result =
      Judged(Of(Group::kStructure), {FindingOf("perfgate:structure/no-extra-kernel", Status::kFail),
                                     FindingOf("perfgate:structure/no-extra-kernel", Status::kFail),
                                     FindingOf("perfgate:structure/no-extra-alloc", Status::kWarn),
                                     FindingOf("times.yaml/p50", Status::kPass)});
  EXPECT_EQ(result.caught, Caught::kYes);
  EXPECT_THAT(result.by, ElementsAre("no-extra-kernel"));
  EXPECT_THAT(result.warned_by, ElementsAre("no-extra-alloc"));
  EXPECT_EQ(ExitOf(result), 0);
}

TEST(Selftest, HoldsAMissedDefectOfTheStructureAgainstTheGateEvenIfARuleWarned) {
  const SelftestResult result =
      Judged(Of(Group::kStructure), {FindingOf("perfgate:structure/a", Status::kWarn)});
  EXPECT_EQ(result.caught, Caught::kNo);
  EXPECT_EQ(ExitOf(result), 1);
}

TEST(Selftest, HoldsNumbersThatChangedUnseenAgainstTheGate) {
  EXPECT_EQ(ExitOf(Judged(Of(Group::kNumbers), {FindingOf("accuracy", Status::kPass)})), 1);
  EXPECT_EQ(ExitOf(Judged(Of(Group::kNumbers), {FindingOf("accuracy", Status::kFail)})), 0);
}

TEST(Selftest, HoldsAFailureOfUnchangedCodeAgainstTheGateAndNoUndecidedOne) {
  EXPECT_EQ(ExitOf(Judged(Of(Group::kUnchanged), {FindingOf("p50", Status::kFail)})), 1);
  EXPECT_EQ(ExitOf(Judged(Of(Group::kUnchanged), {FindingOf("p50", Status::kInconclusive)})), 0);
  EXPECT_EQ(ExitOf(Judged(Of(Group::kUnchanged), {FindingOf("p50", Status::kPass)})), 0);
}

TEST(Selftest, HoldsAPassedSlowdownAgainstTheGateOnlyWhereItIsPlain) {
  const std::vector<Finding> passed = {FindingOf("p50", Status::kPass)};
  EXPECT_EQ(ExitOf(Judged(Of(Group::kTime, 0.05), passed)), 0);
  EXPECT_EQ(ExitOf(Judged(Of(Group::kTime, 0.2), passed)), 1);
  EXPECT_EQ(ExitOf(Judged(Of(Group::kTime, 0.2), {FindingOf("p50", Status::kInconclusive)})), 0);
  // How much slower a longer cache makes a step is not known.
  EXPECT_EQ(ExitOf(Judged(Of(Group::kTime, 0.5, ""), passed)), 0);
}

TEST(Selftest, MeasuresNothingWhereACaseIsAnErrorWhateverElseFailed) {
  const SelftestResult result = Judged(
      Of(Group::kStructure), {FindingOf("a", Status::kFail), FindingOf("b", Status::kError)});
  EXPECT_EQ(result.caught, Caught::kNotMeasured);
  EXPECT_EQ(ExitOf(result), 3);
  EXPECT_EQ(SelftestReport().ExitCode(), 3);
}

TEST(Selftest, SaysWhetherNoiseOrTimeLeftASlowdownUndecided) {
  Finding finding = FindingOf("p50", Status::kInconclusive);
  finding.times.emplace().wants_pairs = true;
  SelftestReport report;
  report.results = {Judged(Of(Group::kTime, 0.2), {finding})};
  EXPECT_THAT(AsText(report, Format::kText), HasSubstr("there was no time for more pairs"));
  finding.times->wants_pairs = false;
  finding.times->comparison.undecided = Undecided::kTooWide;
  report.results = {Judged(Of(Group::kTime, 0.2), {finding})};
  EXPECT_THAT(AsText(report, Format::kText), HasSubstr("this machine is too noisy"));
}

TEST(Selftest, TellsTheSizeFromWhichOnEveryLargerSlowdownWasCaught) {
  SelftestReport report;
  const std::vector<Finding> caught = {FindingOf("p50", Status::kFail)};
  report.results = {Judged(Of(Group::kTime, 0.05), caught),
                    Judged(Of(Group::kTime, 0.2), {FindingOf("p50", Status::kInconclusive)}),
                    Judged(Of(Group::kTime, 0.8), caught)};
  EXPECT_THAT(AsText(report, Format::kText), HasSubstr("a busier host: caught from 80 % on"));
}

}  // namespace
}  // namespace perfgate::cli
