// The GPU side of a trace: work joined to the calls that launched it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evidence/attribution.h"
#include "evidence/calls.h"
#include "evidence/host.h"
#include "evidence/process.h"
#include "evidence/time_line.h"
#include "trace/trace.h"

namespace perfgate {

// One call that has a correlation (a runtime call and the driver call inside it share one).
struct LaunchCall {
  static constexpr uint32_t kNoWork = UINT32_MAX;

  int64_t id = 0;                 // correlation; External id where the trace has no correlations
  uint32_t event = 0;             // the outermost call
  int32_t step = -1;              // by the call's start; -1: outside the marked steps
  uint32_t first_work = kNoWork;  // event: of its GPU work that has a time, what started first
  CallKind kind = CallKind::kOther;
  bool captured = false;  // recorded into a graph: owns no GPU work
  bool owns_work = false, owns_kernel = false;

  // Not of a graph. A call whose name is not known is a launch if a kernel is its work.
  bool LaunchesKernel() const {
    return kind == CallKind::kKernelLaunch || (kind == CallKind::kOther && owns_kernel);
  }
};
static_assert(sizeof(LaunchCall) == 24);  // one is kept for each call of a trace

// One GPU activity that counts.
struct GpuWork {
  int64_t busy_end_ns = 0;  // its end, clipped where the record cannot be true
  uint32_t event = 0;
  uint32_t launch = 0;  // event: the call that launched it
  int32_t step = 0;
  bool has_time = true;  // false: 0/0, "not collected"
  bool in_graph = false;
  // kMemcpy and kMemset too where CUPTI shows the driver's kernel for it, as it does for those of a
  // CUDA graph that is older than the profiler.
  EventKind kind = EventKind::kKernel;
};
static_assert(sizeof(GpuWork) == 24);  // one is kept for each GPU activity of a trace

struct GpuLinks {
  bool linked = true;  // false: launches cannot be joined to GPU work
  std::string unlinked_reason;
  std::vector<LaunchCall> calls;  // sorted by id; none after ExtractGpuTimes
  std::vector<GpuWork> work;      // inside the steps, sorted by step, then by launch

  // False: not one call that owns work has a name that is known, so what else the runtime's calls
  // do is not known either.
  bool KnowsCalls() const;
  int64_t Bytes() const {
    return static_cast<int64_t>(calls.size() * sizeof(LaunchCall) + work.size() * sizeof(GpuWork));
  }
};

// Joins launches and GPU work, and checks that nothing is missing: what is goes to
// `evidence.incomplete`, what is rightly left out to `evidence.explain`.
GpuLinks LinkGpuWork(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence);

// kernels, gpu_activities, launches, graph_launches, memcpy_*, memset_count, streams,
// device_mallocs.
void ExtractGpuCounts(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                      ProcessEvidence& evidence);
// gpu_time, comm_time, kernel_time, gpu_idle, launch_api_time, launch_delay. Clips impossible ends,
// and takes the calls: what comes after needs the work only.
void ExtractGpuTimes(const TraceData& trace, GpuLinks& links, ProcessEvidence& evidence);
// comm_count, comm_bytes, comm_exposed and the rows of collectives. After ExtractGpuTimes.
void ExtractCommunication(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence);
// Why the GPU was idle in each of so many steps. After ExtractGpuTimes.
IdleTimes ExtractIdle(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                      size_t steps);
// Rows of kernels and transfers; what `time_line` takes of them too.
void ExtractGpuRows(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                    const Attribution& attribution, TimeLineMaker& time_line,
                    ProcessEvidence& evidence);
// syncs, harness_syncs and the rows of synchronising calls.
void ExtractSyncs(const TraceData& trace, const HostTree& host, const Attribution& attribution,
                  bool harness_syncs_outside, ProcessEvidence& evidence);

}  // namespace perfgate
