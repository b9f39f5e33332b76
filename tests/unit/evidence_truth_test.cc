// Every recorded trace against what is known of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

const std::filesystem::path kTraces = std::filesystem::path(PERFGATE_TEST_DATA) / "traces";

const Json& Truth() {
  static const Json kTruth = ParseJson(ReadFile(kTraces / "truth.json"), "truth.json");
  return kTruth;
}

enum class Which { kAll, kGpu, kWithOperators };

std::vector<std::string> Names(Which which) {
  std::vector<std::string> names;
  for (const auto& [name, facts] : Truth().AsObject()) {
    const bool gpu = facts.At("kernels").AsInt() > 0;
    const bool operators = facts.Find("cpu_op_names") != nullptr;
    if (which == Which::kGpu && !gpu) continue;
    if (which == Which::kWithOperators && !operators) continue;
    names.push_back(name);
  }
  return names;
}

class RecordedTrace : public testing::TestWithParam<std::string> {
 protected:
  const Json& truth() const { return Truth().At(GetParam()); }
  Evidence Read() const { return ExtractTrace(kTraces / (GetParam() + ".json.gz")); }
};

double Sum(const Evidence& evidence, MetricId metric) {
  const std::vector<double> steps = Summarise(evidence, metric).per_step;
  return std::accumulate(steps.begin(), steps.end(), 0.0);
}

TEST_P(RecordedTrace, IsCompleteAndCountsWhatIsKnown) {
  const Evidence evidence = Read();
  EXPECT_TRUE(evidence.Complete()) << evidence.incomplete_because.front();
  EXPECT_EQ(evidence.steps.size(), 1U);
  EXPECT_EQ(evidence.steps[0], truth().At("steps").AsInt());
  EXPECT_EQ(evidence.pre_window, 0);

  std::map<std::string, int64_t> names;
  int64_t kernel_ns = 0;
  for (const KernelRow& row : evidence.kernels) {
    if (row.device == "cpu") continue;
    names[row.name] += row.Count();
    kernel_ns += row.TimeNs();
  }
  std::map<std::string, int64_t> expected;
  for (const auto& [name, count] : truth().At("names").AsObject()) expected[name] = count.AsInt();
  EXPECT_EQ(names, expected);
  EXPECT_NEAR(static_cast<double>(kernel_ns), truth().At("kernel_us").AsNumber() * 1000, 0.5);
}

class RecordedGpuTrace : public RecordedTrace {};

TEST_P(RecordedGpuTrace, HasTheKnownMetrics) {
  const Evidence evidence = Read();
  EXPECT_EQ(evidence.device_kind, "cuda");
  EXPECT_EQ(Sum(evidence, MetricId::kKernels), truth().At("kernels").AsNumber());
  EXPECT_EQ(Sum(evidence, MetricId::kMemcpyCount), truth().At("memcpy").AsNumber());
  EXPECT_EQ(Sum(evidence, MetricId::kMemsetCount), truth().At("memset").AsNumber());
  if (const Json* launches = truth().Find("launches")) {
    EXPECT_EQ(Sum(evidence, MetricId::kLaunches), launches->AsNumber());
    EXPECT_EQ(Sum(evidence, MetricId::kGraphLaunches), truth().At("graph_launches").AsNumber());
  }
  const MetricValue kernels = Summarise(evidence, MetricId::kKernels);
  EXPECT_TRUE(kernels.stable);
  EXPECT_EQ(kernels.value, truth().At("per_step_kernels").AsNumber());
  EXPECT_EQ(KernelSetIsStable(evidence), GetParam() != "geglu_dynamic_shapes");
}

class RecordedCpuTrace : public RecordedTrace {};

TEST_P(RecordedCpuTrace, HasTheKnownOperators) {
  const Evidence evidence = Read();
  EXPECT_EQ(evidence.device_kind, "cpu");
  std::map<std::string, int64_t> names, expected;
  for (const OperatorRow& row : evidence.operators) {
    names[row.name] =
        std::accumulate(row.count_per_step.begin(), row.count_per_step.end(), int64_t{0});
  }
  for (const auto& [name, count] : truth().At("cpu_op_names").AsObject())
    expected[name] = count.AsInt();
  EXPECT_EQ(names, expected);
}

TEST_P(RecordedTrace, SaysOfEveryMetricAValueOrAReason) {
  const Evidence evidence = Read();
  for (const Metric& metric : Metrics()) {
    const MetricValue value = Summarise(evidence, metric.id);
    EXPECT_NE(value.per_step.empty(), value.unavailable.empty()) << metric.name;
  }
}

TEST_P(RecordedTrace, RoundTripsThroughJson) {
  const Evidence evidence = Read();
  const std::string text = WriteJson(ToJson(evidence), 2);
  const Evidence again = EvidenceFromJson(ParseJson(text, "evidence.json"));
  EXPECT_EQ(WriteJson(ToJson(again), 2), text);
}

std::string NameOf(const testing::TestParamInfo<std::string>& named) { return named.param; }

INSTANTIATE_TEST_SUITE_P(All, RecordedTrace, testing::ValuesIn(Names(Which::kAll)), NameOf);
INSTANTIATE_TEST_SUITE_P(All, RecordedGpuTrace, testing::ValuesIn(Names(Which::kGpu)), NameOf);
INSTANTIATE_TEST_SUITE_P(All, RecordedCpuTrace, testing::ValuesIn(Names(Which::kWithOperators)),
                         NameOf);

}  // namespace
}  // namespace perfgate
