#include "evidence/frames.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "evidence/events_of.h"
#include "evidence/host.h"
#include "evidence/path_text.h"
#include "evidence/run_sort.h"

namespace perfgate {
namespace {

constexpr size_t kDeepestFrame = 128;

}  // namespace

Frames::Frames(const TraceData& trace, EventKind kind) : trace_(trace) {
  const std::vector<uint32_t> ranges = EventsOf(trace.events, [&](uint32_t i) {
    return trace.events.Kind(i) == kind && trace.events[i].duration_ns != kAbsent &&
           !trace.Text(trace.events[i].name).starts_with("ProfilerStep#");
  });
  frames_.reserve(ranges.size());
  for (const uint32_t event : ranges) frames_.push_back({event, kNone});
  SortRuns(frames_, [&trace](const Frame& left, const Frame& right) {
    const TraceEvent& a = trace.events[left.event];
    const TraceEvent& b = trace.events[right.event];
    return std::make_tuple(a.process, a.thread, a.start_ns, -a.EndNs(), left.event) <
           std::make_tuple(b.process, b.thread, b.start_ns, -b.EndNs(), right.event);
  });
  Nest();
  NumberPaths();
}

void Frames::Nest() {
  std::vector<uint32_t> around;
  for (uint32_t i = 0; i < frames_.size(); ++i) {
    const TraceEvent& event = trace_.events[frames_[i].event];
    while (!around.empty() && !Encloses(trace_.events[frames_[around.back()].event], event)) {
      around.pop_back();
    }
    if (!around.empty() && around.size() < kDeepestFrame) frames_[i].parent = around.back();
    around.push_back(i);
  }
}

void Frames::NumberPaths() {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  // of parent path and name
  paths_.reserve(frames_.size());
  for (const Frame& frame : frames_) {
    const uint32_t parent = frame.parent == kNone ? kNone : paths_[frame.parent];
    const auto number = static_cast<uint32_t>(numbers.size());
    const uint32_t name = trace_.events[frame.event].name;
    paths_.push_back(numbers.try_emplace({parent, name}, number).first->second);
    if (trace_.Text(name).size() > kLongestElement && !cut_.contains(name)) {
      cut_.emplace(name, PathElement(trace_.Text(name)));
    }
  }
}

std::string_view Frames::ElementOf(uint32_t frame) const {
  const uint32_t name = trace_.events[frames_[frame].event].name;
  const auto cut = cut_.find(name);
  return cut == cut_.end() ? trace_.Text(name) : std::string_view(cut->second);
}

uint32_t Frames::Around(const TraceEvent& event) const {
  const auto after = std::upper_bound(
      frames_.begin(), frames_.end(), event, [this](const TraceEvent& at, const Frame& frame) {
        const TraceEvent& other = trace_.events[frame.event];
        return std::make_tuple(at.process, at.thread, at.start_ns) <
               std::make_tuple(other.process, other.thread, other.start_ns);
      });
  if (after == frames_.begin()) return kNone;
  auto frame = static_cast<uint32_t>(after - frames_.begin() - 1);
  while (frame != kNone && !Encloses(trace_.events[frames_[frame].event], event)) {
    frame = frames_[frame].parent;
  }
  return frame;
}

std::string Frames::Path(uint32_t frame) const {
  std::vector<std::string_view> elements;
  for (; frame != kNone && elements.size() < kDeepestFrame; frame = frames_[frame].parent) {
    elements.push_back(ElementOf(frame));
  }
  std::reverse(elements.begin(), elements.end());
  return PathText(elements);
}

}  // namespace perfgate
