// The verdict as text for a person.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "report/report.h"
#include "report_verdicts.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(VerdictText, TheFirstLinesSayVerdictCountsSuiteDeviceAndCommits) {
  EXPECT_THAT(
      VerdictAsText(Failing(), {.width = 130}),
      StartsWith("FAIL  2 of 3 rules failed, in 1 of 2 cases      suite demo · NVIDIA H200 · "
                 "head 1a2b3c4 against baseline of 9f8e7d6\n"));
}

TEST(VerdictText, EachChangeIsShownOnceACase) {
  const std::string text = VerdictAsText(Failing(), {});
  EXPECT_EQ(Count(text, "- fused_gelu_mul"), 1U);
  EXPECT_EQ(Count(text, "one fused kernel came apart"), 1U);
  EXPECT_THAT(text, HasSubstr("same change as above"));
}

TEST(VerdictText, OperatorsAreNamedInFull) {
  Verdict verdict = Failing();
  verdict.cases[1].diff->changes[0].operators = {
      "aten::scaled_dot_product_attention", "aten::masked_fill_", "aten::softmax", "aten::matmul"};
  const std::string text = VerdictAsText(verdict, {});
  EXPECT_THAT(text, HasSubstr("called by aten::scaled_dot_product_attention, aten::masked_fill_, "
                              "aten::softmax and 1 more; "));
}

TEST(VerdictText, TheRulesOfACaseAreAcceptedByOneCommand) {
  EXPECT_THAT(
      VerdictAsText(Failing(), {}),
      HasSubstr("if meant  perfgate baseline accept --case 'geglu' --rule 'p/nothing-split' "
                "--rule 'p/no-extra-kernel' --reason '…'\n"));
}

TEST(VerdictText, PassesAreCountedAndListedOnlyWhenAsked) {
  EXPECT_THAT(VerdictAsText(Failing(), {}),
              AllOf(HasSubstr("\n4 passed\n"), Not(HasSubstr("linear"))));
  EXPECT_THAT(VerdictAsText(Failing(), {.all_passes = true}), HasSubstr("linear\n  passed"));
}

TEST(VerdictText, ColoursOnlyIfAsked) {
  EXPECT_THAT(VerdictAsText(Failing(), {}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(VerdictAsText(Failing(), {.color = true}), HasSubstr("\x1b[31mFAIL\x1b[0m"));
}

TEST(VerdictText, AVerdictThatJudgedNothingNeverSaysPass) {
  Verdict verdict;
  verdict.result = Result::kPass;
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = Status::kSkipped;
  item.diff = Diff();
  item.findings = {Found("p/p50", Status::kSkipped, "needs --against")};
  verdict.cases = {item};
  EXPECT_THAT(VerdictAsText(verdict, {}),
              AllOf(StartsWith("NOTHING JUDGED"), Not(HasSubstr("PASS")),
                    HasSubstr("never judged here: p50  (needs --against)")));
  EXPECT_THAT(VerdictAsMarkdown(verdict), AllOf(HasSubstr("NOTHING JUDGED"), Not(HasSubstr("✅"))));
}

Verdict Green(Status status) {
  Verdict verdict;
  verdict.suite = "demo";
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = status;
  item.diff = Diff();
  item.findings = {Found("p/p50", status, "said")};
  verdict.cases = {item};
  return verdict;
}

TEST(VerdictText, WhereAllWasLetThroughNothingPassed) {
  EXPECT_THAT(VerdictAsText(Green(Status::kWaived), {}), StartsWith("WAIVED  1 waived in 1 case"));
  EXPECT_THAT(VerdictAsText(Green(Status::kPass), {}), StartsWith("PASS  1 passed in 1 case"));
}

TEST(VerdictText, CasesLeftOutAndShortWindowsStandInTheHeadline) {
  Verdict verdict = Green(Status::kPass);
  verdict.declared_cases = 2;
  verdict.quick = true;
  const std::string said = "1 passed in 1 case (1 of 2 declared cases, quick)";
  EXPECT_THAT(VerdictAsText(verdict, {}), HasSubstr(said));
  EXPECT_THAT(VerdictAsMarkdown(verdict), HasSubstr(said));
}

TEST(VerdictText, NotesAreSaidOnAPassToo) {
  Verdict verdict = Green(Status::kPass);
  verdict.cases[0].notes = {"the steps have gaps"};
  EXPECT_THAT(VerdictAsText(verdict, {}), HasSubstr("note            the steps have gaps"));
  EXPECT_THAT(VerdictAsMarkdown(verdict),
              AllOf(HasSubstr("<summary>1 note</summary>"), HasSubstr("the steps have gaps")));
}

TEST(VerdictText, KernelsThatBecameSlowerAreNamed) {
  Verdict verdict = Failing();
  CaseVerdict& item = verdict.cases[1];
  item.diff->slower = {{Kernel("gelu bf16", {"gelu"}, 3200), Kernel("gelu bf16", {"gelu"}, 9700)}};
  for (Finding& finding : item.findings) finding.slower = {0};
  for (const std::string& text : {VerdictAsText(verdict, {}), VerdictAsMarkdown(verdict)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("gelu bf16"), HasSubstr("3.20 us -> 9.70 us   aten::gelu")));
  }
}

TEST(VerdictText, AMissingBaselineThatOnlyWarnsStandsOnTop) {
  Verdict verdict;
  verdict.result = Result::kPass;
  verdict.no_baseline_warns = true;
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = Status::kWarn;
  item.findings = {Found("p/a", Status::kWarn, "no baseline"),
                   Found("p/b", Status::kWarn, "no baseline")};
  verdict.cases = {item};
  const std::string text = VerdictAsText(verdict, {});
  EXPECT_THAT(text, StartsWith("NO BASELINE: the case was compared with nothing."));
  EXPECT_THAT(text, HasSubstr("\nNO BASELINE  nothing was judged in 1 case\n"));
  EXPECT_THAT(text, HasSubstr("2 rules"));
  EXPECT_THAT(text, Not(HasSubstr("PASS")));
}

TEST(VerdictText, IncompleteCasesComeFirstWithTheirReasons) {
  Verdict verdict = Failing();
  verdict.result = Result::kError;
  verdict.exit_code = 3;
  CaseVerdict crashed;
  crashed.case_name = "zz";
  crashed.status = Status::kError;
  crashed.incomplete_because = {"process 0: killed by SIGSEGV"};
  crashed.findings = {Found("p/a", Status::kError, "not judged")};
  verdict.cases.push_back(crashed);
  const std::string text = VerdictAsText(verdict, {});
  EXPECT_THAT(text, StartsWith("ERROR  1 of 3 cases could not be judged; 2 of 4 rules failed"));
  EXPECT_LT(text.find("\nzz\n"), text.find("\ngeglu\n"));
  EXPECT_THAT(text, HasSubstr("incomplete      process 0: killed by SIGSEGV"));
}

TEST(VerdictText, PlantedDefectsAndFallbacksAreShownEvenInAPass) {
  Verdict verdict;
  verdict.result = Result::kPass;
  CaseVerdict item;
  item.case_name = "geglu";
  item.diff = Diff();
  item.plant = "clone";
  item.fallback = {{"hand_fused", "built without nvcc"}};
  item.findings = {Found("p/a", Status::kPass, "fine")};
  verdict.cases = {item};
  for (const std::string& text : {VerdictAsText(verdict, {}), VerdictAsMarkdown(verdict)}) {
    EXPECT_THAT(text,
                AllOf(HasSubstr("PASS"), HasSubstr("clone"), HasSubstr("built without nvcc")));
  }
}

TEST(VerdictText, AProblemOfTheWholeRunIsShown) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.problems = {"perfgate.yaml:3:5: unknown key\nperfgate.yaml:4:1: another"};
  EXPECT_THAT(
      VerdictAsText(verdict, {}),
      AllOf(StartsWith("ERROR  nothing can be said about this run"),
            HasSubstr(
                "problem  perfgate.yaml:3:5: unknown key\n         perfgate.yaml:4:1: another")));
}

TEST(VerdictText, NamesCannotCommandATerminalOrACiSystem) {
  const std::string text =
      VerdictAsText(Hostile("::error::x\x1b[2J\n::set-output\r##[error]y"), {});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("##[")), Not(HasSubstr("\n::"))));
  for (const std::string& line : Split(text, '\n')) {
    EXPECT_FALSE(std::string(Trim(line)).starts_with("::")) << line;
  }
  // What reads logs for commands skips these blanks as well: no-break, en, ideographic, a tab.
  for (const std::string blank : {"\u00a0", "\u2002", "\u3000", "\t"}) {
    for (const std::string& line :
         Split(VerdictAsText(Hostile(blank + "::add-mask::x"), {}), '\n')) {
      const size_t at = line.find_first_not_of(" \t\u00a0\u2002\u3000");
      EXPECT_NE(line.substr(std::min(at, line.size()), 2), "::") << line;
    }
  }
}

TEST(VerdictText, ARuleIsNamedInFullWhereAnotherCaseHasOneOfThatEnding) {
  Verdict verdict = Failing();
  verdict.cases[0].status = Status::kFail;
  verdict.cases[0].findings = {Found("mine/no-sync", Status::kFail, "one")};
  verdict.cases[1].findings = {Found("yours/no-sync", Status::kFail, "two"),
                               Found("yours/no-copy", Status::kFail, "three")};
  const std::string text = VerdictAsText(verdict, {});
  EXPECT_THAT(text, AllOf(HasSubstr("  mine/no-sync "), HasSubstr("  yours/no-sync "),
                          HasSubstr("  no-copy ")));
}

TEST(VerdictText, ANoteOfSeveralCasesIsSaidOnceInTheOrderOfTheFirst) {
  Verdict verdict = Green(Status::kPass);
  verdict.cases[0].notes = {"b", "a"};
  verdict.cases.push_back(verdict.cases[0]);
  verdict.cases[1].notes = {"a"};
  EXPECT_THAT(VerdictAsText(verdict, {}),
              HasSubstr("  note            b (1 case)\n  note            a (2 cases)\n"));
}

TEST(DiffText, WithoutAChangeItSaysSo) {
  EXPECT_THAT(DiffAsText(Diff(), {}), HasSubstr("no change in kernels, copies or syncs"));
}

}  // namespace
}  // namespace perfgate
