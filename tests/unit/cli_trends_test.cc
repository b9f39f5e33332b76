#include "cli/trends.h"

#include <gtest/gtest.h>

namespace perfgate::cli {
namespace {

HistoryPoint Point(const std::string& key, MetricId metric, double value) {
  return {.metric = metric,
          .run_id = "r",
          .started = "2027-01-31T10:15:00Z",
          .commit = "1a2b3c4d5e6f",
          .case_name = "geglu",
          .dirty = true,
          .key = key,
          .value = value,
          .unavailable = ""};
}

TEST(Trends, AreOfOneKeyAlthoughTwoMachinesMeasureByTurns) {
  const std::vector<HistoryPoint> points = {
      Point("h200", MetricId::kLaunches, 9), Point("a100", MetricId::kKernels, 5),
      Point("h200", MetricId::kKernels, 3),  Point("a100", MetricId::kKernels, 5),
      Point("h200", MetricId::kKernels, 4),
  };
  const std::vector<Trend> trends = TrendsOf(points);
  ASSERT_EQ(trends.size(), 3u);
  EXPECT_EQ(trends[0].key, "h200");
  EXPECT_EQ(trends[0].metric, MetricId::kKernels);
  EXPECT_EQ(trends[0].changes.size(), 1u);
  EXPECT_EQ(trends[1].metric, MetricId::kLaunches);
  EXPECT_EQ(trends[2].key, "a100");
  EXPECT_TRUE(trends[2].changes.empty());
  EXPECT_EQ(trends[0].points[0].commit, "1a2b3c4d5e6f");
  EXPECT_EQ(trends[0].points[0].short_commit, "1a2b3c4+");
}

}  // namespace
}  // namespace perfgate::cli
