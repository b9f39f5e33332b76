#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evidence/gpu.h"
#include "evidence/rows.h"

namespace perfgate {
namespace {

std::string DeviceName(int16_t device) {
  return device < 0 ? std::string("cuda") : fmt::format("cuda:{}", device);
}

std::array<int64_t, 3> Wide(const std::array<int32_t, 3>& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

void FindDevices(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  std::map<int, int64_t> work;
  for (const GpuWork& item : links.work) ++work[trace.events[item.event].device];
  for (const auto& [device, count] : work) evidence.devices.push_back(device);
  std::stable_sort(evidence.devices.begin(), evidence.devices.end(),
                   [&work](int a, int b) { return work[a] > work[b]; });
}

}  // namespace

void ExtractGpuRows(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                    ProcessEvidence& evidence) {
  const OperatorOf operator_of(trace, host);
  RowTable kernels(evidence.window.Count()), transfers(evidence.window.Count());
  for (const GpuWork& work : links.work) {
    const TraceEvent& event = trace.events[work.event];
    const LaunchCall& call = links.calls[work.call];
    const bool graph = call.kind == CallKind::kGraphLaunch;
    const int32_t op = operator_of(call.event);
    std::string path = host.Path(op);
    if (path.empty() && graph) path = "graph";
    const bool kernel = event.kind == EventKind::kKernel;
    RowTable& table = kernel ? kernels : transfers;
    KernelRow& row = table.Row(DeviceName(event.device), trace.Text(event.name), path);
    if (row.streams.empty()) {  // its first launch
      row.in_graph = graph;
      if (kernel) {
        row.grid = Wide(trace.shapes[event.detail].grid);
        row.block = Wide(trace.shapes[event.detail].block);
      }
    }
    AddStream(row, event.stream);
    const int64_t time_ns = work.has_time ? event.duration_ns : 0;
    table.Add(row, work.step, time_ns);
    if (op != kNoOperator) {
      AddShape(row, trace.InputDims(trace.events[static_cast<size_t>(op)]), 1, time_ns);
    }
    if (!kernel) table.AddBytes(row, work.step, event.bytes == kAbsent ? 0 : event.bytes);
  }
  if (kernels.overflowed() || transfers.overflowed()) {
    evidence.incomplete.push_back(
        "more kernel names and steps than can be kept: trace fewer iterations");
  }
  for (KernelRow& row : kernels.Take()) evidence.kernels.push_back(std::move(row));
  for (KernelRow& row : transfers.Take()) evidence.transfers.push_back(std::move(row));
  FindDevices(trace, links, evidence);
}

void ExtractSyncs(const TraceData& trace, const HostTree& host, bool harness_syncs_outside,
                  ProcessEvidence& evidence) {
  const size_t steps = evidence.window.steps.size();
  std::vector<uint32_t> syncs, last_call(steps, UINT32_MAX);
  for (const uint32_t index : host.order) {
    const TraceEvent& event = trace.events[index];
    const int step = event.IsCall() ? evidence.window.StepAt(event.start_ns) : -1;
    if (step < 0) continue;
    uint32_t& last = last_call[static_cast<size_t>(step)];
    if (last == UINT32_MAX || trace.events[last].start_ns <= event.start_ns) last = index;
    if (Waits(ClassifyCall(trace.Text(event.name)))) syncs.push_back(index);
  }
  // A torch.profiler user synchronises at the end of each step: every step's last call, made by no
  // operator. It is the harness's own only if every step has it.
  const bool harness = !harness_syncs_outside &&
                       std::all_of(last_call.begin(), last_call.end(), [&](uint32_t index) {
                         return index != UINT32_MAX && host.parent[index] == kNoOperator &&
                                Waits(ClassifyCall(trace.Text(trace.events[index].name)));
                       });
  std::vector<double>& counts = evidence.Steps(MetricId::kSyncs);
  std::vector<double>& harness_counts = evidence.Steps(MetricId::kHarnessSyncs);
  RowTable rows(evidence.window.Count());
  for (const uint32_t index : syncs) {
    const TraceEvent& event = trace.events[index];
    const int step = evidence.window.StepAt(event.start_ns);
    const auto at = static_cast<size_t>(step);
    if (harness && last_call[at] == index) {
      harness_counts[at] += 1;
      continue;
    }
    counts[at] += 1;
    KernelRow& row = rows.Row("cpu", trace.Text(event.name), host.Path(host.parent[index]));
    rows.Add(row, step, event.EndNs() - event.start_ns);
  }
  evidence.syncs = rows.Take();
}

}  // namespace perfgate
