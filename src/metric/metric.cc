#include "metric/metric.h"

#include <array>
#include <utility>

namespace perfgate {
namespace {

using enum MetricId;
using enum Exactness;
constexpr auto kLow = Better::kLower;
constexpr auto kNone = Better::kNeither;
constexpr auto kAnywhere = MetricDevice::kAny;
constexpr auto kOnGpu = MetricDevice::kGpu;
constexpr auto kOnCpu = MetricDevice::kCpu;
constexpr std::string_view kGpuTrace = "a trace with GPU activities";
constexpr std::string_view kMessageTrace = "a trace that says the sizes of messages";
constexpr std::string_view kHostTrace = "a trace with CPU activities";
constexpr std::string_view kMemoryTrace = "a trace taken with profile_memory";
constexpr std::string_view kColdStartParts = "samples.json that says this part of the cold start";
constexpr std::string_view kTimedWindow = "samples.json with a timed window";

// clang-format off
constexpr std::array kMetrics = {
    Metric{kKernels, "kernels", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "GPU kernels a step, those of graph launches included"},
    Metric{kGpuActivities, "gpu_activities", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "GPU kernels, copies and fills a step"},
    Metric{kLaunches, "launches", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "kernel launch calls of the runtime and the driver a step, graph launches left out"},
    Metric{kGraphLaunches, "graph_launches", Unit::kCount, kNone, kExact, kOnGpu, kGpuTrace,
           "CUDA graph launches a step", true},
    Metric{kMemcpyCount, "memcpy_count", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "copies by the GPU a step, all directions"},
    Metric{kMemcpyBytes, "memcpy_bytes", Unit::kBytes, kLow, kExact, kOnGpu, kGpuTrace,
           "bytes copied by the GPU a step, all directions"},
    Metric{kMemcpyHtoDCount, "memcpy_count.htod", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "copies from host to device a step"},
    Metric{kMemcpyHtoDBytes, "memcpy_bytes.htod", Unit::kBytes, kLow, kExact, kOnGpu, kGpuTrace,
           "bytes copied from host to device a step"},
    Metric{kMemcpyDtoHCount, "memcpy_count.dtoh", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "copies from device to host a step"},
    Metric{kMemcpyDtoHBytes, "memcpy_bytes.dtoh", Unit::kBytes, kLow, kExact, kOnGpu, kGpuTrace,
           "bytes copied from device to host a step"},
    Metric{kMemcpyDtoDCount, "memcpy_count.dtod", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "copies from device to device a step"},
    Metric{kMemcpyDtoDBytes, "memcpy_bytes.dtod", Unit::kBytes, kLow, kExact, kOnGpu, kGpuTrace,
           "bytes copied from device to device a step"},
    Metric{kMemsetCount, "memset_count", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "fills of device memory a step"},
    Metric{kCommCount, "comm_count", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "collectives a step, by their kernels"},
    Metric{kCommBytes, "comm_bytes", Unit::kBytes, kLow, kExact, kOnGpu, kMessageTrace,
           "bytes of a rank's collectives a step, of each the larger of what it gives and gets"},
    Metric{kStreams, "streams", Unit::kCount, kNone, kExact, kOnGpu, kGpuTrace,
           "streams that ran work in a step"},
    Metric{kCpuKernels, "cpu_kernels", Unit::kCount, kLow, kExact, kOnCpu, kHostTrace,
           "computing operator calls and fused regions on the CPU a step"},
    Metric{kHostOps, "host_ops", Unit::kCount, kLow, kExact, kAnywhere, kHostTrace,
           "operator calls on the host a step"},
    Metric{kRootOps, "root_ops", Unit::kCount, kLow, kExact, kAnywhere, kHostTrace,
           "operator calls that no other operator made, a step"},
    Metric{kViewOps, "view_ops", Unit::kCount, kLow, kExact, kAnywhere, kHostTrace,
           "calls a step that rewrite strides only"},
    Metric{kCopyOps, "copy_ops", Unit::kCount, kLow, kExact, kAnywhere, kHostTrace,
           "copying operator calls a step"},
    Metric{kAllocations, "allocations", Unit::kCount, kLow, kExact, kAnywhere, kMemoryTrace,
           "allocations from the tensor allocators a step"},
    Metric{kAllocatedBytes, "allocated_bytes", Unit::kBytes, kLow, kExact, kAnywhere, kMemoryTrace,
           "bytes allocated from the tensor allocators a step"},
    Metric{kPeakBytes, "peak_bytes", Unit::kBytes, kLow, kExact, kAnywhere, kMemoryTrace,
           "largest growth of allocated bytes over the start of the step"},
    Metric{kDeviceMallocs, "device_mallocs", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "cudaMalloc and the like a step"},
    Metric{kSyncs, "syncs", Unit::kCount, kLow, kExact, kOnGpu, kGpuTrace,
           "calls a step that make the host wait for the GPU, the harness's own left out"},
    Metric{kHarnessSyncs, "harness_syncs", Unit::kCount, kNone, kExact, kOnGpu, kGpuTrace,
           "synchronising calls of the harness at the end of a step"},
    Metric{kCompiledRegions, "compiled_regions", Unit::kCount, kNone, kExact, kAnywhere, kHostTrace,
           "regions compiled by torch.compile that ran in a step", true},
    Metric{kGraphBreaks, "graph_breaks", Unit::kCount, kLow, kExact, kAnywhere,
           "graph breaks counted by the Python helper", "graph breaks of torch.compile"},
    Metric{kRecompiles, "recompiles", Unit::kCount, kLow, kExact, kAnywhere,
           "recompilations counted by the Python helper",
           "recompilations in the timed and traced windows"},
    Metric{kGpuTime, "gpu_time", Unit::kNanoseconds, kLow, kNearExact, kOnGpu, kGpuTrace,
           "time a step in which the GPU works: union of kernels, copies and fills, collectives left out"},
    Metric{kCommTime, "comm_time", Unit::kNanoseconds, kLow, kNearExact, kOnGpu, kGpuTrace,
           "time a step in which collective kernels run (union)"},
    Metric{kCommExposed, "comm_exposed", Unit::kNanoseconds, kLow, kNearExact, kOnGpu, kGpuTrace,
           "time a step in which collective kernels run and no other kernel of the GPU does"},
    Metric{kKernelTime, "kernel_time", Unit::kNanoseconds, kLow, kNearExact, kOnGpu, kGpuTrace,
           "sum of the kernels' durations a step"},
    Metric{kGpuIdle, "gpu_idle", Unit::kNanoseconds, kLow, kNoisy, kOnGpu, kGpuTrace,
           "time a step between the first and the last GPU activity in which none runs"},
    Metric{kCpuKernelTime, "cpu_kernel_time", Unit::kNanoseconds, kLow, kNoisy, kOnCpu, kHostTrace,
           "sum of the CPU kernels' durations a step, under the profiler"},
    Metric{kInstructions, "instructions", Unit::kCount, kLow, kNearExact, kAnywhere,
           "a case with `profiler: instructions`",
           "CPU instructions in user mode a step, of all threads"},
    Metric{kDispatch, "dispatch", Unit::kNanoseconds, kLow, kNoisy, kAnywhere, kTimedWindow,
           "median time for the forward call to return without waiting for the device"},
    Metric{kLaunchApiTime, "launch_api_time", Unit::kNanoseconds, kLow, kNoisy, kOnGpu, kGpuTrace,
           "time inside launch calls a step, under the profiler"},
    Metric{kLaunchDelay, "launch_delay", Unit::kNanoseconds, kNone, kNoisy, kOnGpu, kGpuTrace,
           "median time from the end of a launch call to the start of its work"},
    Metric{kLatencyP50, "latency.p50", Unit::kNanoseconds, kLow, kNoisy, kAnywhere, kTimedWindow,
           "median latency of an iteration, not profiled"},
    Metric{kLatencyP95, "latency.p95", Unit::kNanoseconds, kLow, kNoisy, kAnywhere, kTimedWindow,
           "95th percentile of the latency, not profiled"},
    Metric{kLatencyP99, "latency.p99", Unit::kNanoseconds, kLow, kNoisy, kAnywhere, kTimedWindow,
           "99th percentile of the latency, not profiled"},
    Metric{kColdStart, "cold_start", Unit::kNanoseconds, kLow, kNoisy, kAnywhere, kTimedWindow,
           "process start to the first result"},
    Metric{kColdStartLoad, "cold_start.load", Unit::kNanoseconds, kLow, kNoisy, kAnywhere,
           kColdStartParts, "process start to the first call: libraries, model, weights"},
    Metric{kColdStartCompile, "cold_start.compile", Unit::kNanoseconds, kLow, kNoisy, kAnywhere,
           kColdStartParts, "compilation up to the first result"},
    Metric{kColdStartFirstCall, "cold_start.first_call", Unit::kNanoseconds, kLow, kNoisy,
           kAnywhere, kColdStartParts, "the first call until its result is there"},
    Metric{kWarmupIterations, "warmup_iterations", Unit::kCount, kLow, kNoisy, kAnywhere,
           kTimedWindow, "iterations until the workload was steady, or the limit"},
    Metric{kFallbacks, "fallbacks", Unit::kCount, kLow, kExact, kAnywhere, "samples.json",
           "what the workload was asked for and did not do"},
    Metric{kRelativeError, "relative_error", Unit::kRatio, kLow, kExact, kAnywhere,
           "a `reference` case with saved outputs",
           "relative error of the worst output against the reference, in the 2-norm", false, true},
    Metric{kMaxAbsError, "max_abs_error", Unit::kRatio, kLow, kExact, kAnywhere,
           "a `reference` case with saved outputs",
           "largest absolute error of an element against the reference", false, true},
    Metric{kNanCount, "nan_count", Unit::kCount, kLow, kExact, kAnywhere,
           "outputs in samples.json", "NaN values in the outputs", false, true},
    Metric{kInfCount, "inf_count", Unit::kCount, kLow, kExact, kAnywhere,
           "outputs in samples.json", "infinite values in the outputs", false, true},
};

constexpr std::array<std::pair<ChangeKind, std::string_view>, 14> kKinds = {{
    {ChangeKind::kFusionSplit, "fusion_split"},       {ChangeKind::kFusionLost, "fusion_lost"},
    {ChangeKind::kFused, "fused"},                    {ChangeKind::kEpilogueLost, "epilogue_lost"},
    {ChangeKind::kEpilogueGained, "epilogue_gained"}, {ChangeKind::kTensorCoreLost, "tensor_core_lost"},
    {ChangeKind::kDtypeChanged, "dtype_changed"},     {ChangeKind::kGraphLost, "graph_lost"},
    {ChangeKind::kHiddenCopy, "hidden_copy"},         {ChangeKind::kSyncAdded, "sync_added"},
    {ChangeKind::kSubstituted, "substituted"},        {ChangeKind::kMoved, "moved"},
    {ChangeKind::kAdded, "added"},                    {ChangeKind::kRemoved, "removed"},
}};
// clang-format on

constexpr bool InOrder() {
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    if (static_cast<size_t>(kMetrics[i].id) != i) return false;
  }
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<size_t>(kKinds[i].first) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "rows stand in the order of the enums");

}  // namespace

std::span<const Metric> Metrics() { return kMetrics; }

const Metric& Info(MetricId id) { return kMetrics[static_cast<size_t>(id)]; }

std::optional<MetricId> FindMetric(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (metric.name == name) return metric.id;
  }
  return std::nullopt;
}

std::span<const ChangeKind> ChangeKinds() {
  static constexpr auto kList = [] {
    std::array<ChangeKind, kKinds.size()> list{};
    for (size_t i = 0; i < list.size(); ++i) list[i] = kKinds[i].first;
    return list;
  }();
  return kList;
}

std::string_view ToString(ChangeKind kind) { return kKinds[static_cast<size_t>(kind)].second; }

std::optional<ChangeKind> FindChangeKind(std::string_view name) {
  for (const auto& [kind, text] : kKinds) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

bool IsRegression(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kFusionSplit:
    case ChangeKind::kFusionLost:
    case ChangeKind::kEpilogueLost:
    case ChangeKind::kTensorCoreLost:
    case ChangeKind::kDtypeChanged:
    case ChangeKind::kGraphLost:
    case ChangeKind::kHiddenCopy:
    case ChangeKind::kSyncAdded:
      return true;
    case ChangeKind::kFused:
    case ChangeKind::kEpilogueGained:
    case ChangeKind::kSubstituted:
    case ChangeKind::kMoved:
    case ChangeKind::kAdded:
    case ChangeKind::kRemoved:
      return false;
  }
  return false;
}

}  // namespace perfgate
