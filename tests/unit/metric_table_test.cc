#include <gtest/gtest.h>

#include <set>

#include "metric/metric.h"

namespace perfgate {
namespace {

TEST(MetricTable, EveryMetricIsFoundByItsOneName) {
  std::set<std::string_view> names;
  for (const Metric& metric : Metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(FindMetric(metric.name), metric.id);
    EXPECT_EQ(&Info(metric.id), &metric);
    EXPECT_FALSE(metric.needs.empty()) << metric.name;
    EXPECT_FALSE(metric.help.empty()) << metric.name;
  }
  EXPECT_EQ(FindMetric("kernel"), std::nullopt);
}

TEST(ChangeKindTable, EveryKindIsFoundByItsOneName) {
  std::set<std::string_view> names;
  for (const ChangeKind kind : ChangeKinds()) {
    EXPECT_TRUE(names.insert(ToString(kind)).second);
    EXPECT_EQ(FindChangeKind(ToString(kind)), kind);
  }
  EXPECT_EQ(names.size(), 14u);
  EXPECT_EQ(FindChangeKind("split"), std::nullopt);
}

TEST(ChangeKindTable, ASubstitutionIsNoRegressionByItself) {
  EXPECT_FALSE(IsRegression(ChangeKind::kSubstituted));
  EXPECT_TRUE(IsRegression(ChangeKind::kFusionSplit));
}

}  // namespace
}  // namespace perfgate
