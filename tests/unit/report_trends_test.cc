// Trends as text, JSON and pictures, whatever commits and cases are called.
#include <gmock/gmock.h>

#include "base/json.h"
#include "report/report.h"

namespace perfgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "</svg><script>x()</script>\x1b[31m\"'";

Trend TrendOf(MetricId metric, const std::vector<std::optional<double>>& values,
              const std::string& case_name = "geglu") {
  Trend trend;
  trend.case_name = case_name;
  trend.key = "0123456789abcdef";
  trend.metric = metric;
  for (size_t i = 0; i < values.size(); ++i) {
    trend.points.push_back({"run" + std::to_string(i), "2027-01-31T10:15:00Z",
                            "abc" + std::to_string(i) + "000", "abc" + std::to_string(i), values[i],
                            ""});
  }
  FindChanges(trend);
  return trend;
}

// Ten runs at 100 us, ten at 110 us.
Trend Slower() {
  std::vector<std::optional<double>> values;
  for (int i = 0; i < 20; ++i) values.emplace_back((i < 10 ? 100'000 : 110'000) + 100 * (i % 3));
  return TrendOf(MetricId::kLatencyP50, values);
}

TEST(TrendsAsText, MarkTheChangeInThePictureAndAtItsRun) {
  const Trend slower = Slower();
  const std::string text = TrendsAsText(std::span(&slower, 1));
  EXPECT_THAT(text, HasSubstr("geglu  latency.p50  (key 01234567)  ▁▁▁▁▁▁▁▁▁▁|██████████\n"));
  EXPECT_THAT(text,
              HasSubstr("abc10           110 us  <- 100 us -> 110 us (+10.0 %) between abc9 and "
                        "abc10\n"));
  EXPECT_THAT(text, Not(HasSubstr("no change")));
}

TEST(TrendsAsText, SayThatNothingChangedAndThatRunsAreTooFew) {
  std::vector<std::optional<double>> values(13, 100'000);
  const Trend same = TrendOf(MetricId::kLatencyP50, values);
  EXPECT_THAT(TrendsAsText(std::span(&same, 1)),
              HasSubstr("  no change beyond the noise in 13 runs\n"));
  values.pop_back();
  const Trend few = TrendOf(MetricId::kLatencyP50, values);
  EXPECT_THAT(TrendsAsText(std::span(&few, 1)),
              HasSubstr("too few runs to tell a change from noise: 12 of the 13 that it takes"));
}

TEST(TrendsAsJson, HoldEveryPointAndTheCommitsOfAChange) {
  const Trend trend = TrendOf(MetricId::kKernels, {3, std::nullopt, 4});
  const Json json = TrendsAsJson(std::span(&trend, 1));
  EXPECT_EQ(json.Find("schema")->AsString(), "perfgate.history/1");
  const Json& series = json.Find("series")->AsArray()[0];
  EXPECT_EQ(series.Find("points")->AsArray().size(), 3u);
  EXPECT_TRUE(series.Find("points")->AsArray()[1].Find("value")->IsNull());
  const Json& change = series.Find("changes")->AsArray()[0];
  EXPECT_EQ(change.Find("last_commit_before")->AsString(), "abc0000");
  EXPECT_EQ(change.Find("first_commit_after")->AsString(), "abc2000");
  EXPECT_EQ(change.Find("after")->AsNumber(), 4);
}

TEST(TrendsAsHtml, DrawWhatVariesAndListWhatDoesNot) {
  const std::vector<Trend> trends = {TrendOf(MetricId::kKernels, {3, 3}),
                                     TrendOf(MetricId::kLaunches, {3, 4}), Slower()};
  const std::string page = TrendsAsHtml(trends);
  EXPECT_THAT(page, HasSubstr("<title>launches over 2 runs, from 3 to 4, 1 change</title>"));
  EXPECT_THAT(
      page, HasSubstr("<title>latency.p50 over 20 runs, from 100 us to 110 us, 1 change</title>"));
  EXPECT_THAT(page, HasSubstr("3 -&gt; 4 between abc0 and abc1"));
  EXPECT_THAT(page, HasSubstr("The same in all 20 runs: <code>kernels</code>."));
  EXPECT_THAT(page, HasSubstr("History of 1 case"));
}

TEST(TrendsAsHtml, OfOneRunSayThatItIsNone) {
  const Trend one = TrendOf(MetricId::kKernels, {3});
  EXPECT_THAT(TrendsAsHtml(std::span(&one, 1)), HasSubstr("One run is no history."));
  EXPECT_THAT(TrendsAsHtml({}), HasSubstr("History of 0 cases"));
}

TEST(Trends, OfHostileNamesAreHarmless) {
  Trend trend = TrendOf(MetricId::kKernels, {3, 4}, kHostile);
  for (TrendPoint& point : trend.points) {
    point.commit = point.short_commit = point.started = kHostile;
  }
  trend.points[1].short_commit += "2";
  const std::string page = TrendsAsHtml(std::span(&trend, 1));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script>x")), Not(HasSubstr("\x1b")),
                          HasSubstr("&lt;/svg&gt;&lt;script&gt;x()")));
  EXPECT_THAT(TrendsAsText(std::span(&trend, 1)), Not(HasSubstr("\x1b")));
}

TEST(Verdicts, ShowTheTrendOfTheirCases) {
  Verdict verdict;
  verdict.cases.emplace_back().case_name = "geglu";
  const std::vector<Trend> trends = {TrendOf(MetricId::kKernels, {3, 4}),
                                     TrendOf(MetricId::kKernels, {7, 8}, "other")};
  const std::string page = VerdictAsHtml(verdict, {}, trends);
  EXPECT_THAT(page, AllOf(HasSubstr("Over the stored runs"), HasSubstr("3 -&gt; 4 between abc0")));
  EXPECT_THAT(page, Not(HasSubstr("7 -&gt; 8")));
  EXPECT_THAT(VerdictAsHtml(verdict, {}), Not(HasSubstr("Over the stored runs")));
}

}  // namespace
}  // namespace perfgate
