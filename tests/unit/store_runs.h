// Runs made by hand, and a database of the test's own.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>

#include "store/store.h"
#include "temp_folder.h"

namespace perfgate {

inline constexpr const char* kCase = "geglu[mode=aoti,tokens=64]";

inline KernelRow Kernel(const std::string& name, int64_t count, int64_t time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = "aten::linear > aten::addmm";
  row.device = "cuda:0";
  row.count_per_step = {count, count};
  row.time_ns_per_step = {time_ns, time_ns + 32};
  row.grid = {1, 2, 3};
  row.block = {128, 1, 1};
  row.streams = {7};
  row.shapes = {{"[[64, 768]]", 2, 3168}};
  row.info = DecodeKernelName(name);
  return row;
}

inline Evidence SomeEvidence(double kernels) {
  Evidence evidence;
  evidence.case_name = kCase;
  evidence.key.fields = {{"gpu", "NVIDIA H200"}, {"torch", "2.11.0"}, {"device", "cuda"}};
  evidence.key.recorded = {{"driver", "580.1"}};
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  evidence.steps = {1, 1};
  evidence.values = {
      {MetricId::kKernels, Side::kHead, 0, 0, {kernels}},
      {MetricId::kKernels, Side::kHead, 0, 1, {kernels}},
      {MetricId::kLatencyP50, Side::kHead, 0, 0, {80'123.25}},
  };
  evidence.unavailable = {{MetricId::kAllocations, "no [memory] events"}};
  evidence.kernels = {Kernel("void gelu<\"x\">\xff", 2, 3168),
                      Kernel("nvjet_sm90_tst_128x128", 1, 4)};
  evidence.transfers = {Kernel("Memcpy DtoD", 1, 9)};
  evidence.transfers[0].bytes_per_step = {4096, 4096};
  evidence.syncs = {Kernel("cudaStreamSynchronize", 1, 9)};
  evidence.syncs[0].info = {};  // no kernel: its name is not decoded
  evidence.operators.push_back({"aten::addmm", ClassifyOperator("aten::addmm"), {1, 1}, "[[1]]"});
  evidence.pre_window = 3;
  evidence.incomplete_because = {"killed by SIGSEGV"};
  evidence.notes = {"a note"};
  evidence.explain = {"left out"};
  AttemptSummary summary;
  summary.attempt = {kCase, Side::kHead, 0, 1, Phase::kTraced, "attempts/a"};
  summary.result.outcome = Outcome::kSignalled;
  summary.result.signal = 11;
  summary.result.fault = "killed by SIGSEGV";
  summary.trace_files = {"attempts/a/trace.json"};
  evidence.attempts = {summary};
  evidence.fallback = {{"hand_fused", "built without nvcc"}};
  evidence.plant = "clone";
  return evidence;
}

inline RunRecord SomeRun(const std::string& id, const std::string& started) {
  RunRecord run;
  run.id = id;
  run.suite = "demo";
  run.suite_file = "perfgate.yaml";
  run.started = started;
  run.perfgate_version = "0.1.0";
  run.commit = "c0ffee";
  run.seed = 5;
  run.machine = {{"cpu", "EPYC"}, {"host", "h"}};
  Case declared;
  declared.name = kCase;
  declared.workload = "geglu";
  run.cases = {declared};
  AttemptResult crashed;
  crashed.outcome = Outcome::kSignalled;
  crashed.signal = 11;
  crashed.fault = "killed by SIGSEGV";
  crashed.stderr_tail = "Segmentation fault\n";
  run.attempts = {
      {{kCase, Side::kHead, 0, 0, Phase::kTraced, "attempts/a/traced-0"}, AttemptResult()},
      {{kCase, Side::kHead, 0, 1, Phase::kTraced, "attempts/a/traced-1"}, crashed}};
  run.finished = true;
  return run;
}

inline AttemptData SomeAttempt(const RunRecord& run) {
  AttemptData data;
  data.attempt = run.attempts[0].first;
  data.samples.emplace();
  data.samples->cold_start_ns = 5;
  data.samples->latency_ns = {30, 10, 20, 9'007'199'254'740'993};
  return data;
}

class StoreTest : public TempFolder {
 protected:
  void SetUp() override { file_ = folder_ / "perfgate.db"; }

  // Two runs of one case; the second has a kernel more.
  static void Fill(Store& store) {
    for (const auto& [id, started, kernels] :
         {std::tuple("20270201T101500Z-000002", "2027-02-01T10:15:00Z", 6.0),
          std::tuple("20270131T101500Z-000001", "2027-01-31T10:15:00Z", 5.0)}) {
      const RunRecord run = SomeRun(id, started);
      ASSERT_TRUE(store.AddRun(run, {SomeEvidence(kernels)}, {{SomeAttempt(run)}}));
    }
  }

  std::filesystem::path file_;
};

}  // namespace perfgate
