#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"

namespace perfgate {
namespace {

using testing::HasSubstr;
using testing::Not;

Verdict With(Review review) {
  Verdict verdict;
  verdict.review = std::move(review);
  CaseVerdict item;
  item.case_name = "gelu";
  item.status = Status::kFail;
  Finding finding;
  finding.rule = "perfgate:structure/no-extra-kernel";
  finding.case_name = "gelu";
  finding.status = Status::kFail;
  finding.message = "kernels 1 -> 2 a step";
  item.findings.push_back(finding);
  verdict.cases.push_back(item);
  return verdict;
}

Review Hostile() {
  const std::string evil =
      "</p></details><script>alert(1)</script> @octo `x` | [a](http://b)\n::error::x ##[error]y";
  // A name stands in a code span, in which only a backtick has a meaning.
  return {evil,
          evil,
          {{Effect::kWaives, "a`b", evil, evil}, {Effect::kAccepts, "b", evil, evil}},
          true};
}

TEST(ReviewReport, NothingOfWhatAChangeSaysIsMarkupOrACommand) {
  const Verdict verdict = With(Hostile());
  const std::string html = VerdictAsHtml(verdict, {});
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert(1)")));
  const std::string markdown = VerdictAsMarkdown(verdict);
  EXPECT_THAT(markdown, HasSubstr("**waives** `a'b`: "));
  for (const char* raw : {"\n::error", "##[error]", " @octo", "](http://b)"}) {
    EXPECT_THAT(markdown, Not(HasSubstr(raw)));
  }
  const std::string text = VerdictAsText(verdict, {});
  EXPECT_THAT(text, HasSubstr("waives"));
  for (const char* raw : {"\n::error", "##[error]"}) EXPECT_THAT(text, Not(HasSubstr(raw)));
}

TEST(ReviewReport, ALongReviewLeavesRoomForWhatFailed) {
  Review review{"1a2b3c4", "", {}};
  for (int i = 0; i < 5'000; ++i) {
    review.items.push_back({Effect::kLoosens, "rules/mine.yaml/" + std::to_string(i),
                            std::string(5'000, '|'), std::string(5'000, '&')});
  }
  const std::string markdown = VerdictAsMarkdown(With(review));
  EXPECT_LT(markdown.size(), 60'000U);
  EXPECT_THAT(markdown, HasSubstr("this change loosens 5000"));
  EXPECT_THAT(markdown, testing::ContainsRegex("- and [0-9]+ more: see the JSON report"));
  EXPECT_THAT(markdown, HasSubstr("kernels 1 -&gt; 2 a step"));
}

TEST(ReviewReport, ItIsReadBackFromJsonAsItWasWritten) {
  const Verdict verdict = With(Hostile());
  const Verdict read = VerdictFromJson(VerdictAsJson(verdict));
  ASSERT_TRUE(read.review);
  EXPECT_EQ(read.review->problem, verdict.review->problem);
  ASSERT_EQ(read.review->items.size(), 2U);
  EXPECT_EQ(read.review->items[1].effect, Effect::kAccepts);
  EXPECT_EQ(VerdictAsMarkdown(read), VerdictAsMarkdown(verdict));
}

TEST(ReviewReport, WhatWasComparedIsKnownAlsoWhereItHasNoNews) {
  Review review{"1a2b3c4", "the baselines are not compared: a link", {}, true};
  EXPECT_THAT(ReviewAsText(review, {}),
              HasSubstr("this change waives, loosens and accepts nothing"));
  EXPECT_THAT(ReviewAsText(review, {}), HasSubstr("not all of what this change accepts"));
  const std::string html = VerdictAsHtml(With(review), {});
  EXPECT_THAT(html, HasSubstr("not all of what this change accepts"));
  const Verdict read = VerdictFromJson(VerdictAsJson(With(review)));
  EXPECT_TRUE(read.review->compared);
  review.compared = false;
  EXPECT_THAT(ReviewAsText(review, {}), HasSubstr("nothing of what this change accepts"));
  EXPECT_THAT(ReviewAsText(review, {}), Not(HasSubstr("waives, loosens and accepts nothing")));
  EXPECT_FALSE(VerdictFromJson(VerdictAsJson(With(review))).review->compared);
}

TEST(ReviewReport, AnUnknownEffectIsRefused) {
  const std::string text = WriteJson(VerdictAsJson(With(Hostile())), 6);
  std::string other = text;
  const size_t at = other.find("\"waives\"");
  ASSERT_NE(at, std::string::npos);
  other.replace(at, 8, "\"<waives\"");
  EXPECT_THROW(VerdictFromJson(ParseJson(other, "verdict")), Error);
}

TEST(ReviewReport, AVerdictWithoutNewsIsSilent) {
  const Verdict verdict = With({"1a2b3c4", "", {}});
  EXPECT_THAT(VerdictAsText(verdict, {}), Not(HasSubstr("this change")));
  EXPECT_THAT(VerdictAsMarkdown(verdict), Not(HasSubstr("this change")));
  EXPECT_THAT(VerdictAsHtml(verdict, {}), Not(HasSubstr("this change")));
  EXPECT_THAT(ReviewAsText(*verdict.review, {}), HasSubstr("waives, loosens and accepts nothing"));
}

}  // namespace
}  // namespace perfgate
