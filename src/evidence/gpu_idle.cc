// Why a GPU was idle between two pieces of its work, and how far the host ran ahead of it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "evidence/gpu.h"

namespace perfgate {
namespace {

// Calls that make the host wait, by thread, in order of time.
class WaitingCalls {
 public:
  WaitingCalls(const TraceData& trace, const HostTree& host) : trace_(trace) {
    std::vector<char> waits(trace.texts.size());
    for (uint32_t text = 0; text < trace.texts.size(); ++text) {
      waits[text] = Waits(ClassifyCall(trace.Text(text)));
    }
    for (const uint32_t index : host.order) {
      const TraceEvent& event = trace.events[index];
      if (event.IsCall() && waits[event.name]) calls_[event.thread].push_back(index);
    }
  }

  // True if `thread` stood in such a call at this instant, or had just left one.
  bool Hold(uint32_t thread, int64_t ns) const {
    // The host sees the end of the GPU's work a little later than the GPU.
    constexpr int64_t kReturnNs = 2000;
    const auto calls = calls_.find(thread);
    if (calls == calls_.end()) return false;
    const auto after = std::upper_bound(
        calls->second.begin(), calls->second.end(), ns,
        [this](int64_t at, uint32_t call) { return at < trace_.events[call].start_ns; });
    return after != calls->second.begin() && trace_.events[*(after - 1)].EndNs() + kReturnNs >= ns;
  }

 private:
  const TraceData& trace_;
  std::map<uint32_t, std::vector<uint32_t>> calls_;
};

// The work of one step.
class StepIdle {
 public:
  StepIdle(const TraceData& trace, const GpuLinks& links, const WaitingCalls& waits)
      : trace_(trace), links_(links), waits_(waits) {}

  void Add(const GpuWork& work) {
    if (!work.has_time) return;
    lanes_[trace_.events[work.event].device].push_back(&work);
    starts_.push_back(trace_.events[work.event].start_ns);
    launched_.push_back(trace_.events[links_.calls[work.call].event].start_ns);
  }

  void Finish(size_t step, IdleTimes& idle) {
    for (auto& [device, works] : lanes_) Sweep(works, step, idle);
    idle.queue_depth[step] = MeanDepth();
    lanes_.clear();
    starts_.clear();
    launched_.clear();
  }

 private:
  void Sweep(std::vector<const GpuWork*>& works, size_t step, IdleTimes& idle) {
    std::sort(works.begin(), works.end(), [this](const GpuWork* a, const GpuWork* b) {
      return std::make_pair(trace_.events[a->event].start_ns, a->event) <
             std::make_pair(trace_.events[b->event].start_ns, b->event);
    });
    int64_t reached = trace_.events[works.front()->event].start_ns;
    for (const GpuWork* work : works) {
      const int64_t start = trace_.events[work->event].start_ns;
      if (start > reached) AddGap(reached, start, *work, step, idle);
      reached = std::max(reached, work->busy_end_ns);
    }
  }

  // The GPU ran dry at `from`; `next` ended that.
  void AddGap(int64_t from, int64_t to, const GpuWork& next, size_t step, IdleTimes& idle) const {
    const TraceEvent& launch = trace_.events[links_.calls[next.call].event];
    const int64_t late = std::clamp<int64_t>(launch.EndNs() - from, 0, to - from);
    (waits_.Hold(launch.thread, from) ? idle.sync_ns : idle.launch_ns)[step] += late;
    idle.queued_ns[step] += to - from - late;
  }

  // Works that a launch found launched and not started, mean over the launches.
  double MeanDepth() {
    std::sort(starts_.begin(), starts_.end());
    std::sort(launched_.begin(), launched_.end());
    int64_t sum = 0, launches = 0;
    size_t started = 0;
    for (size_t before = 0; before < launched_.size();) {
      const int64_t at = launched_[before];
      while (started < starts_.size() && starts_[started] <= at) ++started;
      sum += static_cast<int64_t>(std::max(before, started) - started);
      ++launches;
      // One launch call may own many works.
      while (before < launched_.size() && launched_[before] == at) ++before;
    }
    return launches == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(launches);
  }

  const TraceData& trace_;
  const GpuLinks& links_;
  const WaitingCalls& waits_;
  std::map<int16_t, std::vector<const GpuWork*>> lanes_;  // by device
  std::vector<int64_t> starts_, launched_;
};

}  // namespace

void ExtractIdle(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                 ProcessEvidence& evidence) {
  const size_t steps = evidence.window.steps.size();
  IdleTimes& idle = evidence.idle;
  for (auto* times : {&idle.launch_ns, &idle.sync_ns, &idle.queued_ns}) times->resize(steps);
  idle.queue_depth.resize(steps);
  const WaitingCalls waits(trace, host);
  StepIdle step(trace, links, waits);
  for (size_t i = 0; i < links.work.size(); ++i) {
    step.Add(links.work[i]);
    if (i + 1 == links.work.size() || links.work[i + 1].step != links.work[i].step) {
      step.Finish(static_cast<size_t>(links.work[i].step), idle);
    }
  }
}

}  // namespace perfgate
