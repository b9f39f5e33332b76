#include "evidence/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "evidence/gpu.h"
#include "evidence/host.h"

namespace perfgate {
namespace {

void ExtractGpu(const TraceData& trace, HostTree& host, bool harness_syncs_outside,
                ProcessEvidence& evidence) {
  GpuLinks links = LinkGpuWork(trace, evidence);
  if (!links.linked) {
    // Nothing a step can be said. Counts over the whole window would look like evidence.
    for (const Metric& metric : Metrics()) {
      if (metric.device == MetricDevice::kGpu) {
        evidence.unavailable[metric.id] = "launches cannot be linked: " + links.unlinked_reason;
      }
    }
    evidence.incomplete.push_back("launches cannot be linked to GPU work: " +
                                  links.unlinked_reason);
    return;
  }
  ExtractGpuCounts(trace, links, evidence);
  ExtractGpuTimes(trace, links, evidence);
  ExtractGpuRows(trace, host, links, evidence);
  ExtractSyncs(trace, host, harness_syncs_outside, evidence);
}

void CheckGpuIsThere(const TraceData& trace, ProcessEvidence& evidence) {
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].IsCall() || trace.events[i].IsGpuWork()) return;
  }
  evidence.incomplete.push_back(
      "the process used a GPU, but the trace holds no CUDA call and no GPU activity: the profiler "
      "recorded the CPU only");
}

void NoteTraceFacts(const TraceData& trace, ProcessEvidence& evidence) {
  for (const auto& [reason, count] : trace.left_out) {
    evidence.explain.push_back(fmt::format("{} {}", count, reason));
  }
  evidence.explain.push_back(
      fmt::format("read with {} bytes of records in memory", trace.RecordBytes()));
  for (const std::string& warning : trace.warnings) evidence.notes.push_back("trace: " + warning);
  if (trace.whole_microseconds) {
    evidence.notes.push_back("the trace gives whole microseconds only: times are coarse");
  }
  if (!trace.incomplete.empty()) evidence.incomplete.push_back(trace.incomplete);
  if (trace.events.size() == 0) evidence.incomplete.push_back("the trace holds no events of use");
}

}  // namespace

ProcessEvidence ExtractProcess(const TraceData& trace, bool gpu_expected,
                               bool harness_syncs_outside) {
  ProcessEvidence evidence;
  evidence.gpu = gpu_expected || UsesGpu(trace);
  NoteTraceFacts(trace, evidence);
  evidence.window = FindWindow(trace, evidence.notes, evidence.incomplete);
  HostTree host = BuildHostTree(trace);
  ExtractHost(trace, host, evidence);
  ExtractMemory(trace, evidence);
  if (evidence.gpu) {
    CheckGpuIsThere(trace, evidence);
    ExtractGpu(trace, host, harness_syncs_outside || !trace.writer.empty(), evidence);
  } else {
    ExtractCpuKernels(trace, host, evidence);
  }
  return evidence;
}

}  // namespace perfgate
