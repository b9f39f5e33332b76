#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "stats/stats.h"

namespace perfgate {
namespace {

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
