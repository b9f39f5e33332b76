#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/report.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ChangedKernel Kernel(const std::string& name, std::vector<std::string> ops, int64_t time_ns) {
  return {name, name, name, "aten::" + ops.front(), "cuda:0", ops, 1, time_ns};
}

Finding Found(const std::string& rule, Status status, const std::string& message) {
  Finding finding;
  finding.rule = rule;
  finding.case_name = "geglu";
  finding.where = {"rules/mine.yaml", 3, 5};
  finding.status = status;
  finding.message = message;
  finding.why = "why of " + rule;
  return finding;
}

Diff SplitFusion() {
  Diff diff;
  Change change;
  change.kind = ChangeKind::kFusionSplit;
  change.base = {Kernel("fused_gelu_mul", {"gelu", "mul"}, 4130)};
  change.head = {Kernel("gelu_kernel", {"gelu"}, 3230), Kernel("mul_kernel", {"mul"}, 2860)};
  change.operators = {"aten::gelu", "aten::mul"};
  change.count = 1;
  change.time_ns = 1960;
  change.text = "one fused kernel came apart";
  diff.changes = {change};
  diff.kernel_count = 1;
  diff.kernel_time_ns = 1960;
  for (int i = 0; i < 4; ++i) diff.answers[i] = {"Question " + std::to_string(i) + "?", "answer"};
  return diff;
}

Verdict Failing() {
  Verdict verdict;
  verdict.result = Result::kFail;
  verdict.exit_code = 1;
  verdict.suite = "demo";
  verdict.device = "NVIDIA H200";
  verdict.base_label = "9f8e7d6";
  verdict.head_label = "1a2b3c4";
  verdict.rules = 3;
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = Status::kFail;
  item.diff = SplitFusion();
  item.attempts = {"attempts/geglu/traced-0"};
  Finding split = Found("p/nothing-split", Status::kFail, "one fused kernel came apart");
  split.changes = {0};
  split.next = "perfgate baseline accept --case 'geglu' --rule 'p/nothing-split' --reason '…'";
  Finding count = Found("p/no-extra-kernel", Status::kFail, "kernels 4 -> 5 a step (at most +0)");
  count.metric = MetricId::kKernels;
  count.base = 4;
  count.head = 5;
  count.delta = 1;
  count.limit = "at most +0";
  count.changes = {0};
  count.next = "perfgate baseline accept --case 'geglu' --rule 'p/no-extra-kernel' --reason '…'";
  item.findings = {split, count, Found("p/copies", Status::kPass, "fine")};
  CaseVerdict other;
  other.case_name = "linear";
  other.status = Status::kPass;
  for (const Finding& finding : item.findings) {
    other.findings.push_back(Found(finding.rule, Status::kPass, "fine"));
  }
  verdict.cases = {other, item};
  return verdict;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

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

Verdict Hostile(const std::string& name) {
  Verdict verdict = Failing();
  CaseVerdict& item = verdict.cases[1];
  item.diff->changes[0].head[0].short_name = name;
  item.diff->changes[0].text = name;
  item.findings[0].message = name;
  item.case_name = name;
  verdict.suite = name;
  return verdict;
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

TEST(VerdictMarkdown, NamesCannotBreakOutOfTheComment) {
  const std::string text =
      VerdictAsMarkdown(Hostile("a|b`c```\n</details><script>@everyone #1 *x* _y_ http://x.y"));
  EXPECT_THAT(text, Not(HasSubstr("\n</details><script>")));
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with("```")) {
      EXPECT_THAT(line, testing::AnyOf("```", "```diff", "```sh"));
    }
    if (line.starts_with("- ") && line.find("<script>") != std::string::npos) {
      ADD_FAILURE() << line;
    }
  }
  EXPECT_THAT(text, HasSubstr("suite a\\|b\\`c"));
  EXPECT_THAT(text, HasSubstr("&lt;script&gt;@\xE2\x80\x8B"
                              "everyone"));
}

TEST(VerdictMarkdown, WithoutAContextThereIsNoEmptyParagraph) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.problems = {"no such file"};
  EXPECT_EQ(VerdictAsMarkdown(verdict),
            "## ❌ perfgate: ERROR, nothing can be said about this run\n\n"
            "- **problem**: no such file\n");
}

TEST(VerdictMarkdown, ADirectionControlDisappears) {
  EXPECT_THAT(VerdictAsMarkdown(Hostile("a\xE2\x80\xAE"
                                        "b")),
              Not(HasSubstr("\xE2\x80\xAE")));
}

TEST(VerdictMarkdown, ALongVerdictKeepsWholeSectionsWithinTheLimitOfAComment) {
  Verdict verdict = Failing();
  for (int i = 0; i < 400; ++i) verdict.cases.push_back(verdict.cases[1]);
  const std::string text = VerdictAsMarkdown(verdict);
  EXPECT_LT(text.size(), 65'000U);
  EXPECT_THAT(text, HasSubstr("sections left out"));
  EXPECT_EQ(Count(text, "\n```diff\n"), Count(text, "Next:\n```sh\n"));
}

// Every character of it is longer in Markdown.
TEST(VerdictMarkdown, TheHeadlineStaysHoweverMuchTheProblemsSay) {
  Verdict verdict = Failing();
  const std::string longest(16'000, '&');
  verdict.problems = std::vector<std::string>(100, longest);
  verdict.suite = verdict.device = verdict.stack = verdict.base_label = verdict.head_label =
      longest;
  const std::string text = VerdictAsMarkdown(verdict);
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_THAT(text, AllOf(StartsWith("## ❌ perfgate: FAIL, "),
                          HasSubstr("\n- and 80 lines more: see the JSON report\n")));
}

TEST(VerdictMarkdown, ALineOfAProblemBeyondTheLimitIsCounted) {
  Verdict verdict = Failing();
  std::string lines = "line 1";
  for (int i = 2; i <= 20; ++i) lines += "\nline " + std::to_string(i);
  verdict.problems = {lines};
  EXPECT_THAT(VerdictAsMarkdown(verdict),
              AllOf(HasSubstr("<br>line 20\n"), Not(HasSubstr("see the JSON report"))));
  verdict.problems = {lines + "\nline 21"};
  EXPECT_THAT(VerdictAsMarkdown(verdict),
              AllOf(HasSubstr("<br>line 20\n\n- and 1 line more: see the JSON report\n"),
                    Not(HasSubstr("line 21"))));
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

TEST(VerdictJson, HoldsTheWholeContract) {
  const Json json = VerdictAsJson(Failing());
  EXPECT_EQ(json.At("schema").AsString(), "perfgate.verdict/1");
  EXPECT_EQ(json.At("verdict").AsString(), "fail");
  EXPECT_EQ(json.At("exit_code").AsInt(), 1);
  EXPECT_EQ(json.At("base").AsString(), "9f8e7d6");
  EXPECT_EQ(json.At("head").AsString(), "1a2b3c4");
  const Json& item = json.At("cases").AsArray()[1];
  EXPECT_EQ(item.At("status").AsString(), "fail");
  const Json& finding = item.At("findings").AsArray()[1];
  EXPECT_EQ(finding.At("where").AsString(), "rules/mine.yaml:3:5");
  EXPECT_EQ(finding.At("metric").AsString(), "kernels");
  EXPECT_EQ(finding.At("base").AsNumber(), 4);
  EXPECT_EQ(finding.At("delta").AsNumber(), 1);
  EXPECT_EQ(finding.At("limit").AsString(), "at most +0");
  EXPECT_EQ(finding.At("changes").AsArray()[0].AsInt(), 0);
  EXPECT_EQ(finding.At("attempts").AsArray()[0].AsString(), "attempts/geglu/traced-0");
  for (const char* key : {"severity", "status", "statistics", "operators", "why", "next"}) {
    EXPECT_NE(finding.Find(key), nullptr) << key;
  }
  const Json& change = item.At("changes").AsArray()[0];
  EXPECT_EQ(change.At("kind").AsString(), "fusion_split");
  EXPECT_EQ(change.At("base").AsArray()[0].AsString(), "fused_gelu_mul");
  EXPECT_EQ(change.At("head").AsArray().size(), 2U);
  EXPECT_EQ(change.At("time_ns").AsInt(), 1960);
  EXPECT_EQ(item.At("diagnosis").At("answers").AsArray().size(), 4U);
}

TEST(VerdictJson, IsTheSameTextTwice) {
  EXPECT_EQ(WriteJson(VerdictAsJson(Failing())), WriteJson(VerdictAsJson(Failing())));
}

TEST(DiffText, WithoutAChangeItSaysSo) {
  EXPECT_THAT(DiffAsText(Diff(), {}), HasSubstr("no change in kernels, copies or syncs"));
}

}  // namespace
}  // namespace perfgate
