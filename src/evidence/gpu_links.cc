#include "evidence/gpu_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "evidence/captures.h"
#include "evidence/events_of.h"
#include "evidence/run_sort.h"

namespace perfgate {
namespace {

class Linker {
 public:
  Linker(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence)
      : trace_(trace), host_(host), evidence_(evidence) {}

  GpuLinks Link() {
    SortGpuWork();
    CheckOneProcess();
    findings_.by_external_id = !AnyCorrelation();
    CollectCalls();
    if (links_.linked && !gpu_.empty() && !AnyLaunch()) {
      Unlink("the trace has GPU work but no launch calls with a correlation");
    }
    if (links_.linked) Join();
    if (!links_.linked) return Unlinked();
    ReportLinks(trace_, links_, findings_, evidence_);
    SortRuns(links_.work, [this](const GpuWork& a, const GpuWork& b) {
      const auto key = [this](const GpuWork& work) {
        return std::make_tuple(work.step, trace_.events[work.launch].start_ns,
                               trace_.events[work.event].start_ns, work.event);
      };
      return key(a) < key(b);
    });
    return std::move(links_);
  }

 private:
  int64_t IdOf(const TraceEvent& event) const {
    const int64_t id = findings_.by_external_id ? event.external_id : event.correlation;
    return id > 0 ? id : kAbsent;
  }

  void Unlink(std::string reason) {
    links_.linked = false;
    links_.unlinked_reason = std::move(reason);
  }

  // All GPU work as if one call of no kind had launched it in step 0.
  GpuLinks Unlinked() {
    links_.calls.clear();
    links_.work.clear();
    links_.work.reserve(gpu_.size());
    evidence_.pre_window = 0;
    for (size_t i = 0; i < gpu_.size(); ++i) {
      if (i > 0 && Identity(gpu_[i - 1]) == Identity(gpu_[i])) continue;
      const TraceEvent& event = trace_.events[gpu_[i]];
      links_.work.push_back({.busy_end_ns = event.EndNs(),
                             .event = gpu_[i],
                             .launch = gpu_.front(),
                             .has_time = HasTime(event),
                             .kind = KindOf(event)});
    }
    return std::move(links_);
  }

  static bool HasTime(const TraceEvent& event) {
    return event.duration_ns != kAbsent && !(event.start_ns <= 0 && event.duration_ns == 0);
  }

  EventKind KindOf(const TraceEvent& event) const {
    if (event.kind != EventKind::kKernel) return event.kind;
    switch (MemoryKernelOf(trace_.Text(event.name))) {
      case MemoryKernel::kCopy:
        return EventKind::kMemcpy;
      case MemoryKernel::kFill:
        return EventKind::kMemset;
      case MemoryKernel::kNone:
        return EventKind::kKernel;
    }
    return EventKind::kKernel;
  }

  void SortGpuWork() {
    const EventList& events = trace_.events;
    gpu_ = EventsOf(events, [&](uint32_t i) { return IsGpuWork(events.Kind(i)); });
    // Of equal records the first in the file comes first.
    SortRuns(gpu_,
             [this](uint32_t left, uint32_t right) { return Identity(left) < Identity(right); });
  }

  std::tuple<int64_t, int64_t, int16_t, int32_t, uint32_t, int64_t, int64_t> Identity(
      uint32_t index) const {
    const TraceEvent& event = trace_.events[index];
    return {event.correlation, event.start_ns,    event.device, event.stream,
            event.name,        event.duration_ns, event.bytes};
  }

  // Correlations are numbered by process: two processes in one file cannot be told apart.
  void CheckOneProcess() {
    std::set<uint32_t> processes;
    for (size_t i = 0; i < trace_.events.size(); ++i) {
      if (!IsCall(trace_.events.Kind(i))) continue;
      const uint32_t process = trace_.events[i].process;
      if (processes.empty() || process != *processes.rbegin()) processes.insert(process);
    }
    if (processes.size() < 2) return;
    evidence_.incomplete.push_back(fmt::format(
        "the file holds CUDA calls of {} processes: give one trace a process", processes.size()));
  }

  bool AnyCorrelation() const {
    const auto has = [this](uint32_t index) { return trace_.events[index].correlation > 0; };
    return gpu_.empty() || std::any_of(gpu_.begin(), gpu_.end(), has);
  }

  void CollectCalls() {
    const Captures captures(trace_, host_);
    size_t count = 0;
    for (uint32_t i = 0; i < trace_.events.size(); ++i) count += IsCall(trace_.events.Kind(i));
    links_.calls.reserve(count);  // large traces: no doubling
    StepCursor steps(evidence_.window);
    for (uint32_t i = 0; i < trace_.events.size(); ++i) {
      if (!IsCall(trace_.events.Kind(i))) continue;
      const TraceEvent& event = trace_.events[i];
      const CallKind kind = host_.CallKindOf(event);
      const int64_t id = IdOf(event);
      if (findings_.by_external_id && !IsLaunch(kind)) continue;
      if (id == kAbsent) {
        findings_.unnumbered_launches += LaunchesKernels(kind);
        continue;
      }
      links_.calls.push_back({.id = id,
                              .event = i,
                              .step = steps.At(event.start_ns),
                              .kind = kind,
                              .captured = IsLaunch(kind) && captures.Hold(event)});
    }
    if (findings_.by_external_id && findings_.unnumbered_launches > 0) {
      Unlink("kernels carry no correlation, and launches no External id");
    }
    MergeCalls();
  }

  // One entry an id: the outermost call, and the most telling kind of the calls inside it.
  void MergeCalls() {
    std::vector<LaunchCall>& calls = links_.calls;
    SortRuns(calls, [this](const LaunchCall& a, const LaunchCall& b) {
      if (a.id != b.id) return a.id < b.id;
      return trace_.events[a.event].start_ns < trace_.events[b.event].start_ns;
    });
    size_t kept = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (kept > 0 && calls[kept - 1].id == calls[i].id) {
        if (findings_.by_external_id)
          Unlink("kernels carry no correlation, and External ids are not unique");
        if (IsLaunch(calls[kept - 1].kind) && IsLaunch(calls[i].kind)) {
          findings_.collisions += !Holds(calls[kept - 1], calls[i]);
        } else if (IsLaunch(calls[i].kind)) {
          calls[kept - 1].kind = calls[i].kind;
        }
        continue;
      }
      calls[kept++] = calls[i];
    }
    calls.resize(kept);
  }

  // A runtime call holds the driver call that has the same id. Two calls apart from each other with
  // one id come from two numberings: ranks or processes that were merged into one file.
  bool Holds(const LaunchCall& outer, const LaunchCall& inner) const {
    const TraceEvent& a = trace_.events[outer.event];
    const TraceEvent& b = trace_.events[inner.event];
    constexpr int64_t kToleranceNs = 1000;  // times in whole microseconds
    return a.process == b.process && a.thread == b.thread && b.start_ns <= a.EndNs() + kToleranceNs;
  }

  // A call that is known to launch, or whose work is in the trace.
  bool AnyLaunch() const {
    std::vector<int64_t> ids;
    ids.reserve(gpu_.size());
    for (const uint32_t index : gpu_) ids.push_back(IdOf(trace_.events[index]));
    SortRuns(ids, std::less<>());
    return std::any_of(links_.calls.begin(), links_.calls.end(), [&ids](const LaunchCall& call) {
      return IsLaunch(call.kind) || std::binary_search(ids.begin(), ids.end(), call.id);
    });
  }

  // Calls are numbered as they come: below the first of the trace is what came before it.
  bool IsBeforeWindow(int64_t id) const { return id != kAbsent && id < links_.calls.front().id; }

  LaunchCall* Find(int64_t id) {
    const auto is_before = [](const LaunchCall& call, int64_t x) { return call.id < x; };
    // Mostly asked in rising order: the next one is near the last one.
    constexpr std::ptrdiff_t kNear = 16;
    auto from = links_.calls.begin() + last_found_, to = links_.calls.end();
    if (from != to && id < from->id) from = links_.calls.begin();
    if (to - from > kNear && id < (from + kNear)->id) to = from + kNear;
    const auto found = std::lower_bound(from, to, id, is_before);
    if (found == links_.calls.end() || found->id != id) return nullptr;
    last_found_ = found - links_.calls.begin();
    return &*found;
  }

  void Join() {
    links_.work.reserve(gpu_.size());
    for (size_t i = 0; i < gpu_.size(); ++i) {
      const TraceEvent& event = trace_.events[gpu_[i]];
      const int64_t id = IdOf(event);
      LaunchCall* call = id == kAbsent ? nullptr : Find(id);
      if (call == nullptr) {
        if (findings_.by_external_id) {
          Unlink("kernels carry no correlation, and their External ids name no launch");
          return;
        }
        if (IsBeforeWindow(id)) {
          ++evidence_.pre_window;
        } else {
          if (findings_.orphans++ == 0) findings_.first_orphan = gpu_[i];
        }
        continue;
      }
      const bool graph = call->kind == CallKind::kGraphLaunch;
      if (!graph && i > 0 && Identity(gpu_[i - 1]) == Identity(gpu_[i])) {
        ++findings_.duplicates;
        continue;
      }
      Count(gpu_[i], event, *call);
    }
  }

  void Count(uint32_t index, const TraceEvent& event, LaunchCall& call) {
    call.owns_work = true;
    call.captured = false;  // it ran: a stream beside the one that is captured
    call.owns_kernel |= event.kind == EventKind::kKernel;
    const bool has_time = HasTime(event);
    if (has_time && (call.first_work == LaunchCall::kNoWork ||
                     event.start_ns < trace_.events[call.first_work].start_ns)) {
      call.first_work = index;
    }
    if (call.step < 0) {
      ++findings_.outside;
      return;
    }
    findings_.untimed += !has_time;
    links_.work.push_back({.busy_end_ns = event.EndNs(),
                           .event = index,
                           .launch = call.event,
                           .step = call.step,
                           .has_time = has_time,
                           .in_graph = call.kind == CallKind::kGraphLaunch,
                           .kind = KindOf(event)});
  }

  const TraceData& trace_;
  const HostTree& host_;
  ProcessEvidence& evidence_;
  std::vector<uint32_t> gpu_;  // sorted by correlation, then by all that identifies a record
  GpuLinks links_;
  std::ptrdiff_t last_found_ = 0;  // in links_.calls
  LinkFindings findings_;
};

}  // namespace

bool GpuLinks::KnowsCalls() const {
  const auto owns = [](const LaunchCall& call) { return call.owns_work; };
  const auto known = [&](const LaunchCall& call) { return owns(call) && IsLaunch(call.kind); };
  return std::none_of(calls.begin(), calls.end(), owns) ||
         std::any_of(calls.begin(), calls.end(), known);
}

GpuLinks LinkGpuWork(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence) {
  return Linker(trace, host, evidence).Link();
}

}  // namespace perfgate
