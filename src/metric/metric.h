// What evidence can say in numbers, and what a rule can speak of: the metric table and the kinds of
// change between two traces. One row each; adding a metric starts here.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"

namespace perfgate {

// Order is the order of reports. Names in text and files are in the table (metric.cc).
enum class MetricId {
  kKernels,
  kGpuActivities,
  kLaunches,
  kGraphLaunches,
  kMemcpyCount,
  kMemcpyBytes,
  kMemcpyHtoDCount,
  kMemcpyHtoDBytes,
  kMemcpyDtoHCount,
  kMemcpyDtoHBytes,
  kMemcpyDtoDCount,
  kMemcpyDtoDBytes,
  kMemsetCount,
  kCommCount,
  kCommBytes,
  kStreams,
  kCpuKernels,
  kHostOps,
  kRootOps,
  kViewOps,
  kCopyOps,
  kAllocations,
  kAllocatedBytes,
  kPeakBytes,
  kDeviceMallocs,
  kSyncs,
  kHarnessSyncs,
  kCompiledRegions,
  kGraphBreaks,
  kRecompiles,
  kGpuTime,
  kCommTime,
  kCommExposed,
  kKernelTime,
  kGpuIdle,
  kCpuKernelTime,
  kInstructions,
  kDispatch,
  kLaunchApiTime,
  kLaunchDelay,
  kLatencyP50,
  kLatencyP95,
  kLatencyP99,
  kColdStart,
  kColdStartLoad,
  kColdStartCompile,
  kColdStartFirstCall,
  kWarmupIterations,
  kFallbacks,
  kRelativeError,
  kMaxAbsError,
  kNanCount,
  kInfCount,
};

// Exact: the same every run, judged by equality. Near exact: device times, judged by `change` with
// a tolerance. Noisy: wall time, judged by `regression` only (a `change` rule on it is a
// configuration error).
enum class Exactness { kExact, kNearExact, kNoisy };

enum class Better { kLower, kHigher, kNeither };

// Where a metric can be had at all. A rule's `device` is compared with it.
enum class MetricDevice { kAny, kGpu, kCpu };

struct Metric {
  MetricId id;
  std::string_view name;  // "memcpy_bytes.htod", "latency.p50"
  Unit unit;
  Better better;
  Exactness exactness;
  MetricDevice device;
  std::string_view needs;  // what a trace or attempt must contain, for `unavailable` texts
  std::string_view help;   // one line
  // 0 says that something optional is not in use (CUDA graphs, torch.compile): a change from or to
  // it is a decision of the model, and no rise or fall of the number.
  bool zero_is_unused = false;
  bool worst_process = false;  // processes may differ, and the largest value counts
};

std::span<const Metric> Metrics();
const Metric& Info(MetricId id);
std::optional<MetricId> FindMetric(std::string_view name);

// How a kernel, copy or sync differs between two traces. Most telling first.
enum class ChangeKind {
  kFusionSplit,
  kFusionLost,
  kFused,
  kEpilogueLost,
  kEpilogueGained,
  kTensorCoreLost,
  kDtypeChanged,
  kGraphLost,
  kHiddenCopy,
  kSyncAdded,
  kSubstituted,
  kMoved,
  kAdded,
  kRemoved,
};

std::span<const ChangeKind> ChangeKinds();
std::string_view ToString(ChangeKind kind);  // "fusion_split"
std::optional<ChangeKind> FindChangeKind(std::string_view name);
// True for the kinds that are worse by their nature (split, lost, hidden copy, sync added, ...);
// added, removed, substituted, moved, fused, epilogue_gained are not by themselves.
bool IsRegression(ChangeKind kind);

}  // namespace perfgate
