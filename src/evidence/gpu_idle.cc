// Why a GPU was idle between two pieces of its work, and how far the host ran ahead of it.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "evidence/gpu.h"

namespace perfgate {
namespace {

// Calls that make the host wait, by thread, in order of time.
class WaitingCalls {
 public:
  WaitingCalls(const TraceData& trace, const HostTree& host) : trace_(trace) {
    for (const uint32_t index : host.order) {
      if (!IsCall(trace.events.Kind(index))) continue;
      const TraceEvent& event = trace.events[index];
      if (Waits(host.CallKindOf(event))) calls_[event.thread].push_back(index);
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

// How many works the launches of a step find launched and not started. Works of earlier steps may
// still be among them.
class QueueDepth {
 public:
  // In order of the launches.
  void Add(int64_t launched_ns, int64_t start_ns) {
    // One launch call may own many works.
    if (launched_ns != last_launch_ns_) {
      while (!waiting_.empty() && waiting_.top() <= launched_ns) waiting_.pop();
      sum_ += static_cast<double>(waiting_.size());
      ++launches_;
      last_launch_ns_ = launched_ns;
    }
    waiting_.push(start_ns);
  }

  // The mean over the launches since the last call; 0 without a launch.
  double FinishStep() {
    const double mean = launches_ == 0 ? 0 : sum_ / launches_;
    sum_ = launches_ = 0;
    last_launch_ns_ = kAbsent;
    return mean;
  }

 private:
  // When the works start that were launched, the next one first.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> waiting_;
  double sum_ = 0, launches_ = 0;
  int64_t last_launch_ns_ = kAbsent;
};

// The work of one step.
class StepIdle {
 public:
  StepIdle(const TraceData& trace, const WaitingCalls& waits) : trace_(trace), waits_(waits) {}

  void Add(const GpuWork& work) {
    if (!work.has_time) return;
    const TraceEvent& event = trace_.events[work.event];
    lanes_[event.device].push_back(&work);
    depth_.Add(trace_.events[work.launch].start_ns, event.start_ns);
  }

  void Finish(size_t step, IdleTimes& idle) {
    for (auto& [device, works] : lanes_) Sweep(works, step, idle);
    idle.queue_depth[step] = depth_.FinishStep();
    lanes_.clear();
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
    const TraceEvent& launch = trace_.events[next.launch];
    const int64_t late = std::clamp<int64_t>(launch.EndNs() - from, 0, to - from);
    const auto add = [step](std::vector<int64_t>& sums, int64_t ns) {
      sums[step] = SaturatingAdd(sums[step], ns);
    };
    add(waits_.Hold(launch.thread, from) ? idle.sync_ns : idle.launch_ns, late);
    add(idle.queued_ns, to - from - late);
  }

  const TraceData& trace_;
  const WaitingCalls& waits_;
  std::map<int16_t, std::vector<const GpuWork*>> lanes_;  // by device
  QueueDepth depth_;
};

}  // namespace

IdleTimes ExtractIdle(const TraceData& trace, const HostTree& host, const GpuLinks& links,
                      size_t steps) {
  IdleTimes idle;
  for (auto* times : {&idle.launch_ns, &idle.sync_ns, &idle.queued_ns}) times->resize(steps);
  idle.queue_depth.resize(steps);
  const WaitingCalls waits(trace, host);
  StepIdle step(trace, waits);
  for (size_t i = 0; i < links.work.size(); ++i) {
    step.Add(links.work[i]);
    if (i + 1 == links.work.size() || links.work[i + 1].step != links.work[i].step) {
      step.Finish(static_cast<size_t>(links.work[i].step), idle);
    }
  }
  return idle;
}

}  // namespace perfgate
