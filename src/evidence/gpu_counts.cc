#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "evidence/gpu.h"

namespace perfgate {
namespace {

struct Direction {
  std::string_view text;
  MetricId count, bytes;
};

// The first text that a copy's name holds decides.
constexpr std::array kDirections = {
    Direction{"Memcpy HtoD", MetricId::kMemcpyHtoDCount, MetricId::kMemcpyHtoDBytes},
    Direction{"Memcpy DtoH", MetricId::kMemcpyDtoHCount, MetricId::kMemcpyDtoHBytes},
    Direction{"Memcpy DtoD", MetricId::kMemcpyDtoDCount, MetricId::kMemcpyDtoDBytes},
    // ROCm's spelling.
    Direction{"CopyHostToDevice", MetricId::kMemcpyHtoDCount, MetricId::kMemcpyHtoDBytes},
    Direction{"CopyDeviceToHost", MetricId::kMemcpyDtoHCount, MetricId::kMemcpyDtoHBytes},
    Direction{"CopyDeviceToDevice", MetricId::kMemcpyDtoDCount, MetricId::kMemcpyDtoDBytes},
    // Intel's: "zeCommandListAppendMemoryCopy(M2D)", M for the host's memory.
    Direction{"(M2D", MetricId::kMemcpyHtoDCount, MetricId::kMemcpyHtoDBytes},
    Direction{"(D2M", MetricId::kMemcpyDtoHCount, MetricId::kMemcpyDtoHBytes},
    Direction{"(D2D", MetricId::kMemcpyDtoDCount, MetricId::kMemcpyDtoDBytes},
};

constexpr MetricId kByteMetrics[] = {MetricId::kMemcpyBytes, MetricId::kMemcpyHtoDBytes,
                                     MetricId::kMemcpyDtoHBytes, MetricId::kMemcpyDtoDBytes};

void CountWork(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  bool bytes_missing = false, unknown_direction = false;
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
    bytes_missing |= event.bytes == kAbsent;
    const double size = event.bytes == kAbsent ? 0 : static_cast<double>(event.bytes);
    bytes[step] += size;
    const std::string_view name = trace.Text(event.name);
    const auto direction =
        std::find_if(kDirections.begin(), kDirections.end(), [&](const Direction& d) {
          // The driver's kernels copy inside the GPU.
          return event.kind == EventKind::kKernel ? d.count == MetricId::kMemcpyDtoDCount
                                                  : name.find(d.text) != std::string_view::npos;
        });
    if (direction == kDirections.end()) {
      // Between peers or inside the host: a direction without a metric.
      unknown_direction |= !name.starts_with("Memcpy ") && !name.starts_with("Copy");
      continue;
    }
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
  if (!bytes_missing) return;
  for (const MetricId id : kByteMetrics) {
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
    // A call whose name CUPTI did not know is a launch if a kernel is its work.
    launches[step] +=
        call.kind == CallKind::kKernelLaunch || (call.kind == CallKind::kOther && call.owns_kernel);
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
