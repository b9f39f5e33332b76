// Evidence of a case: several processes, samples, the key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "evidence/evidence.h"
#include "evidence_processes.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(CaseEvidence, ConcatenatesTheStepsOfItsProcesses) {
  const TraceBuilder trace = Launches(2);
  Add(&trace);
  Add(&trace, 1);
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(evidence.steps, ElementsAre(1, 1));
  EXPECT_THAT(evidence.kernels[0].count_per_step, ElementsAre(2, 2));
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 2);
  EXPECT_THAT(evidence.notes, IsEmpty());
}

TEST_F(CaseEvidence, ProcessesThatDisagreeAreUnstableAndItIsSaid) {
  const TraceBuilder two = Launches(2), three = Launches(3), other = Launches(2, "conv");
  Add(&two);
  Add(&three, 1);
  Add(&other, 2);
  const Evidence evidence = Run();
  EXPECT_FALSE(Summarise(evidence, MetricId::kKernels).stable);
  EXPECT_FALSE(KernelSetIsStable(evidence));
  ASSERT_EQ(evidence.kernels.size(), 2U);
  EXPECT_THAT(evidence.kernels[0].count_per_step, ElementsAre(2, 3, 0));
  EXPECT_THAT(evidence.kernels[1].count_per_step, ElementsAre(0, 0, 2));
  EXPECT_THAT(evidence.notes, Contains(HasSubstr("the traced processes disagree: kernels 2 / 3")));
}

TEST_F(CaseEvidence, KnowsNoNanCountIfOneOutputDoesNotSayIt) {
  const TraceBuilder trace = Launches(1);
  Samples& samples = *Add(&trace).samples;
  samples.outputs.resize(2);
  samples.outputs[0].nan_count = 0;
  samples.outputs[1].name = "y";
  EXPECT_EQ(Summarise(Run(), MetricId::kNanCount).unavailable,
            "samples.json: output 'y' has no nan_count");
}

TEST_F(CaseEvidence, CountsOfOutputsThatDoNotFitWhenSummedStayLarge) {
  const TraceBuilder trace = Launches(1);
  Samples& samples = *Add(&trace).samples;
  samples.outputs.resize(2);
  for (Output& output : samples.outputs) output.nan_count = INT64_MAX;
  EXPECT_GT(Summarise(Run(), MetricId::kNanCount).value, 1e18);
}

TEST_F(CaseEvidence, TakesTheTimedWindowFromTheSamples) {
  const TraceBuilder trace = Launches(1);
  Samples& samples = *Add(&trace).samples;
  for (int i = 0; i < 100; ++i) samples.latency_ns.push_back((i * 37 % 100 + 1) * 1000);
  samples.dispatch_unavailable = "the workload synchronises inside";
  samples.cold_start_ns = 5'000'000;
  samples.warmup_iterations = 20;
  samples.outputs.push_back({"y", {2, 2}, "bf16", 0, 0, 0, 3, 1, ""});
  samples.environment = {
      {"recompiles", "2"}, {"graph_breaks", "none"}, {"warning", "1 other process uses the GPU"}};
  samples.fallback = {{"hand_fused", "built without nvcc"}};
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP50).value, 50'000);
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP95).value, 95'000);
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP99).unavailable,
            "100 samples are too few: needs 299");
  EXPECT_EQ(Summarise(evidence, MetricId::kDispatch).unavailable,
            "the workload synchronises inside");
  EXPECT_EQ(Summarise(evidence, MetricId::kColdStart).value, 5'000'000);
  EXPECT_EQ(Summarise(evidence, MetricId::kWarmupIterations).value, 20);
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 3);
  EXPECT_EQ(Summarise(evidence, MetricId::kInfCount).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kRecompiles).value, 2);
  EXPECT_THAT(Summarise(evidence, MetricId::kGraphBreaks).unavailable,
              HasSubstr("'none', not a count"));
  ASSERT_EQ(evidence.fallback.size(), 1U);
  EXPECT_EQ(evidence.fallback[0].why, "built without nvcc");
  EXPECT_EQ(Summarise(evidence, MetricId::kFallbacks).value, 1);
  EXPECT_THAT(evidence.notes, Contains("the workload warns: 1 other process uses the GPU"));
}

TEST_F(CaseEvidence, TheKeySaysWhatMustBeEqual) {
  TraceBuilder trace = Launches(1);
  trace.Header(R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
                  "cuda_runtime_version": 12090, "cupti_version": 28,)");
  Add(&trace).samples->environment = {
      {"torch", "2.11.0"}, {"cudnn", "9.1"}, {"gpu_uuid", "GPU-1"}, {"threads", "2"}};
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.key.fields,
              ElementsAre(std::pair("cuda", "12.9"), std::pair("cudnn", "9.1"),
                          std::pair("definition", "0123456789abcdef"), std::pair("device", "cuda"),
                          std::pair("gpu", "NVIDIA H200"), std::pair("gpu_count", "1"),
                          std::pair("profiler", "torch"), std::pair("profiler_version", "28"),
                          std::pair("sm_count", "132"), std::pair("torch", "2.11.0")));
  EXPECT_EQ(evidence.key.recorded.at("gpu_uuid"), "GPU-1");
  EXPECT_EQ(evidence.device_name, "NVIDIA H200");
}

TEST_F(CaseEvidence, TheCollectorsTraceSaysTheKeyItself) {
  TraceBuilder trace = Launches(1);
  trace.Header(R"("perfgate_profiler": "cupti",
                  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "uuid": "GPU-1"}],)");
  trace.Footer(R"(, "perfgate_environment": {"cublas": "13.1.0", "torch": "2.11.0"})");
  Add(&trace);
  const Evidence evidence = Run();
  EXPECT_EQ(evidence.key.fields.at("profiler"), "cupti");
  EXPECT_EQ(evidence.key.fields.at("cublas"), "13.1.0");
  EXPECT_EQ(evidence.key.fields.at("torch"), "2.11.0");
  EXPECT_EQ(evidence.key.recorded.at("gpu_uuid"), "GPU-1");
}

TEST_F(CaseEvidence, OnACpuTheKeyIsIsaAndThreads) {
  TraceBuilder trace;
  trace.Step(1, 0, 100'000).Op("aten::mm", 1000, 1000);
  Add(&trace);
  const Evidence evidence = Run();
  EXPECT_EQ(evidence.key.fields.at("cpu_isa"), "avx2");
  EXPECT_EQ(evidence.key.fields.at("threads"), "1");
  EXPECT_EQ(evidence.device_name, "EPYC");
  EXPECT_FALSE(evidence.key.fields.contains("gpu"));
}

TEST_F(CaseEvidence, TheBaseSideGivesTimedSamplesOnly) {
  const TraceBuilder head = Launches(1), base = Launches(5);
  Add(&head).samples->latency_ns.assign(10, 1000);
  Add(&base).samples->latency_ns.assign(10, 9000);
  attempts_[1].attempt.side = Side::kBase;
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.steps, ElementsAre(1));
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP50).value, 1000);
  const auto of_base = [](const Observation& o) {
    return o.metric == MetricId::kLatencyP50 && o.side == Side::kBase;
  };
  EXPECT_EQ(std::count_if(evidence.values.begin(), evidence.values.end(), of_base), 1);
}

TEST_F(CaseEvidence, OfTheBaseAloneHasTheKeyThatItsSamplesSay) {
  const TraceBuilder trace = Launches(1);
  AttemptData& data = Add(&trace);
  data.attempt.side = Side::kBase;
  data.samples->environment["torch"] = "2.12.0";
  EXPECT_EQ(Run().key.fields.at("torch"), "2.12.0");
}

TEST_F(CaseEvidence, AndTheBaseThatWasMeasuredInPairsWithItAreKeptTogether) {
  const TraceBuilder trace = Launches(1), more = Launches(3);
  Add(&trace);
  Evidence head = Run();
  EXPECT_EQ(ToJson(head).Find("base_side"), nullptr);
  attempts_.clear();
  Add(&more).attempt.side = Side::kBase;
  head.base_side = std::make_shared<const Evidence>(Run());
  const Evidence read = EvidenceFromJson(ToJson(head));
  ASSERT_NE(read.base_side, nullptr);
  EXPECT_EQ(Summarise(read, MetricId::kKernels).value, 1);
  EXPECT_EQ(Summarise(*read.base_side, MetricId::kKernels).value, 3);
}

TEST_F(CaseEvidence, TracesThatSayNoRankAreProcessesOfTheirOwn) {
  const TraceBuilder trace = Launches(1);
  AttemptData& data = Add(&trace);
  files_.emplace_back("trace-pid7.json", trace.Json());
  data.traces.push_back({files_.back().path(), {}});
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(evidence.steps, ElementsAre(1, 1));
  EXPECT_THAT(evidence.ranks, IsEmpty());
  EXPECT_THAT(evidence.notes,
              Contains("2 traces that say no rank: each is taken as a process of its own"));
}

TEST_F(CaseEvidence, AnInstructionSetHasOneSpellingInTheKey) {
  TraceBuilder trace;
  trace.Step(1, 0, 100'000).Op("aten::mm", 1000, 1000);
  Add(&trace).samples->environment["cpu_isa"] = "AVX512";
  EXPECT_EQ(Run().key.fields.at("cpu_isa"), "avx512");
}

TEST(OperatorPaths, HaveElements) {
  EXPECT_THAT(PathElements(""), IsEmpty());
  EXPECT_THAT(PathElements("aten::mm"), ElementsAre("aten::mm"));
  EXPECT_THAT(PathElements("aten::linear > aten::addmm"),
              ElementsAre("aten::linear", "aten::addmm"));
  EXPECT_EQ(Innermost(""), "");
  EXPECT_EQ(Innermost("aten::linear > aten::addmm"), "aten::addmm");
}

TEST(Steps, ThatDoNotFitWhenSummedStayLarge) {
  Evidence evidence;
  evidence.steps = {INT_MAX, INT_MAX, 0};
  EXPECT_EQ(evidence.TotalSteps(), INT_MAX);
}

TEST(Keys, DifferAndAreUnknownByField) {
  const Key base{{{"torch", "2.11.0"}, {"device", "cpu"}, {"threads", "2"}}, {}};
  const Key head{{{"torch", "2.12.0"}, {"device", "cpu"}, {"definition", "d"}}, {}};
  EXPECT_THAT(KeyDifferences(base, head), ElementsAre("torch: 2.11.0 / 2.12.0"));
  EXPECT_THAT(UnknownKeyFields(base, head), ElementsAre("cpu_isa", "definition", "threads"));
}

TEST(EvidenceJson, RefusesWhatItCannotRead) {
  const auto refuses = [](const Json& json, std::string_view message) {
    try {
      EvidenceFromJson(json);
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kInput);
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  const TraceBuilder trace = Launches(1);
  const ScratchFile file("t.json", trace.Json());
  const Json good = ToJson(ExtractTrace(file.path()));
  Json other = good;
  other.Set("schema", "perfgate.evidence/9");
  refuses(other, "schema is 'perfgate.evidence/9', this perfgate reads 'perfgate.evidence/1'");
  Json longer = good;
  longer.Set("steps_by_process", Json::ArrayOf(std::vector<int>{1, 1}));
  refuses(longer, "count_per_step has 1 numbers for 2 steps");
  Json endless = good;
  endless.Set("steps_by_process", Json::ArrayOf(std::vector<int>{INT_MAX, INT_MAX}));
  refuses(endless, "more than 100000000 steps");
  Json lacking = good;
  lacking.Set("kernels", Json());
  refuses(lacking, "expected a list, found null");
  const auto refuses_row = [&](std::string_view key, const Json& value, std::string_view message) {
    Json row = good.At("kernels").AsArray().front();
    row.Set(key, value);
    Json changed = good;
    changed.Set("kernels", Json(Json::Array{row}));
    refuses(changed, message);
  };
  refuses_row("count_per_step", Json::ArrayOf(std::vector<int>{-3}),
              "count_per_step: expected a whole number from 0 on, found -3");
  refuses_row("time_ns_per_step", Json::ArrayOf(std::vector<int>{-1}),
              "time_ns_per_step: expected a whole number from 0 on, found -1");
  refuses_row("count_per_step", Json(Json::Array{Json("many")}),
              "count_per_step: expected a whole number from 0 on, found text");
  refuses_row("grid", Json::ArrayOf(std::vector<int>{1, -1, 1}),
              "grid: expected a whole number from 0 on, found -1");
  const Json use(Json::Object{{"input_dims", Json("[[2]]")},
                              {"place", Json("Net")},
                              {"count", Json(-1)},
                              {"time_ns", Json(1)}});
  for (const char* uses : {"shapes", "modules", "annotations"}) {
    refuses_row(uses, Json(Json::Array{use}), "count: expected a whole number from 0 on, found -1");
  }
  Json before = good;
  before.Set("pre_window", -1);
  refuses(before, "pre_window: expected a whole number from 0 on, found -1");
  Json observed = good;
  observed.Set("observations",
               ParseJson(R"([{"metric": "kernels", "side": "head", "pair": 0, "process": 0,
                              "per_step": [-1]}])",
                         "t"));
  refuses(observed, "per_step: expected a number from 0 on, found -1");
  refuses(Json(Json::Object{}), "the key \"schema\" is missing");
}

}  // namespace
}  // namespace perfgate
