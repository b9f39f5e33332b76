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

}  // namespace
}  // namespace perfgate
