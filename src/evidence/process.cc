#include "evidence/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "evidence/gpu.h"
#include "evidence/host.h"
#include "evidence/time_line.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

// On another thread; where none can be had, when its result is asked for.
template <typename Work>
auto Beside(Work work) {
  return std::async(std::launch::async | std::launch::deferred, std::move(work));
}

// Operators that no CPU runs: where the profiler could not record the GPU, these tell of it.
bool RanGpuOperators(const TraceData& trace) {
  std::vector<uint32_t> names;
  for (uint32_t text = 0; text < trace.texts.size(); ++text) {
    if (RunsOnGpuAlone(trace.Text(text))) names.push_back(text);
  }
  if (names.empty()) return false;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events.Kind(i) != EventKind::kOperator) continue;
    if (std::binary_search(names.begin(), names.end(), trace.events[i].name)) return true;
  }
  return false;
}

bool UsesGpu(const TraceData& trace, const HostTree& host) {
  if (trace.gpu_rows) return true;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events.Kind(i) == EventKind::kOperator) continue;
    const TraceEvent& event = trace.events[i];
    if (event.IsGpuWork()) return true;
    // The caching allocator of a GPU.
    if (event.kind == EventKind::kMemory && event.device >= 0) return true;
    if (event.IsCall() && IsLaunch(host.CallKindOf(event))) return true;
  }
  return RanGpuOperators(trace);
}

// Counts that cannot be told by step would look like evidence.
void GpuUnavailable(const std::string& reason, ProcessEvidence& evidence) {
  for (const Metric& metric : Metrics()) {
    if (metric.device == MetricDevice::kGpu) evidence.unavailable[metric.id] = reason;
  }
}

constexpr MetricId kLaunchMetrics[] = {MetricId::kLaunches, MetricId::kGraphLaunches,
                                       MetricId::kLaunchApiTime, MetricId::kLaunchDelay};

// Without links a trace still holds its GPU work. Where no step is marked, all of it is the step.
void NoteUnlinked(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  const std::string reason = "launches cannot be linked: " + links.unlinked_reason;
  int64_t kernels = 0, copies = 0, fills = 0;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    kernels += trace.events[i].kind == EventKind::kKernel;
    copies += trace.events[i].kind == EventKind::kMemcpy;
    fills += trace.events[i].kind == EventKind::kMemset;
  }
  evidence.incomplete.push_back("launches cannot be linked to GPU work: " + links.unlinked_reason);
  evidence.notes.push_back(fmt::format("the whole trace holds {}, {}, {}",
                                       Plural(kernels, "kernel"), Plural(copies, "copy", "copies"),
                                       Plural(fills, "fill")));
  if (evidence.window.marked) {
    GpuUnavailable(reason, evidence);
  } else {
    for (const MetricId id : kLaunchMetrics) evidence.unavailable[id] = reason;
  }
}

// Calls that wait or allocate cannot be told from others.
void CallsUnknown(ProcessEvidence& evidence) {
  for (const MetricId id : {MetricId::kSyncs, MetricId::kHarnessSyncs, MetricId::kDeviceMallocs}) {
    evidence.values.erase(id);
    evidence.unavailable[id] = "the names of the runtime's calls are not known";
  }
}

void ExtractGpu(const TraceData& trace, const HostTree& host, bool harness_syncs_outside,
                TimeLineMaker& time_line, ProcessEvidence& evidence) {
  if (!trace.other_accelerator.empty()) {
    const std::string reason = fmt::format(
        "the trace holds work of {}, whose events name no launch", trace.other_accelerator);
    evidence.incomplete.push_back(reason + ": it is not counted");
    GpuUnavailable(reason, evidence);
    return;
  }
  std::future<Attribution> attribution = Beside([&] { return Attribution(trace, host); });
  GpuLinks links = LinkGpuWork(trace, host, evidence);
  if (!links.linked) NoteUnlinked(trace, links, evidence);
  if (!links.linked && evidence.window.marked) return;
  evidence.link_bytes += links.Bytes();
  const bool knows_calls = links.KnowsCalls();
  ExtractGpuCounts(trace, host, links, evidence);
  ExtractGpuTimes(trace, links, evidence);
  ExtractCommunication(trace, links, evidence);
  std::future<IdleTimes> idle = Beside([&, steps = evidence.window.steps.size()] {
    return links.linked && knows_calls ? ExtractIdle(trace, host, links, steps) : IdleTimes();
  });
  const Attribution attributed = attribution.get();
  ExtractGpuRows(trace, host, links, attributed, time_line, evidence);
  ExtractSyncs(trace, host, attributed, harness_syncs_outside, evidence);
  evidence.idle = idle.get();
  if (!knows_calls) CallsUnknown(evidence);
}

// Marked steps in which nothing was recorded: the model ran in a thread or a process that the
// profiler does not see.
void CheckWork(const TraceData& trace, ProcessEvidence& evidence) {
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const EventKind kind = trace.events.Kind(i);
    if (kind != EventKind::kOperator && !IsCall(kind)) continue;
    if (evidence.window.StepAt(trace.events[i].start_ns) >= 0) return;
  }
  if (trace.events.size() == 0 || !evidence.incomplete.empty()) return;
  evidence.incomplete.push_back(
      evidence.window.marked
          ? "no operator and no CUDA call stands inside the marked steps: the model may run in a "
            "thread that the profiler does not see"
          : "the trace holds no operator and no CUDA call");
}

// A guard that fails compiles the code anew: kernels are the same, and the host is busy for
// seconds.
void NoteCompilation(const TraceData& trace, ProcessEvidence& evidence) {
  // Older versions of torch write the function that holds it in between.
  const std::optional<uint32_t> compiling[] = {
      trace.texts.Find("_compile.compile_inner (dynamo_timed)"),
      trace.texts.Find("_compile.<locals>.compile_inner (dynamo_timed)")};
  if ((!compiling[0] && !compiling[1]) || !evidence.window.marked) return;
  std::set<int> steps;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const uint32_t name = trace.events[i].name;
    if (IsCall(trace.events.Kind(i)) || (name != compiling[0] && name != compiling[1])) continue;
    steps.insert(evidence.window.StepAt(trace.events[i].start_ns));
  }
  steps.erase(-1);
  if (steps.empty()) return;
  evidence.notes.push_back(
      fmt::format("torch.compile compiled in {} of {}: no step should, once the warm-up is over",
                  steps.size(), Plural(evidence.window.Count(), "step")));
}

// Ranks are told apart by what the trace says of itself.
void CheckRank(const TraceData& trace, ProcessEvidence& evidence) {
  const auto comm = evidence.values.find(MetricId::kCommTime);
  if (trace.rank || comm == evidence.values.end()) return;
  const std::vector<double>& steps = comm->second;
  if (std::any_of(steps.begin(), steps.end(), [](double ns) { return ns > 0; })) {
    evidence.notes.push_back(
        "collectives ran, but the trace does not say its rank (distributedInfo): taken as rank 0");
  }
}

// Of a file that is not whole, what is missing may hold it.
void CheckGpuIsThere(const TraceData& trace, ProcessEvidence& evidence) {
  if (!trace.incomplete.empty()) return;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].IsCall() || trace.events[i].IsGpuWork()) return;
  }
  evidence.incomplete.push_back(
      "the process used a GPU, but the trace holds no CUDA call and no GPU activity: the profiler "
      "recorded the CPU only");
}

// A trace whose calls say nothing, and which holds no work of their device, is not one of a CPU.
void CheckRuntimeIsKnown(const TraceData& trace, ProcessEvidence& evidence) {
  if (!trace.incomplete.empty()) return;
  std::optional<uint32_t> unknown;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (!IsCall(trace.events.Kind(i))) continue;
    if (IsOfKnownRuntime(trace.Text(trace.events[i].name))) return;
    unknown = unknown.value_or(trace.events[i].name);
  }
  if (!unknown) return;
  evidence.incomplete.push_back(
      fmt::format("the trace holds calls of a runtime that is not known (first: {}) and no work of "
                  "its device: what ran there is not counted",
                  Printable(trace.Text(*unknown))));
}

void NoteTraceFacts(const TraceData& trace, ProcessEvidence& evidence) {
  evidence.explain.push_back(fmt::format("{} in the file, {} kept",
                                         Plural(trace.events_read, "event"), trace.events.size()));
  for (const auto& [reason, count] : trace.left_out) {
    evidence.explain.push_back(fmt::format("{} {}", count, reason));
  }
  for (const std::string& warning : trace.warnings) evidence.notes.push_back("trace: " + warning);
  if (trace.whole_microseconds) {
    evidence.notes.push_back("the trace gives whole microseconds only: times are coarse");
  }
  if (!trace.incomplete.empty()) {
    evidence.incomplete.push_back(trace.incomplete);
  } else if (trace.events.size() == 0) {
    evidence.incomplete.push_back("the trace holds no events of use");
  }
}

// Values and rows of the host, which need nothing of the GPU's side.
ProcessEvidence ExtractHostSide(const TraceData& trace, const HostTree& host, Window window) {
  ProcessEvidence side;
  side.window = std::move(window);
  ExtractHost(trace, host, side);
  ExtractMemory(trace, side);
  return side;
}

// How many texts there were before the two sides.
struct Before {
  size_t incomplete = 0, explain = 0;
};

// What was found on the host is told before what was found on the GPU.
void AddHostSide(ProcessEvidence side, const Before& before, ProcessEvidence& evidence) {
  const auto insert = [](std::vector<std::string>& from, size_t at, std::vector<std::string>& to) {
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), from.begin(), from.end());
  };
  insert(side.incomplete, before.incomplete, evidence.incomplete);
  insert(side.explain, before.explain, evidence.explain);
  evidence.values.merge(side.values);
  evidence.unavailable.merge(side.unavailable);
  evidence.operators = std::move(side.operators);
}

}  // namespace

ProcessEvidence ExtractProcess(const TraceData& trace, bool gpu_expected,
                               bool harness_syncs_outside) {
  ProcessEvidence evidence;
  NoteTraceFacts(trace, evidence);
  evidence.window = FindWindow(trace, evidence.notes, evidence.incomplete);
  const HostTree host = BuildHostTree(trace);
  evidence.link_bytes += host.Bytes();
  evidence.gpu = gpu_expected || UsesGpu(trace, host) || !trace.other_accelerator.empty();
  const Before before{evidence.incomplete.size(), evidence.explain.size()};
  std::future<ProcessEvidence> host_side =
      Beside([&, window = evidence.window] { return ExtractHostSide(trace, host, window); });
  TimeLineMaker time_line(trace, evidence.window);
  time_line.AddHost(host);
  if (evidence.gpu) {
    if (trace.other_accelerator.empty()) CheckGpuIsThere(trace, evidence);
    ExtractGpu(trace, host, harness_syncs_outside || !trace.writer.empty(), time_line, evidence);
    CheckRank(trace, evidence);
    AddHostSide(host_side.get(), before, evidence);
  } else {
    AddHostSide(host_side.get(), before, evidence);
    ExtractCpuKernels(trace, host, evidence);
    CheckRuntimeIsKnown(trace, evidence);
  }
  CheckWork(trace, evidence);
  NoteCompilation(trace, evidence);
  evidence.time_line = time_line.Take();
  evidence.explain.insert(
      evidence.explain.begin() + static_cast<std::ptrdiff_t>(before.explain),
      fmt::format("read with {} bytes of records in memory, {} of them ties between records",
                  trace.RecordBytes() + evidence.link_bytes, evidence.link_bytes));
  return evidence;
}

}  // namespace perfgate
