#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "stats/stats.h"

namespace perfgate {
namespace {

TEST(Medians, OfAnEvenNumberAreTheMeanOrTheLowerOne) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(LowerMedian({}), 0);
  EXPECT_EQ(LowerMedian({3, 1, 2}), 2);
  EXPECT_EQ(LowerMedian({4, 1, 2, 3}), 2);
}

// SciPy 1.17: median_abs_deviation([1.5, 2, 9, 3.5, 4, 2.5]).
TEST(Medians, OfDistancesFromTheMedianIgnoreAnOutlier) {
  EXPECT_DOUBLE_EQ(MedianAbsoluteDeviation({1.5, 2, 9, 3.5, 4, 2.5}), 1);
  EXPECT_EQ(MedianAbsoluteDeviation({}), 0);
}

TEST(Percentiles, NeedEnoughSamples) {
  EXPECT_EQ(MinimumSamples(0.5), 5);
  EXPECT_EQ(MinimumSamples(0.95), 59);
  EXPECT_EQ(MinimumSamples(0.99), 299);
  std::vector<int64_t> samples(298, 7);
  EXPECT_EQ(Percentile(samples, 0.99), std::nullopt);
  samples.push_back(7);
  EXPECT_EQ(Percentile(samples, 0.99), 7);
  EXPECT_EQ(Percentile({}, 0.5), std::nullopt);
}

TEST(Percentiles, AreByNearestRank) {
  std::vector<int64_t> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1);
  EXPECT_EQ(Percentile(samples, 0.5), 50);
  EXPECT_EQ(Percentile(samples, 0.95), 95);
}

// Ranks of the interval's ends: the samples are their own ranks. SciPy 1.17 gives the same:
// quantile_test(range(1, n + 1), p=p).confidence_interval(0.95).
TEST(IntervalsOfPercentiles, AreOrderStatistics) {
  const auto ranks = [](int n, double p) {
    std::vector<int64_t> samples(static_cast<size_t>(n));
    std::iota(samples.rbegin(), samples.rend(), 1);
    const auto interval = IntervalOfPercentile(samples, p);
    return interval ? std::pair(interval->low, interval->high) : std::pair<int64_t, int64_t>(0, 0);
  };
  EXPECT_EQ(ranks(30, 0.5), std::pair(10L, 21L));
  EXPECT_EQ(ranks(200, 0.95), std::pair(184L, 197L));
  EXPECT_EQ(ranks(1000, 0.95), std::pair(936L, 964L));
  EXPECT_EQ(ranks(400, 0.99), std::pair(392L, 400L));
  EXPECT_EQ(ranks(1000, 0.99), std::pair(983L, 997L));
  EXPECT_EQ(ranks(10000, 0.99), std::pair(9880L, 9920L));
}

TEST(IntervalsOfPercentiles, NeedEnoughSamples) {
  EXPECT_EQ(MinimumSamplesOfInterval(0.5), 6);
  EXPECT_EQ(MinimumSamplesOfInterval(0.95), 72);
  EXPECT_EQ(MinimumSamplesOfInterval(0.99), 368);
  EXPECT_EQ(MinimumSamplesOfInterval(0.99, 0.99), 528);
  EXPECT_FALSE(IntervalOfPercentile(std::vector<int64_t>(5, 7), 0.5));
  const auto least = IntervalOfPercentile(std::vector<int64_t>{3, 1, 2, 6, 5, 4}, 0.5);
  ASSERT_TRUE(least);
  EXPECT_EQ(least->low, 1);
  EXPECT_EQ(least->high, 6);
  EXPECT_FALSE(IntervalOfPercentile({}, 0.5));
}

}  // namespace
}  // namespace perfgate
