// Traces of an H200 (tests/data/h200): what was counted in them without perfgate, and what the code
// of each module says that it launches.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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
    EXPECT_EQ(row.Count(), row.count_per_step.front() * evidence.steps.front()) << row.name;
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
    for (const auto& [number, count] : facts.At("kernels").AsObject()) {
      expected[names[std::stoul(number)].AsString()] = count.AsInt();
    }
    EXPECT_EQ(Kernels(evidence), expected);
    EXPECT_EQ(Value(evidence, MetricId::kMemcpyCount), facts.At("copies").AsNumber());
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
    if (!IsModule(trace) || mode == "cuda_graph") continue;
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

// A copy is a kernel there: the profiler came after the graph, and then CUPTI shows what the driver
// runs.
TEST(H200Traces, OfACudaGraphHoldTheWorkOfEagerInOneLaunch) {
  const Json golden = Golden("measured.json");
  int checked = 0;
  for (const auto& [trace, facts] : golden.At("traces").AsObject()) {
    const TraceName name = Cut(trace);
    if (!IsModule(trace) || name.mode != "cuda_graph") continue;
    SCOPED_TRACE(trace);
    const Evidence graph = Read(trace), eager = Read(name.workload + "-eager");
    EXPECT_EQ(Kernels(graph, Family::kMemory), Kernels(eager));
    const double copies = Value(graph, MetricId::kKernels) - Value(eager, MetricId::kKernels);
    EXPECT_EQ(copies, Value(eager, MetricId::kMemcpyCount));
    EXPECT_EQ(Value(graph, MetricId::kMemsetCount), Value(eager, MetricId::kMemsetCount));
    EXPECT_EQ(Value(graph, MetricId::kGraphLaunches), 1);
    EXPECT_EQ(Value(graph, MetricId::kLaunches), 0);
    ++checked;
  }
  EXPECT_EQ(checked, 34);
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

}  // namespace
}  // namespace perfgate
