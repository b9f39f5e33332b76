// The verdict as the text of a comment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "report/report.h"
#include "report_verdicts.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  EXPECT_EQ(Count(text, "\n```diff\n"), Count(text, "If it is meant:\n```sh\n"));
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

}  // namespace
}  // namespace perfgate
