#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "evidence/gpu.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

struct Direction {
  CopyDirection direction;
  MetricId count, bytes;
};

constexpr std::array kDirections = {
    Direction{CopyDirection::kHostToDevice, MetricId::kMemcpyHtoDCount, MetricId::kMemcpyHtoDBytes},
    Direction{CopyDirection::kDeviceToHost, MetricId::kMemcpyDtoHCount, MetricId::kMemcpyDtoHBytes},
    Direction{CopyDirection::kDeviceToDevice, MetricId::kMemcpyDtoDCount,
              MetricId::kMemcpyDtoDBytes},
};

void CountWork(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  bool unknown_direction = false;
  std::set<MetricId> unknown_bytes;
  for (const Direction& direction : kDirections) {
    evidence.Steps(direction.count);
    evidence.Steps(direction.bytes);
  }
  std::vector<double>& kernels = evidence.Steps(MetricId::kKernels);
  std::vector<double>& activities = evidence.Steps(MetricId::kGpuActivities);
  std::vector<double>& copies = evidence.Steps(MetricId::kMemcpyCount);
  std::vector<double>& bytes = evidence.Steps(MetricId::kMemcpyBytes);
  std::vector<double>& fills = evidence.Steps(MetricId::kMemsetCount);
  for (const GpuWork& work : links.work) {
    const TraceEvent& event = trace.events[work.event];
    const auto step = static_cast<size_t>(work.step);
    activities[step] += 1;
    kernels[step] += work.kind == EventKind::kKernel;
    fills[step] += work.kind == EventKind::kMemset;
    if (work.kind != EventKind::kMemcpy) continue;
    copies[step] += 1;
    const bool sized = event.bytes != kAbsent;
    if (!sized) unknown_bytes.insert(MetricId::kMemcpyBytes);
    const double size = !sized ? 0 : static_cast<double>(event.bytes);
    bytes[step] += size;
    const CopyDirection said = DirectionOfCopy(trace.Text(event.name));
    unknown_direction |= said == CopyDirection::kUnknown;
    const auto direction =
        std::find_if(kDirections.begin(), kDirections.end(),
                     [said](const Direction& row) { return row.direction == said; });
    if (direction == kDirections.end()) continue;
    if (!sized) unknown_bytes.insert(direction->bytes);
    evidence.values[direction->count][step] += 1;
    evidence.values[direction->bytes][step] += size;
  }
  if (unknown_direction) {
    for (const Direction& direction : kDirections) {
      for (const MetricId id : {direction.count, direction.bytes}) {
        evidence.values.erase(id);
        evidence.unavailable[id] = "the trace does not name the direction of every copy";
      }
    }
  }
  for (const MetricId id : unknown_bytes) {
    evidence.values.erase(id);
    evidence.unavailable[id] = "the trace does not give the bytes of every copy";
  }
}

void CountStreams(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  std::set<std::pair<int16_t, int32_t>> streams;
  std::pair<int16_t, int32_t> last;
  std::vector<double>& counts = evidence.Steps(MetricId::kStreams);
  for (size_t i = 0; i < links.work.size(); ++i) {
    const TraceEvent& event = trace.events[links.work[i].event];
    const std::pair stream(event.device, event.stream);
    if (streams.empty() || stream != last) streams.insert(last = stream);
    if (i + 1 == links.work.size() || links.work[i + 1].step != links.work[i].step) {
      counts[static_cast<size_t>(links.work[i].step)] = static_cast<double>(streams.size());
      streams.clear();
    }
  }
}

void CountLaunches(const GpuLinks& links, ProcessEvidence& evidence) {
  std::vector<double>& launches = evidence.Steps(MetricId::kLaunches);
  std::vector<double>& graphs = evidence.Steps(MetricId::kGraphLaunches);
  for (const LaunchCall& call : links.calls) {
    if (call.step < 0 || call.captured) continue;
    const auto step = static_cast<size_t>(call.step);
    graphs[step] += call.kind == CallKind::kGraphLaunch;
    launches[step] += call.LaunchesKernel();
  }
}

void CountMallocs(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence) {
  std::vector<double>& mallocs = evidence.Steps(MetricId::kDeviceMallocs);
  std::set<int64_t> seen;  // a runtime call and the driver call inside it are one
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (!IsCall(trace.events.Kind(i))) continue;
    const TraceEvent& event = trace.events[i];
    if (host.CallKindOf(event) != CallKind::kDeviceMalloc) continue;
    const int step = evidence.window.StepAt(event.start_ns);
    const bool repeated = event.correlation > 0 && !seen.insert(event.correlation).second;
    if (step >= 0 && !repeated) mallocs[static_cast<size_t>(step)] += 1;
  }
}

}  // namespace

void ExtractGpuCounts(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                      ProcessEvidence& evidence) {
  CountWork(trace, links, evidence);
  CountStreams(trace, links, evidence);
  CountLaunches(links, evidence);
  CountMallocs(trace, host, evidence);
}

}  // namespace perfgate
