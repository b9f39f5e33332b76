#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "evidence/gpu.h"
#include "evidence/paths.h"
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

// Makes the rows of GPU work.
class WorkRows {
 public:
  WorkRows(const TraceData& trace, const HostTree& host, const Attribution& attribution,
           TimeLineMaker& time_line, int steps)
      : trace_(trace),
        operator_of_(trace, host),
        attribution_(attribution),
        time_line_(time_line),
        paths_(host),
        kernels_(steps),
        transfers_(steps) {}

  void Add(const GpuWork& work) {
    const TraceEvent& event = trace_.events[work.event];
    const int32_t op = operator_of_(work.launch);
    uint32_t path = paths_.Of(op);
    if (path == OperatorPaths::kNowhere && work.in_graph) path = paths_.Graph();
    const bool kernel = work.kind == EventKind::kKernel;
    RowTable& table = kernel ? kernels_ : transfers_;
    const RowTable::Handle row = table.Row({event.device, event.name, path}, [&](KernelRow& fresh) {
      fresh.name = trace_.Text(event.name);
      fresh.op_path = paths_.Text(path);
      fresh.device = DeviceName(event.device);
      Describe(event, work.in_graph, op, fresh);
    });
    AddStream(table[row], event.stream);
    const int64_t time_ns = work.has_time ? event.duration_ns : 0;
    table.Count(row, work.step, time_ns);
    if (!kernel) table.AddBytes(row, work.step, event.bytes == kAbsent ? 0 : event.bytes);
    if (op != kNoOperator) AddDims(table, row, trace_.events[static_cast<size_t>(op)], time_ns);
    attribution_.Describe(trace_.events[work.launch], op, time_ns, row, table);
    if (!work.has_time) return;
    const TraceEvent* around =
        op == kNoOperator ? nullptr : &trace_.events[static_cast<size_t>(op)];
    time_line_.AddWork(event, work.step, table[row].op_path,
                       around == nullptr ? "" : trace_.InputDims(*around));
  }

  void Take(ProcessEvidence& evidence) {
    if (kernels_.overflowed() || transfers_.overflowed()) {
      evidence.incomplete.push_back(
          "more kernel names and steps than can be kept: trace fewer iterations");
    }
    for (KernelRow& row : kernels_.Take()) evidence.kernels.push_back(std::move(row));
    for (KernelRow& row : transfers_.Take()) evidence.transfers.push_back(std::move(row));
  }

 private:
  // What a row has of its first launch.
  void Describe(const TraceEvent& event, bool graph, int32_t op, KernelRow& row) const {
    row.in_graph = graph;
    if (event.kind == EventKind::kKernel) {
      row.grid = Wide(trace_.shapes[event.detail].grid);
      row.block = Wide(trace_.shapes[event.detail].block);
    }
    if (op != kNoOperator) row.input_types = InputTypes(trace_, op);
  }

  void AddDims(RowTable& table, RowTable::Handle row, const TraceEvent& op, int64_t time_ns) const {
    const uint32_t dims = trace_.signatures[op.detail].input_dims;
    if (dims != 0) table.AddShape(row, dims, time_ns, [&] { return trace_.Text(dims); });
  }

  const TraceData& trace_;
  const OperatorOf operator_of_;
  const Attribution& attribution_;
  TimeLineMaker& time_line_;
  OperatorPaths paths_;
  RowTable kernels_, transfers_;
};

}  // namespace

void ExtractGpuRows(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                    const Attribution& attribution, TimeLineMaker& time_line,
                    ProcessEvidence& evidence) {
  WorkRows rows(trace, host, attribution, time_line, evidence.window.Count());
  for (const GpuWork& work : links.work) rows.Add(work);
  rows.Take(evidence);
  FindDevices(trace, links, evidence);
}

void ExtractSyncs(const TraceData& trace, const HostTree& host, const Attribution& attribution,
                  bool harness_syncs_outside, ProcessEvidence& evidence) {
  const size_t steps = evidence.window.steps.size();
  std::vector<uint32_t> syncs, last_call(steps, UINT32_MAX);
  StepCursor cursor(evidence.window);
  for (const uint32_t index : host.order) {
    if (!IsCall(trace.events.Kind(index))) continue;
    const TraceEvent& event = trace.events[index];
    const int step = cursor.At(event.start_ns);
    if (step < 0) continue;
    uint32_t& last = last_call[static_cast<size_t>(step)];
    if (last == UINT32_MAX || trace.events[last].start_ns <= event.start_ns) last = index;
    if (Waits(host.CallKindOf(event))) syncs.push_back(index);
  }
  // A torch.profiler user synchronises at the end of each step: every step's last call, made by no
  // operator. It is the harness's own only if every step has it.
  const bool harness = !harness_syncs_outside &&
                       std::all_of(last_call.begin(), last_call.end(), [&](uint32_t index) {
                         return index != UINT32_MAX && host.parent[index] == kNoOperator &&
                                Waits(host.CallKindOf(trace.events[index]));
                       });
  std::vector<double>& counts = evidence.Steps(MetricId::kSyncs);
  std::vector<double>& harness_counts = evidence.Steps(MetricId::kHarnessSyncs);
  OperatorPaths paths(host);
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
    const int32_t op = host.parent[index];
    const uint32_t path = paths.Of(op);
    const RowTable::Handle row = rows.Row({-1, event.name, path}, [&](KernelRow& fresh) {
      fresh.name = trace.Text(event.name);
      fresh.op_path = paths.Text(path);
      fresh.device = "cpu";
    });
    const int64_t time_ns = event.EndNs() - event.start_ns;
    rows.Count(row, step, time_ns);
    attribution.Describe(event, op, time_ns, row, rows);
  }
  evidence.syncs = rows.Take();
  const auto left_out =
      static_cast<int64_t>(std::accumulate(harness_counts.begin(), harness_counts.end(), 0.0));
  if (left_out > 0) {
    evidence.explain.push_back(Plural(left_out, "synchronising call") +
                               ", the last call of every step and outside operators: taken for the "
                               "profiling loop's own, counted as harness_syncs");
  }
}

}  // namespace perfgate
