#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "evidence/attribution.h"
#include "evidence/host.h"
#include "evidence/paths.h"
#include "evidence/rows.h"

namespace perfgate {
namespace {

bool CountsOnce(OperatorKind kind) {
  return kind == OperatorKind::kComputing || kind == OperatorKind::kFused;
}

// Operators that may count when nothing below them does. Views, allocations and metadata calls
// never compute.
bool CountsAsLeaf(OperatorKind kind, std::string_view name) {
  return kind == OperatorKind::kOther || (kind == OperatorKind::kCopy && !MayCopyNothing(name));
}

// For each operator: does it count as one CPU kernel? Decided from the inside out, then what stands
// below a computing operator is hidden.
std::vector<bool> FindCpuKernels(const TraceData& trace, const HostTree& host) {
  std::vector<bool> counts(trace.events.size()), any_below(trace.events.size());
  for (auto at = host.order.rbegin(); at != host.order.rend(); ++at) {
    const TraceEvent& event = trace.events[*at];
    if (event.kind != EventKind::kOperator) continue;
    const OperatorKind kind = host.KindOf(event);
    counts[*at] =
        CountsOnce(kind) || (!any_below[*at] && CountsAsLeaf(kind, trace.Text(event.name)));
    const int32_t parent = host.parent[*at];
    if (parent != kNoOperator && (counts[*at] || any_below[*at])) {
      any_below[static_cast<size_t>(parent)] = true;
    }
  }
  std::vector<bool> hidden(trace.events.size());
  for (const uint32_t index : host.order) {
    const int32_t parent = host.parent[index];
    if (parent == kNoOperator) continue;
    const auto above = static_cast<size_t>(parent);
    hidden[index] = hidden[above] || CountsOnce(host.KindOf(trace.events[above]));
    if (hidden[index]) counts[index] = false;
  }
  return counts;
}

// Inductor records the kernels that it generates for a CPU only if asked to. Without them a
// compiled region looks like no work at all.
void CheckCompiledRegions(ProcessEvidence& evidence) {
  const auto any = [&evidence](MetricId id) {
    const std::vector<double>& steps = evidence.Steps(id);
    return std::any_of(steps.begin(), steps.end(), [](double count) { return count > 0; });
  };
  if (!any(MetricId::kCompiledRegions)) return;
  constexpr const char* kRemedy =
      "none of the kernels that Inductor generated is recorded: set "
      "torch._inductor.config.cpp.enable_kernel_profile = True before compiling";
  if (any(MetricId::kCpuKernels)) {
    evidence.notes.push_back(std::string("compiled regions ran, and ") + kRemedy);
    return;
  }
  for (const MetricId id : {MetricId::kCpuKernels, MetricId::kCpuKernelTime}) {
    evidence.unavailable[id] = std::string("compiled regions ran, and ") + kRemedy;
  }
}

}  // namespace

void ExtractCpuKernels(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence) {
  const std::vector<bool> counts = FindCpuKernels(trace, host);
  std::vector<double>& kernels = evidence.Steps(MetricId::kCpuKernels);
  std::vector<double>& time_ns = evidence.Steps(MetricId::kCpuKernelTime);
  int64_t no_kernels = 0;
  bool fused = false;
  const Attribution attribution(trace, host);
  OperatorPaths paths(host);
  RowTable rows(evidence.window.Count());
  StepCursor cursor(evidence.window);
  for (const uint32_t index : host.order) {
    const TraceEvent& event = trace.events[index];
    const int step = cursor.At(event.start_ns);
    if (step < 0) continue;
    if (!counts[index]) {
      no_kernels += event.kind == EventKind::kOperator;
      continue;
    }
    const int64_t duration_ns = event.duration_ns == kAbsent ? 0 : event.duration_ns;
    kernels[static_cast<size_t>(step)] += 1;
    fused |= host.KindOf(event) == OperatorKind::kFused;
    time_ns[static_cast<size_t>(step)] += static_cast<double>(duration_ns);
    const auto op = static_cast<int32_t>(index);
    const uint32_t path = paths.Of(op);
    const RowTable::Handle row = rows.Row({-1, event.name, path}, [&](KernelRow& fresh) {
      fresh.name = trace.Text(event.name);
      fresh.op_path = paths.Text(path);
      fresh.device = "cpu";
      fresh.input_types = InputTypes(trace, op);
    });
    rows.Count(row, step, duration_ns);
    const uint32_t dims = trace.signatures[event.detail].input_dims;
    if (dims != 0) rows.AddShape(row, dims, duration_ns, [&] { return trace.Text(dims); });
    attribution.Describe(event, op, duration_ns, row, rows);
  }
  if (no_kernels > 0) {
    evidence.explain.push_back(
        Plural(no_kernels, "operator call") +
        " without work of their own (views, allocations, operators around others, compiler "
        "rows) or below a computing one: no CPU kernels");
  }
  if (!fused) CheckCompiledRegions(evidence);
  if (rows.overflowed())
    evidence.incomplete.push_back("more CPU kernel names and steps than can be kept");
  for (KernelRow& row : rows.Take()) evidence.kernels.push_back(std::move(row));
}

}  // namespace perfgate
