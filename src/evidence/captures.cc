#include "evidence/captures.h"

#include <algorithm>

namespace perfgate {

Captures::Captures(const TraceData& trace, const HostTree& host) {
  std::map<uint32_t, std::vector<std::pair<int64_t, bool>>> marks;  // time, and whether it begins
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (!IsCall(trace.events.Kind(i))) continue;
    const TraceEvent& call = trace.events[i];
    const CallKind kind = host.CallKindOf(call);
    if (kind == CallKind::kBeginCapture) {
      marks[call.thread].emplace_back(call.start_ns, true);
    } else if (kind == CallKind::kEndCapture) {
      marks[call.thread].emplace_back(call.EndNs(), false);
    }
  }
  for (auto& [thread, list] : marks) Pair(thread, list);
}

bool Captures::Hold(const TraceEvent& call) const {
  const auto thread = intervals_.find(call.thread);
  if (thread == intervals_.end()) return false;
  const auto after = std::upper_bound(thread->second.begin(), thread->second.end(), call.start_ns,
                                      [](int64_t at, const auto& span) { return at < span.first; });
  return after != thread->second.begin() && call.start_ns < (after - 1)->second;
}

void Captures::Pair(uint32_t thread, std::vector<std::pair<int64_t, bool>>& marks) {
  std::sort(marks.begin(), marks.end());
  int64_t open = kAbsent;
  for (const auto& [at, begins] : marks) {
    if (begins && open == kAbsent) open = at;
    if (begins || open == kAbsent) continue;
    intervals_[thread].emplace_back(open, at);
    open = kAbsent;
  }
}

}  // namespace perfgate
