// Reports for CI systems: JUnit XML, annotations of GitHub, code quality of GitLab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "report/report.h"
#include "report_verdicts.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Status kAllStatuses[] = {
    Status::kPass,    Status::kImproved,     Status::kWarn,    Status::kFail,
    Status::kError,   Status::kInconclusive, Status::kMissing, Status::kNotComparable,
    Status::kSkipped, Status::kSuspicious,   Status::kWaived};

Finding FoundWithNext(const std::string& rule, Status status, const std::string& message) {
  Finding finding = Found(rule, status, message);
  finding.next = "do this";
  return finding;
}

CaseVerdict CaseOf(const std::string& name, std::vector<Finding> findings) {
  CaseVerdict item;
  item.case_name = name;
  item.status = Status::kSkipped;
  for (const Finding& finding : findings) {
    if (Weight(finding.status) > Weight(item.status)) item.status = finding.status;
  }
  item.findings = std::move(findings);
  return item;
}

Verdict Of(std::vector<CaseVerdict> cases) {
  Verdict verdict;
  verdict.suite = "demo";
  verdict.suite_file = "bench/perfgate.yaml";
  verdict.cases = std::move(cases);
  Settle(verdict);
  return verdict;
}

Verdict OneFinding(Status status) {
  return Of({CaseOf("geglu", {FoundWithNext("mine.yaml/p50", status, "kernels 4 -> 5")})});
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines = Split(text, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  return lines;
}

TEST(Junit, FailsTheBuildIfAndOnlyIfTheVerdictDoes) {
  for (const Status status : kAllStatuses) {
    const Verdict verdict = OneFinding(status);
    const bool red = verdict.exit_code != 0;
    const std::string text = VerdictAsJunit(verdict);
    const bool marked = text.find("failures=\"0\" errors=\"0\">") == std::string::npos;
    EXPECT_EQ(marked, red) << ToString(status) << "\n" << text;
  }
}

TEST(Junit, WhatIsLetThroughOrNotJudgedIsNoPass) {
  const std::map<Status, std::string> outcomes = {
      {Status::kPass, ""},
      {Status::kImproved, ""},
      {Status::kFail, "<failure type=\"fail\" message=\"kernels 4 -&gt; 5\">"},
      {Status::kError, "<error type=\"error\""},
      {Status::kSuspicious, "<error type=\"suspicious\""},
      {Status::kMissing, "<error type=\"missing\""},
      {Status::kNotComparable, "<error type=\"not_comparable\""},
      {Status::kInconclusive, "<error type=\"inconclusive\""},
      {Status::kWarn, "<skipped type=\"warn\" message=\"warning: kernels 4 -&gt; 5\">"},
      {Status::kWaived, "<skipped type=\"waived\" message=\"waived: kernels 4 -&gt; 5\">"},
      {Status::kSkipped, "<skipped type=\"skipped\" message=\"skipped: kernels 4 -&gt; 5\">"}};
  for (const auto& [status, outcome] : outcomes) {
    const std::string text = VerdictAsJunit(OneFinding(status));
    const std::string head = "<testcase classname=\"geglu\" name=\"mine.yaml/p50\"";
    EXPECT_THAT(text, HasSubstr(head + (outcome.empty() ? "/>" : ">\n      " + outcome)));
  }
}

TEST(Junit, ARuleOnSeveralMetricsIsOneTestCaseWithTheWorstOfThem) {
  const std::string text =
      VerdictAsJunit(Of({CaseOf("geglu", {FoundWithNext("a", Status::kPass, "kernels stay"),
                                          FoundWithNext("a", Status::kFail, "launches rise"),
                                          FoundWithNext("a", Status::kFail, "copies rise"),
                                          FoundWithNext("b", Status::kPass, "fine")})}));
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(text, AllOf(HasSubstr("message=\"launches rise; copies rise\""),
                          Not(HasSubstr("kernels stay"))));
}

TEST(Junit, ACaseWhoseRulesAreOffStillFailsWhereItsEvidenceIsIncomplete) {
  CaseVerdict item = CaseOf("geglu", {FoundWithNext("a", Status::kSkipped, "switched off")});
  item.status = Status::kError;
  item.incomplete_because = {"killed by SIGSEGV"};
  EXPECT_THAT(VerdictAsJunit(Of({item})),
              AllOf(HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\""),
                    HasSubstr("name=\"perfgate:case\""), HasSubstr("killed by SIGSEGV")));
}

TEST(Junit, AProblemOfTheWholeRunIsAnErrorOfASuiteOfItsOwn) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.problems = {"perfgate.yaml:3:5: unknown key <x>"};
  EXPECT_THAT(VerdictAsJunit(verdict),
              AllOf(HasSubstr("<testsuite name=\"perfgate:run\" tests=\"1\" failures=\"0\" "
                              "errors=\"1\" skipped=\"0\">"),
                    HasSubstr("message=\"perfgate.yaml:3:5: unknown key &lt;x&gt;\"")));
}

TEST(Junit, AFailureTellsTheChangeItsReasonAndTheNextCommand) {
  Finding finding = FoundWithNext("a", Status::kFail, "one fused kernel came apart");
  finding.changes = {0, 7};
  CaseVerdict item = CaseOf("geglu", {finding});
  item.diff = Diff();
  item.diff->changes.resize(1);
  Change& change = item.diff->changes.front();
  change.text = "one fused kernel came apart";
  change.base = {{"fused", "fused", "fused_gelu_mul", "aten::gelu", "cuda:0", {"gelu"}, 1, 4130}};
  change.operators = {"aten::gelu"};
  EXPECT_THAT(VerdictAsJunit(Of({item})),
              AllOf(HasSubstr(">\none fused kernel came apart\n  - fused_gelu_mul "),
                    HasSubstr("1 x  4.13 us   gelu\n"), HasSubstr("called by aten::gelu\n"),
                    HasSubstr("\nwhy: why of a\n"), HasSubstr("\nnext: do this\n"),
                    HasSubstr("\nrule: rules/mine.yaml:3:5\n")));
}

TEST(Junit, ANameCannotBreakOutOfAnAttributeOrATextAndIsAllowedInXml) {
  const std::string name =
      "a\"'<b>&]]><!--\x1b[31m\n\x01\xff\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\xe2\x80\xae";
  Verdict verdict = Of({CaseOf(name, {FoundWithNext(name, Status::kFail, name)})});
  verdict.suite = name;
  const std::string text = VerdictAsJunit(verdict);
  EXPECT_THAT(text,
              HasSubstr("name=\"a&quot;&apos;&lt;b&gt;&amp;]]&gt;&lt;!--\\x1b[31m\\x0a\\x01"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xef\xbf\xbe")),
                          Not(HasSubstr("\xef\xbf\xbf")), Not(HasSubstr("\xe2\x80\xae")),
                          Not(HasSubstr("]]>"))));
  for (size_t at = 0; at < text.size(); at += Utf8SequenceLength(text, at)) {
    ASSERT_NE(Utf8SequenceLength(text, at), 0U) << at;
  }
}

TEST(Junit, PrintedIntoALogItHoldsNoCommand) {
  const std::string name = "::error::a ##[error]b";
  Verdict verdict = Of({CaseOf(name, {FoundWithNext(name, Status::kFail, name)})});
  verdict.problems = {name};
  const std::string text = VerdictAsJunit(verdict);
  EXPECT_THAT(text, AllOf(HasSubstr("\n> ::error::a # #[error]b\n"), Not(HasSubstr("##["))));
  for (const std::string& line : LinesOf(text)) EXPECT_FALSE(Trim(line).starts_with("::")) << line;
  EXPECT_THAT(WriteJson(VerdictAsGitlab(verdict)), HasSubstr("failed: ::error::a # #[error]b"));
}

TEST(Github, AFailureStandsOnTheLineOfItsRule) {
  EXPECT_EQ(VerdictAsGithub(OneFinding(Status::kFail)),
            "::error file=rules/mine.yaml,line=3,col=5,title=perfgate%3A p50 failed::"
            "geglu: kernels 4 -> 5%0Awhy: why of mine.yaml/p50%0Anext: do this\n");
}

TEST(Github, WarningsWarnWaiversAreNoticedAndPassesSayNothing) {
  EXPECT_THAT(VerdictAsGithub(OneFinding(Status::kWarn)), StartsWith("::warning file="));
  EXPECT_THAT(VerdictAsGithub(OneFinding(Status::kWaived)), StartsWith("::notice file="));
  for (const Status status : {Status::kPass, Status::kImproved, Status::kSkipped}) {
    EXPECT_EQ(VerdictAsGithub(OneFinding(status)), "") << ToString(status);
  }
}

TEST(Github, SaysAnErrorWheneverTheVerdictIsRed) {
  for (const Status status : kAllStatuses) {
    const Verdict verdict = OneFinding(status);
    EXPECT_EQ(VerdictAsGithub(verdict).starts_with("::error "), verdict.exit_code != 0)
        << ToString(status);
  }
}

TEST(Github, ARuleOfAPackPointsAtTheSuiteThatNamesThePack) {
  Finding finding =
      FoundWithNext("perfgate:structure/no-extra-kernel", Status::kFail, "more kernels");
  finding.where = {"perfgate:structure", 12, 5};
  Verdict verdict = Of({CaseOf("geglu", {finding})});
  EXPECT_THAT(VerdictAsGithub(verdict),
              StartsWith("::error file=bench/perfgate.yaml,line=1,title="));
  verdict.suite_file = "";
  EXPECT_THAT(VerdictAsGithub(verdict), StartsWith("::error title=perfgate%3A no-extra-kernel"));
}

TEST(Github, ARuleThatFailsInSeveralCasesIsOneAnnotation) {
  const Verdict verdict = Of({CaseOf("a", {FoundWithNext("r", Status::kFail, "4 -> 5")}),
                              CaseOf("b", {FoundWithNext("r", Status::kFail, "7 -> 9")})});
  EXPECT_THAT(LinesOf(VerdictAsGithub(verdict)),
              ElementsAre(HasSubstr("::a: 4 -> 5%0Ab: 7 -> 9%0A")));
}

TEST(Github, WhatEveryRuleOfACaseSaysIsOneAnnotation) {
  const Verdict verdict = Of({CaseOf("a", {FoundWithNext("r", Status::kMissing, "no baseline"),
                                           FoundWithNext("s", Status::kMissing, "no baseline")})});
  EXPECT_THAT(LinesOf(VerdictAsGithub(verdict)),
              ElementsAre("::error file=bench/perfgate.yaml,line=1,title=perfgate%3A a no baseline"
                          "::no baseline%0Asaid by 2 rules"));
}

TEST(Github, OfMoreThanItShowsTheLastSaysHowManyAreLeftOut) {
  std::vector<Finding> findings;
  for (int i = 0; i < 10; ++i) {
    findings.push_back(FoundWithNext("r" + std::to_string(i), Status::kFail, std::to_string(i)));
  }
  EXPECT_THAT(LinesOf(VerdictAsGithub(Of({CaseOf("a", findings)}))).back(),
              HasSubstr("title=perfgate%3A r9 failed"));
  findings.push_back(FoundWithNext("r10", Status::kFail, "10"));
  const auto lines = LinesOf(VerdictAsGithub(Of({CaseOf("a", findings)})));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.back(), "::error title=perfgate::2 more like these: see the job summary");
}

TEST(Github, NoNameCanStartACommandOrEndAProperty) {
  const std::string name = "x\n::set-output name=a::b\r##[error]c%0A::error::d,line=9::\x1b[2J";
  Finding finding = FoundWithNext(name, Status::kFail, name);
  finding.where.file = "a,b:c%.yaml";
  finding.why = finding.next = name;
  Verdict verdict = Of({CaseOf(name, {finding})});
  verdict.problems = {"::error::" + name};
  const auto lines = LinesOf(VerdictAsGithub(verdict));
  ASSERT_EQ(lines.size(), 2U);
  for (const std::string& line : lines) {
    EXPECT_THAT(line, AllOf(StartsWith("::error "), Not(HasSubstr("##[")), Not(HasSubstr("\r")),
                            Not(HasSubstr("\x1b"))));
  }
  EXPECT_THAT(lines[1], StartsWith("::error file=a%2Cb%3Ac%25.yaml,line=3,col=5,title="));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("c%250A"), Not(HasSubstr("c%0A"))));
}

TEST(Github, AMistakeOfAFileStandsOnItsLine) {
  Verdict verdict;
  verdict.problems = {"rules/a.yaml:3:5: unknown key: x\nperfgate.yaml:12:1: another\nand 2 more",
                      "no case was judged; check --case: none"};
  EXPECT_THAT(
      LinesOf(VerdictAsGithub(verdict)),
      ElementsAre(
          "::error file=rules/a.yaml,line=3,col=5,title=perfgate%3A problem::unknown key: x",
          "::error file=perfgate.yaml,line=12,col=1,title=perfgate%3A problem::another%0A"
          "and 2 more",
          "::error title=perfgate%3A problem::no case was judged; check --case: none"));
  const Json issues = VerdictAsGitlab(verdict);
  ASSERT_EQ(issues.AsArray().size(), 3U);
  const Json& place = issues.AsArray()[1].At("location");
  EXPECT_EQ(place.At("path").AsString(), "perfgate.yaml");
  EXPECT_EQ(place.At("lines").At("begin").AsInt(), 12);
}

TEST(Gitlab, AnIssueNamesTheRuleItsPlaceAndItsWeight) {
  EXPECT_EQ(WriteJson(VerdictAsGitlab(OneFinding(Status::kFail)), 1),
            "[\n  {\"description\": \"geglu: failed: kernels 4 -> 5\", \"check_name\": "
            "\"mine.yaml/p50\", \"fingerprint\": \"" +
                Hash16("perfgate\ngeglu\nmine.yaml/p50") +
                "\", \"severity\": \"major\", \"location\": {\"path\": \"rules/mine.yaml\", "
                "\"lines\": {\"begin\": 3}}}\n]\n");
}

TEST(Gitlab, WhatDidNotPassIsAnIssueAndNothingElse) {
  const std::map<Status, std::string> severities = {
      {Status::kFail, "major"},          {Status::kError, "critical"},
      {Status::kSuspicious, "critical"}, {Status::kMissing, "major"},
      {Status::kNotComparable, "major"}, {Status::kInconclusive, "major"},
      {Status::kWarn, "minor"},          {Status::kWaived, "info"}};
  for (const Status status : kAllStatuses) {
    const Json issues = VerdictAsGitlab(OneFinding(status));
    const auto expected = severities.find(status);
    ASSERT_EQ(issues.AsArray().size(), expected == severities.end() ? 0U : 1U) << ToString(status);
    if (expected == severities.end()) continue;
    EXPECT_EQ(issues.AsArray()[0].At("severity").AsString(), expected->second);
  }
}

TEST(Gitlab, AFingerprintStaysWhenNumbersChangeAndIsOfOneCaseAndRule) {
  const auto fingerprint = [](const std::string& case_name, const std::string& message) {
    const Json issues =
        VerdictAsGitlab(Of({CaseOf(case_name, {FoundWithNext("r", Status::kFail, message)})}));
    return issues.AsArray().at(0).At("fingerprint").AsString();
  };
  EXPECT_EQ(fingerprint("a", "4 -> 5"), fingerprint("a", "4 -> 6"));
  EXPECT_NE(fingerprint("a", "4 -> 5"), fingerprint("b", "4 -> 5"));
}

}  // namespace
}  // namespace perfgate
