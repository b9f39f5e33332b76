#include <gmock/gmock.h>

#include "trend/trend.h"

namespace perfgate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Trend TrendOf(MetricId metric, const std::vector<std::optional<double>>& values) {
  Trend trend;
  trend.case_name = "geglu";
  trend.key = "0123456789abcdef";
  trend.metric = metric;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string commit = "commit" + std::to_string(i);
    trend.points.push_back({"run" + std::to_string(i), "2027-01-31T10:15:00Z", commit + "000000",
                            commit, values[i], ""});
  }
  FindChanges(trend);
  return trend;
}

// `count` values about a level, of a machine that varies by 0.5 %.
void Add(std::vector<std::optional<double>>& values, int count, double level) {
  for (int i = 0; i < count; ++i) values.emplace_back(level * (1 + 0.001 * ((i * 5) % 7 - 3)));
}

TEST(Trends, OfAnExactMetricChangeWithEveryOtherValue) {
  const Trend trend = TrendOf(MetricId::kKernels, {3, 3, 4, 4, 3});
  ASSERT_THAT(trend.changes, SizeIs(2));
  EXPECT_EQ(SizeOf(trend.changes[0], trend), "3 -> 4");
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "between commit1 and commit2");
  EXPECT_EQ(PlaceOf(trend.changes[1], trend), "between commit3 and commit4");
  EXPECT_TRUE(trend.searched);
}

TEST(Trends, SpanRunsWithoutAValue) {
  const Trend trend = TrendOf(MetricId::kKernels, {3, {}, {}, 4});
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "between commit0 and commit3");
  EXPECT_EQ(trend.measured, 2u);
  EXPECT_THAT(TrendOf(MetricId::kKernels, {{}, {}}).changes, IsEmpty());
}

TEST(Trends, OfANoisyMetricChangeWhereTheLevelDoes) {
  std::vector<std::optional<double>> values;
  Add(values, 12, 100'000);
  values.emplace_back();
  Add(values, 8, 110'000);
  const Trend trend = TrendOf(MetricId::kLatencyP50, values);
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "between commit11 and commit13");
  EXPECT_EQ(SizeOf(trend.changes[0], trend), "100 us -> 110 us (+9.9 %)");
}

TEST(Trends, OfTimesOnTheGpuAreNotSearchedForEveryDifference) {
  std::vector<std::optional<double>> values;
  Add(values, 30, 5'000);
  EXPECT_THAT(TrendOf(MetricId::kGpuTime, values).changes, IsEmpty());
}

TEST(Trends, OfFewNoisyRunsAreNotSearched) {
  std::vector<std::optional<double>> values;
  Add(values, 6, 100'000);
  Add(values, 6, 200'000);
  const Trend few = TrendOf(MetricId::kLatencyP50, values);
  EXPECT_FALSE(few.searched);
  EXPECT_THAT(few.changes, IsEmpty());
  Add(values, 1, 200'000);
  const Trend enough = TrendOf(MetricId::kLatencyP50, values);
  EXPECT_TRUE(enough.searched);
  EXPECT_THAT(enough.changes, SizeIs(1));
}

TEST(Trends, ThatChangeAtOneCommitAreNotPutDownToTheCode) {
  Trend trend = TrendOf(MetricId::kKernels, {3, 4});
  trend.points[1].commit = trend.points[0].commit;
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "between commit0 and commit1");  // one is uncommitted
  trend.points[1].short_commit = trend.points[0].short_commit;
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "at commit0 itself");
  trend.points[0].short_commit = trend.points[1].short_commit = "commit0+";
  EXPECT_EQ(PlaceOf(trend.changes[0], trend), "within the uncommitted changes of commit0+");
}

TEST(Trends, WithoutCommitsNameTheTime) {
  Trend trend = TrendOf(MetricId::kKernels, {3, 4});
  for (TrendPoint& point : trend.points) point.commit = point.short_commit = "";
  trend.points[1].started = "2027-02-01T00:00:00Z";
  EXPECT_EQ(PlaceOf(trend.changes[0], trend),
            "between 2027-01-31T10:15:00Z and 2027-02-01T00:00:00Z");
}

TEST(Trends, MakeHostileCommitsPrintable) {
  Trend trend = TrendOf(MetricId::kKernels, {3, 4});
  trend.points[1].short_commit = "\x1b[31m\n\xff";
  EXPECT_THAT(PlaceOf(trend.changes[0], trend), Not(HasSubstr("\x1b")));
  EXPECT_THAT(PlaceOf(trend.changes[0], trend), Not(HasSubstr("\n")));
}

TEST(Trends, SayWhyAPointHasNoValue) {
  TrendPoint point;
  EXPECT_EQ(ValueOf(point, MetricId::kGpuTime), "varies");
  point.unavailable = "no GPU";
  EXPECT_EQ(ValueOf(point, MetricId::kGpuTime), "n/a");
  point.value = 1500;
  EXPECT_EQ(ValueOf(point, MetricId::kGpuTime), "1.50 us");
}

}  // namespace
}  // namespace perfgate
