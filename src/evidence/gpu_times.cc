#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "evidence/gpu.h"
#include "evidence/rows.h"
#include "evidence/run_sort.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

using Interval = std::pair<int64_t, int64_t>;  // start, end

// Total length of the union.
int64_t UnionNs(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t total = 0, reached = kAbsent;
  for (const auto& [start, end] : intervals) {
    const int64_t from = reached == kAbsent ? start : std::max(start, reached);
    if (end > from) total += end - from;
    reached = reached == kAbsent ? end : std::max(reached, end);
  }
  return total;
}

// Work of one stream runs in order, so a record that holds the whole of a later one cannot be true
// (seen: a kernel of seconds while the next starts 5 us later). Overlap at the edges is real
// (programmatic dependent launch), and branches of a graph do run side by side.
void ClipImpossibleEnds(const TraceData& trace, GpuLinks& links, ProcessEvidence& evidence) {
  constexpr int64_t kToleranceNs = 1000;
  std::vector<uint32_t> order;  // in links.work
  order.reserve(links.work.size());
  for (uint32_t i = 0; i < links.work.size(); ++i) {
    if (links.work[i].has_time && !links.work[i].in_graph) order.push_back(i);
  }
  const auto event_of = [&](uint32_t work) -> const TraceEvent& {
    return trace.events[links.work[work].event];
  };
  SortRuns(order, [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t work) {
      const TraceEvent& event = event_of(work);
      return std::make_tuple(event.device, event.stream, event.start_ns, links.work[work].event);
    };
    return key(a) < key(b);
  });
  int64_t clipped = 0, clipped_ns = 0, total_ns = 0, first_end_ns = INT64_MAX;
  for (size_t i = order.size(); i-- > 0;) {
    const TraceEvent& event = event_of(order[i]);
    total_ns = SaturatingAdd(total_ns, event.duration_ns);
    const TraceEvent& next = event_of(order[std::min(i + 1, order.size() - 1)]);
    if (i + 1 == order.size() || next.device != event.device || next.stream != event.stream) {
      first_end_ns = event.EndNs();
      continue;
    }
    // The earliest end of all that starts later.
    const int64_t later_end_ns = first_end_ns;
    first_end_ns = std::min(first_end_ns, event.EndNs());
    if (event.EndNs() <= later_end_ns + kToleranceNs || next.start_ns <= event.start_ns) continue;
    ++clipped;
    clipped_ns = SaturatingAdd(clipped_ns, event.EndNs() - next.start_ns);
    links.work[order[i]].busy_end_ns = next.start_ns;
  }
  if (clipped == 0) return;
  const std::string text =
      fmt::format("{} past the end of the next record of the stream, by {} us in all",
                  Plural(clipped, "GPU record runs", "GPU records run"), clipped_ns / 1000);
  if (clipped_ns > (total_ns - clipped_ns) / 100) {
    evidence.incomplete.push_back(text + ": durations cannot be true");
  } else {
    evidence.notes.push_back(text + ": clipped for busy times");
  }
}

struct StepTimes {
  std::map<int16_t, std::vector<Interval>> work, comm;  // by device
  int64_t kernel_ns = 0;
};

void FinishStep(StepTimes& times, size_t step, ProcessEvidence& evidence) {
  int64_t gpu_ns = 0, comm_ns = 0, idle_ns = 0;
  for (auto& [device, intervals] : times.work) gpu_ns = SaturatingAdd(gpu_ns, UnionNs(intervals));
  for (auto& [device, intervals] : times.comm) {
    comm_ns = SaturatingAdd(comm_ns, UnionNs(intervals));
    std::vector<Interval>& all = times.work[device];
    all.insert(all.end(), intervals.begin(), intervals.end());
  }
  for (auto& [device, intervals] : times.work) {
    const int64_t busy_ns = UnionNs(intervals);
    int64_t last = intervals.front().second;
    for (const Interval& interval : intervals) last = std::max(last, interval.second);
    idle_ns =
        SaturatingAdd(idle_ns, std::max<int64_t>(0, last - intervals.front().first - busy_ns));
  }
  evidence.Steps(MetricId::kGpuTime)[step] = static_cast<double>(gpu_ns);
  evidence.Steps(MetricId::kCommTime)[step] = static_cast<double>(comm_ns);
  evidence.Steps(MetricId::kGpuIdle)[step] = static_cast<double>(idle_ns);
  evidence.Steps(MetricId::kKernelTime)[step] = static_cast<double>(times.kernel_ns);
  times = StepTimes{};
}

void ExtractBusyTimes(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence) {
  enum : char { kUnknown, kCollective, kOtherWork };
  std::vector<char> of_text(trace.texts.size(), kUnknown);
  StepTimes times;
  for (const MetricId id :
       {MetricId::kGpuTime, MetricId::kCommTime, MetricId::kGpuIdle, MetricId::kKernelTime}) {
    evidence.Steps(id);
  }
  for (size_t i = 0; i < links.work.size(); ++i) {
    const GpuWork& work = links.work[i];
    const TraceEvent& event = trace.events[work.event];
    const bool kernel = work.kind == EventKind::kKernel;
    char& sort = of_text[event.name];
    if (kernel && sort == kUnknown) {
      const Family family = DecodeKernelName(trace.Text(event.name)).family;
      sort = family == Family::kCollective ? kCollective : kOtherWork;
    }
    if (work.has_time) {
      auto& lanes = kernel && sort == kCollective ? times.comm : times.work;
      lanes[event.device].emplace_back(event.start_ns, work.busy_end_ns);
      if (kernel) times.kernel_ns = SaturatingAdd(times.kernel_ns, event.duration_ns);
    }
    if (i + 1 == links.work.size() || links.work[i + 1].step != work.step) {
      FinishStep(times, static_cast<size_t>(work.step), evidence);
    }
  }
}

// The profiler's own work on the host, merged and in order.
std::vector<Interval> Overheads(const TraceData& trace) {
  std::vector<Interval> spans;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events.Kind(i) != EventKind::kOverhead) continue;
    const TraceEvent& event = trace.events[i];
    spans.emplace_back(event.start_ns, event.EndNs());
  }
  std::sort(spans.begin(), spans.end());
  size_t kept = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (kept > 0 && spans[i].first <= spans[kept - 1].second) {
      spans[kept - 1].second = std::max(spans[kept - 1].second, spans[i].second);
    } else {
      spans[kept++] = spans[i];
    }
  }
  spans.resize(kept);
  return spans;
}

bool Overlaps(const std::vector<Interval>& spans, const TraceEvent& event) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), Interval{event.EndNs(), INT64_MAX});
  return after != spans.begin() && (after - 1)->second > event.start_ns;
}

// Work that starts before its launch: the clocks of the host and the GPU are apart. Durations stay
// right; what lies between the two clocks does not.
void CheckEarly(int64_t early, int64_t timed, ProcessEvidence& evidence) {
  constexpr int64_t kFew = 8;
  const std::string text = fmt::format("the GPU work of {} of {} seems to start before its launch",
                                       early, Plural(timed, "launch", "launches"));
  evidence.notes.push_back(text + ": the clocks of host and GPU are apart");
  if (early > kFew && early * 2 > timed) evidence.unavailable[MetricId::kLaunchDelay] = text;
}

void ExtractLaunchTimes(const TraceData& trace, std::vector<LaunchCall> calls,
                        ProcessEvidence& evidence) {
  const std::vector<Interval> overheads = Overheads(trace);
  std::vector<double>& api = evidence.Steps(MetricId::kLaunchApiTime);
  std::vector<double>& delay = evidence.Steps(MetricId::kLaunchDelay);
  std::vector<int64_t> delays;  // of one step
  int64_t disturbed = 0, timed = 0, early = 0;
  std::erase_if(calls, [](const LaunchCall& call) {
    const bool launches = call.LaunchesKernel() || call.kind == CallKind::kGraphLaunch;
    return !launches || call.step < 0 || call.captured;
  });
  SortRuns(calls, [](const LaunchCall& a, const LaunchCall& b) { return a.step < b.step; });
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto step = static_cast<size_t>(calls[i].step);
    const TraceEvent& event = trace.events[calls[i].event];
    const bool during_overhead = Overlaps(overheads, event);
    disturbed += during_overhead;
    if (!during_overhead) api[step] += static_cast<double>(event.EndNs() - event.start_ns);
    if (!during_overhead && calls[i].first_work != LaunchCall::kNoWork) {
      const int64_t work_ns = trace.events[calls[i].first_work].start_ns;
      ++timed;
      early += work_ns < event.start_ns;
      delays.push_back(std::max<int64_t>(0, work_ns - event.EndNs()));
    }
    if (i + 1 == calls.size() || calls[i + 1].step != calls[i].step) {
      delay[step] = static_cast<double>(LowerMedian(std::exchange(delays, {})));
    }
  }
  if (early > 0) CheckEarly(early, timed, evidence);
  if (disturbed > 0) {
    evidence.explain.push_back(fmt::format(
        "{} during the profiler's own work: left out of launch_api_time and launch_delay",
        Plural(disturbed, "launch", "launches")));
  }
}

}  // namespace

void ExtractGpuTimes(const TraceData& trace, GpuLinks& links, ProcessEvidence& evidence) {
  ClipImpossibleEnds(trace, links, evidence);
  ExtractBusyTimes(trace, links, evidence);
  ExtractLaunchTimes(trace, std::move(links.calls), evidence);
}

}  // namespace perfgate
