// The verdict for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"
#include "report_verdicts.h"

namespace perfgate {
namespace {

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

TEST(VerdictJson, ReadBackSaysWhatThereIsNothingOfToCompareWith) {
  Verdict verdict;
  verdict.result = Result::kNotComparable;
  verdict.cases.emplace_back().findings = {Found("p/a", Status::kNotComparable, "too few runs")};
  Finding& finding = verdict.cases[0].findings[0];
  const auto title = [&] {
    const std::string text = VerdictAsMarkdown(VerdictFromJson(VerdictAsJson(verdict)));
    return text.substr(0, text.find('\n'));
  };
  finding.lacks = Lack::kHistory;
  EXPECT_THAT(title(), testing::HasSubstr("the case has not enough history"));
  finding.lacks = Lack::kSince;
  EXPECT_THAT(title(), testing::HasSubstr("the case has no stored run of a rule's 'since'"));
  finding.lacks = Lack::kSameWork;
  EXPECT_THAT(title(), testing::HasSubstr("the case has no base of the same work"));
  finding.lacks = Lack::kPairs;
  EXPECT_THAT(title(), testing::HasSubstr("the case has no pairs with a base"));
  finding.status = Status::kMissing;
  EXPECT_THAT(title(), testing::HasSubstr("NOT COMPARABLE, the case has no pairs with a base"));
  verdict.cases.push_back(verdict.cases[0]);
  verdict.cases[1].findings[0].lacks = Lack::kBaseline;
  EXPECT_THAT(title(), testing::HasSubstr("nothing to compare with for 2 of 2 cases"));
}

TEST(VerdictJson, IsTheSameTextTwice) {
  EXPECT_EQ(WriteJson(VerdictAsJson(Failing())), WriteJson(VerdictAsJson(Failing())));
}

}  // namespace
}  // namespace perfgate
