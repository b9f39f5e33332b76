// Traces of an H200 (tests/data/h200): what was counted in them without perfgate, and what the code
// of each module says that it launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(PERFGATE_TEST_DATA) / "h200";

using Counts = std::map<std::string, int64_t>;  // a step

Json Golden(const char* name) { return ParseJson(ReadFile(kFolder / name), name); }

Evidence Read(const std::string& trace) { return ExtractTrace(kFolder / (trace + ".json.gz")); }

bool IsModule(std::string_view trace) { return !trace.starts_with("python_"); }

// "geglu-64x768-bf16" and "eager" of "geglu-64x768-bf16-eager".
struct TraceName {
  std::string workload, mode;
};

TraceName Cut(const std::string& trace) {
  const size_t at = trace.rfind('-');
  return {trace.substr(0, at), trace.substr(at + 1)};
}

double Value(const Evidence& evidence, MetricId metric) {
  const MetricValue value = Summarise(evidence, metric);
  EXPECT_TRUE(value.stable) << value.unavailable;
  return value.value.value_or(-1);
}

// By name, of every step alike; with `left_out`, without the kernels of that family.
Counts Kernels(const Evidence& evidence, std::optional<Family> left_out = std::nullopt) {
  Counts counts;
  for (const KernelRow& row : evidence.kernels) {
    if (!row.device.starts_with("cuda") || row.info.family == left_out) continue;
    counts[row.name] += row.count_per_step.front();
    EXPECT_EQ(row.Count(), row.count_per_step.front() * evidence.TotalSteps()) << row.name;
  }
  return counts;
}

// By innermost operator, without `aten::`; reducers of a split product belong to it.
Counts KernelsByOperator(const Evidence& evidence) {
  Counts counts;
  for (const KernelRow& row : evidence.kernels) {
    if (!row.device.starts_with("cuda") || row.info.family == Family::kGemmAux) continue;
    std::string_view name = row.Operator();
    if (name.starts_with("aten::")) name.remove_prefix(6);
    counts[std::string(name)] += row.count_per_step.front();
  }
  return counts;
}

// "mm copy_*2": one, and two.
Counts ParseOperators(const std::string& text) {
  Counts counts;
  for (const std::string& word : Split(text, ' ')) {
    const size_t star = word.find('*');
    counts[word.substr(0, star)] +=
        star == std::string::npos ? 1 : std::stoll(word.substr(star + 1));
  }
  return counts;
}

// Of the module and settings that the trace's name begins with; the longest such, so that settings
// that change nothing need no entry.
const Json& CodeOf(const Json& code, const std::string& trace) {
  const Json* found = nullptr;
  size_t length = 0;
  for (const auto& [name, facts] : code.AsObject()) {
    if (!trace.starts_with(name + "-") || name.size() < length) continue;
    found = &facts;
    length = name.size();
  }
  EXPECT_NE(found, nullptr) << trace;
  return *found;
}

TEST(H200Traces, AreWholeWithTheCountsThatWereTakenWithoutPerfgate) {
  const Json golden = Golden("measured.json");
  const Json::Array& names = golden.At("kernels").AsArray();
  for (const auto& [trace, facts] : golden.At("traces").AsObject()) {
    SCOPED_TRACE(trace);
    const Evidence evidence = Read(trace);
    EXPECT_TRUE(evidence.Complete()) << evidence.incomplete_because.front();
    ASSERT_EQ(evidence.steps.size(), 1U);
    EXPECT_EQ(evidence.steps[0], facts.At("steps").AsInt());
    Counts expected;
    int64_t copies = facts.At("copies").AsInt();
    for (const auto& [number, count] : facts.At("kernels").AsObject()) {
      const std::string& name = names[std::stoul(number)].AsString();
      // The driver's kernels for copies of a graph.
      (name.starts_with("memcpy") ? copies : expected[name]) += count.AsInt();
    }
    EXPECT_EQ(Kernels(evidence), expected);
    EXPECT_EQ(Value(evidence, MetricId::kMemcpyCount), copies);
    EXPECT_EQ(Value(evidence, MetricId::kMemsetCount), facts.At("fills").AsNumber());
    EXPECT_EQ(Value(evidence, MetricId::kLaunches), facts.At("launches").AsNumber());
    EXPECT_EQ(Value(evidence, MetricId::kGraphLaunches), facts.At("graph_launches").AsNumber());
  }
}

TEST(H200Traces, HoldTheOperatorsThatTheCodeOfTheirModuleCalls) {
  const Json code = Golden("code.json");
  const Json golden = Golden("measured.json");
  int checked = 0;
  for (const auto& [trace, facts] : golden.At("traces").AsObject()) {
    const std::string mode = Cut(trace).mode;
    if (!IsModule(trace) || mode == "cuda_graph" || mode == "aoti") continue;
    SCOPED_TRACE(trace);
    const Json& says = CodeOf(code, trace);
    const Evidence evidence = Read(trace);
    EXPECT_EQ(KernelsByOperator(evidence), ParseOperators(says.At(mode).AsString()));
    const Json* copies = says.Find("copies");
    EXPECT_EQ(Value(evidence, MetricId::kMemcpyCount), copies ? copies->AsNumber() : 0);
    ++checked;
  }
  EXPECT_EQ(checked, 42);
}

// The profiler came after the graph: CUPTI shows its copies as the kernels that the driver runs for
// them.
TEST(H200Traces, OfACudaGraphHoldTheWorkOfEagerInOneLaunch) {
  const Json golden = Golden("measured.json");
  int checked = 0;
  for (const auto& [trace, facts] : golden.At("traces").AsObject()) {
    const TraceName name = Cut(trace);
    if (!IsModule(trace) || name.mode != "cuda_graph") continue;
    SCOPED_TRACE(trace);
    const Evidence graph = Read(trace), eager = Read(name.workload + "-eager");
    EXPECT_EQ(Kernels(graph), Kernels(eager));
    for (const MetricId copies : {MetricId::kMemcpyCount, MetricId::kMemcpyDtoDCount}) {
      EXPECT_EQ(Value(graph, copies), Value(eager, copies));
    }
    EXPECT_EQ(Value(graph, MetricId::kMemsetCount), Value(eager, MetricId::kMemsetCount));
    EXPECT_EQ(Value(graph, MetricId::kGraphLaunches), 1);
    EXPECT_EQ(Value(graph, MetricId::kLaunches), 0);
    ++checked;
  }
  EXPECT_EQ(checked, 34);
}

bool Holds(const KernelRow& row, std::string_view op) {
  return std::ranges::find(row.info.ops, op) != row.info.ops.end();
}

int64_t Total(const Counts& counts) {
  int64_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

// Products stay the library's; the activation and the product after it become one kernel of
// Inductor's.
TEST(H200Traces, OfAnAotiPackageHoldOneKernelForTheActivationAndTheProduct) {
  const Json golden = Golden("measured.json");
  int checked = 0;
  for (const auto& [trace, facts] : golden.At("traces").AsObject()) {
    const TraceName name = Cut(trace);
    if (name.mode != "aoti") continue;
    SCOPED_TRACE(trace);
    const Evidence aoti = Read(trace), eager = Read(name.workload + "-eager");
    EXPECT_LE(Total(Kernels(aoti, Family::kGemmAux)), Total(Kernels(eager, Family::kGemmAux)));
    EXPECT_EQ(Value(aoti, MetricId::kGraphLaunches), 0);
    ++checked;
    const bool geglu = trace.starts_with("geglu");
    if (!geglu && !trace.starts_with("swiglu")) continue;
    int64_t fused = 0, apart = 0;
    for (const KernelRow& row : aoti.kernels) {
      if (!row.device.starts_with("cuda") || !Holds(row, geglu ? "gelu" : "silu")) continue;
      (Holds(row, "mul") ? fused : apart) += row.count_per_step.front();
    }
    EXPECT_EQ(fused, 1);
    EXPECT_EQ(apart, 0);
  }
  EXPECT_EQ(checked, 29);
}

TEST(H200Traces, OfTheCollectorHoldTheKernelsThatTorchProfilerSaw) {
  for (const std::string mode : {"eager", "graph", "compile", "reduce-overhead"}) {
    SCOPED_TRACE(mode);
    const Evidence collector = Read("python_geglu-" + mode + ".collector");
    const Evidence profiler = Read("python_geglu-" + mode + ".torch_profiler");
    EXPECT_EQ(Kernels(collector), Kernels(profiler));
    for (const MetricId metric : {MetricId::kKernels, MetricId::kLaunches, MetricId::kGraphLaunches,
                                  MetricId::kMemcpyCount, MetricId::kMemsetCount}) {
      EXPECT_EQ(Value(collector, metric), Value(profiler, metric)) << Info(metric).name;
    }
  }
}

constexpr int64_t kLayerBytes = 24 << 20;

// (name, type, bytes) -> calls a step
std::map<std::tuple<std::string, std::string, int64_t>, int64_t> Collectives(
    const Evidence& evidence) {
  std::map<std::tuple<std::string, std::string, int64_t>, int64_t> counts;
  for (const CollectiveRow& row : evidence.collectives) {
    counts[{row.name, row.dtype, row.bytes.value_or(-1)}] += row.count_per_step.front();
  }
  return counts;
}

// tests/gpu/ranks_step.py on two GPUs: four layers whose gradients are reduced after the backward
// pass, whole or in thirds, then a reduce_scatter and an all_gather of a layer.
TEST(H200Traces, OfTwoRanksHoldTheCollectivesThatTheProgramCalled) {
  for (const auto& [folder, pieces] : {std::pair("ranks/ddp_exposed", 1), {"ranks/ddp_small", 3}}) {
    SCOPED_TRACE(folder);
    const Evidence evidence = ExtractTrace(kFolder / folder);
    EXPECT_TRUE(evidence.Complete()) << evidence.incomplete_because.front();
    ASSERT_EQ(evidence.ranks.size(), 2U);
    EXPECT_EQ(evidence.ranks[1].device, "cuda:1");
    EXPECT_NE(evidence.ranks[0].gpu_uuid, evidence.ranks[1].gpu_uuid);
    const decltype(Collectives(evidence)) expected = {
        {{"all_reduce", "bf16", kLayerBytes / pieces}, 4 * pieces},
        {{"reduce_scatter", "bf16", kLayerBytes}, 1},
        {{"all_gather", "bf16", kLayerBytes}, 1}};
    EXPECT_EQ(Collectives(evidence), expected);
  }
}

TEST(H200Traces, OfTwoRanksByTheCollectorHoldTheSameCollectivesWithoutTheirSizes) {
  const Evidence collector = ExtractTrace(kFolder / "ranks/ddp_exposed_collector");
  const Evidence profiler = ExtractTrace(kFolder / "ranks/ddp_exposed");
  EXPECT_TRUE(collector.Complete()) << collector.incomplete_because.front();
  EXPECT_EQ(collector.ranks.size(), 2U);
  EXPECT_EQ(Kernels(collector), Kernels(profiler));
  EXPECT_EQ(Value(collector, MetricId::kCommCount), Value(profiler, MetricId::kCommCount));
  EXPECT_FALSE(Summarise(collector, MetricId::kCommBytes).unavailable.empty());
}

// Copies by the driver's kernels are inside the GPU.
TEST(H200Traces, OfACudaGraphWithCopiesOfUnknownSizeKnowTheBytesOfOtherDirections) {
  const Evidence graph =
      ExtractTrace(kFolder / "moe-dispatch=grouped-64x768-bf16-cuda_graph.json.gz");
  EXPECT_EQ(Value(graph, MetricId::kMemcpyDtoDCount), 3);
  EXPECT_EQ(Value(graph, MetricId::kMemcpyHtoDBytes), 0);
  EXPECT_EQ(Value(graph, MetricId::kMemcpyDtoHBytes), 0);
  for (const MetricId id : {MetricId::kMemcpyBytes, MetricId::kMemcpyDtoDBytes}) {
    EXPECT_EQ(Summarise(graph, id).unavailable, "the trace does not give the bytes of every copy");
  }
}

}  // namespace
}  // namespace perfgate
