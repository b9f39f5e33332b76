// Extraction of traces that are made to be slow to extract: twice the events are to take about
// twice the time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "evidence/evidence.h"

namespace perfgate {
namespace {

class TraceFileOnDisk {
 public:
  TraceFileOnDisk() {
    out_ << R"({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1e9})";
  }
  ~TraceFileOnDisk() { std::filesystem::remove(path_); }
  TraceFileOnDisk(const TraceFileOnDisk&) = delete;
  TraceFileOnDisk& operator=(const TraceFileOnDisk&) = delete;

  void Host(std::string_view category, std::string_view name, int64_t start_us, int64_t duration_us,
            std::string_view args) {
    out_ << fmt::format(
        ",\n{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 1, \"tid\": 1, \"ts\": "
        "{}, "
        "\"dur\": {}, \"args\": {{{}}}}}",
        category, name, start_us, duration_us, args);
  }
  void Launch(int64_t start_us, int64_t id) {
    Host("cuda_runtime", "cudaLaunchKernel", start_us, 1, fmt::format("\"correlation\": {}", id));
    out_ << fmt::format(
        ",\n{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": "
        "{}, "
        "\"dur\": 1, \"args\": {{\"device\": 0, \"stream\": 7, \"correlation\": {}}}}}",
        start_us + 2, id);
  }
  const std::filesystem::path& Finish() {
    out_ << "\n]}\n";
    out_.close();
    return path_;
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                fmt::format("perfgate-bench-{}.json", static_cast<void*>(this));
  std::ofstream out_{path_};
};

void Extract(benchmark::State& state, TraceFileOnDisk& trace) {
  const std::filesystem::path& path = trace.Finish();
  for (auto step : state) benchmark::DoNotOptimize(ExtractTrace(path));
  state.SetComplexityN(state.range(0));
}

// Kernels that generated code names differently each.
void ManyGeneratedNames(benchmark::State& state) {
  TraceFileOnDisk trace;
  for (int64_t i = 0; i < state.range(0); ++i) {
    trace.Host("cpu_op", fmt::format("triton_poi_fused_x{}x_0", i), 10 * i, 5, "");
  }
  Extract(state, trace);
}
BENCHMARK(ManyGeneratedNames)
    ->RangeMultiplier(2)
    ->Range(5'000, 40'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

// As many launches as there are operators around each of them, with a backward pass and a module
// hierarchy to look for.
void DeepNest(benchmark::State& state) {
  const int64_t levels = state.range(0);
  TraceFileOnDisk trace;
  trace.Host("cpu_op", "aten::linear", 1, 1,
             R"("Module Hierarchy": "Net", "Sequence number": 7, "Fwd thread id": 0)");
  trace.Host("cpu_op", "other", 3, 1, R"("Sequence number": 8, "Fwd thread id": 1)");
  for (int64_t i = 0; i < levels; ++i) {
    trace.Host("cpu_op", "custom::deep", 10 + i, 100 * levels - 2 * i, "");
  }
  for (int64_t i = 0; i < levels; ++i) trace.Launch(10 * levels + 10 * i, i + 1);
  Extract(state, trace);
}
BENCHMARK(DeepNest)
    ->RangeMultiplier(2)
    ->Range(5'000, 40'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace perfgate

BENCHMARK_MAIN();
