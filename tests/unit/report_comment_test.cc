// What a reviewer reads of findings in the comment: rows, and commands to copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"

namespace perfgate {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Finding Failed(const std::string& rule, const std::string& message) {
  Finding finding;
  finding.rule = rule;
  finding.status = Status::kFail;
  finding.message = message;
  return finding;
}

std::string CommentOf(const std::vector<Finding>& findings) {
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = Status::kFail;
  item.findings = findings;
  Verdict verdict;
  verdict.result = Result::kFail;
  verdict.cases = {item};
  return VerdictAsMarkdown(verdict);
}

TEST(Comment, FindingsThatSayTheSameAreOneRow) {
  EXPECT_THAT(CommentOf({Failed("p/a", "torn"), Failed("p/a", "torn"), Failed("p/b", "torn")}),
              EndsWith("| --- | --- | --- |\n| `a`, `b` | failed | torn |\n"));
}

TEST(Comment, ACommandThatAcceptsIsOfferedOnlyForWhatIsMeant) {
  Finding torn = Failed("p/a", "torn");
  torn.next = "perfgate baseline accept --case 'geglu' --rule 'p/a' --reason '…'";
  const std::string text = CommentOf({torn});
  EXPECT_THAT(text, HasSubstr("\nIf it is meant:\n```sh\n" + torn.next + "\n```\n"));
  EXPECT_THAT(text, Not(HasSubstr("Next:")));
}

TEST(Comment, ALongCommandIsBrokenBeforeOptionsAndNeverInsideQuotes) {
  const std::string name = "'" + std::string(80, 'n') + " --x'";
  Finding torn = Failed("p/a", "torn");
  torn.next = "perfgate baseline accept --case " + name + " --rule 'p/a' --reason '…'";
  EXPECT_THAT(CommentOf({torn}), HasSubstr("```sh\nperfgate baseline accept \\\n  --case " + name +
                                           " \\\n  --rule 'p/a' --reason '…'\n```\n"));
}

TEST(Comment, AnApostropheInAQuotedNameEndsNoQuotes) {
  const std::string name = "'it'\\''s " + std::string(80, 'n') + " --x'";
  Finding torn = Failed("p/a", "torn");
  torn.next = "perfgate baseline accept --case " + name + " --rule 'p/a' --reason '…'";
  EXPECT_THAT(CommentOf({torn}), HasSubstr("```sh\nperfgate baseline accept \\\n  --case " + name +
                                           " \\\n  --rule 'p/a' --reason '…'\n```\n"));
}

}  // namespace
}  // namespace perfgate
