#include <algorithm>
#include <vector>

#include "evidence/events_of.h"
#include "evidence/host.h"
#include "evidence/run_sort.h"

namespace perfgate {
namespace {

constexpr MetricId kMemoryMetrics[] = {MetricId::kAllocations, MetricId::kAllocatedBytes,
                                       MetricId::kPeakBytes};

}  // namespace

void ExtractMemory(const TraceData& trace, ProcessEvidence& evidence) {
  std::vector<uint32_t> order = EventsOf(
      trace.events, [&trace](uint32_t i) { return trace.events.Kind(i) == EventKind::kMemory; });
  if (order.empty() && !trace.profile_memory) {
    for (const MetricId id : kMemoryMetrics) {
      evidence.unavailable[id] = "needs a trace taken with profile_memory: no [memory] events";
    }
    return;
  }
  SortRuns(order, [&trace](uint32_t a, uint32_t b) {
    return trace.events[a].start_ns < trace.events[b].start_ns;
  });
  std::vector<double>& allocations = evidence.Steps(MetricId::kAllocations);
  std::vector<double>& bytes = evidence.Steps(MetricId::kAllocatedBytes);
  std::vector<double>& peak = evidence.Steps(MetricId::kPeakBytes);
  std::vector<double> growth(peak.size());
  StepCursor steps(evidence.window);
  int64_t without_bytes = 0;
  for (const uint32_t index : order) {
    const TraceEvent& event = trace.events[index];
    const int step = steps.At(event.start_ns);
    if (event.bytes == kAbsent) {
      ++without_bytes;
      continue;
    }
    if (step < 0) continue;
    const auto at = static_cast<size_t>(step);
    if (event.bytes > 0) {
      allocations[at] += 1;
      bytes[at] += static_cast<double>(event.bytes);
    }
    growth[at] += static_cast<double>(event.bytes);
    peak[at] = std::max(peak[at], growth[at]);
  }
  if (without_bytes > 0) {
    evidence.incomplete.push_back("[memory] events without a readable size");
  }
}

}  // namespace perfgate
