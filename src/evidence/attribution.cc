#include "evidence/attribution.h"

#include <algorithm>
#include <functional>

#include "evidence/run_sort.h"

namespace perfgate {
namespace {

bool IsBackward(const TraceEvent& op) { return op.ForwardThread() > 0 && op.SequenceNumber() >= 0; }

bool IsForward(const TraceEvent& op) { return op.ForwardThread() <= 0 && op.SequenceNumber() >= 0; }

}  // namespace

Attribution::Attribution(const TraceData& trace, const HostTree& host)
    : trace_(trace),
      host_(host),
      modules_(trace, EventKind::kModule),
      annotations_(trace, EventKind::kAnnotation) {
  hierarchies_ = std::any_of(
      trace.signatures.begin(), trace.signatures.end(),
      [](const OperatorSignature& signature) { return signature.module_hierarchy != 0; });
  FindForwardOperators(trace);
}

// Of the operators that carry a number, the one that started last before the backward one made the
// node of the graph: those before it are around it.
void Attribution::FindForwardOperators(const TraceData& trace) {
  std::vector<int64_t> asked;
  for (const uint32_t index : host_.order) {
    if (trace.events.Kind(index) != EventKind::kOperator) continue;
    const TraceEvent& event = trace.events[index];
    if (IsBackward(event)) asked.push_back(event.SequenceNumber());
  }
  if (asked.empty()) return;
  SortRuns(asked, std::less<>());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  for (const uint32_t index : host_.order) {
    if (trace.events.Kind(index) != EventKind::kOperator) continue;
    const TraceEvent& event = trace.events[index];
    if (IsForward(event) &&
        std::binary_search(asked.begin(), asked.end(), event.SequenceNumber())) {
      forward_.push_back(index);
    }
  }
  SortRuns(forward_, [this](uint32_t a, uint32_t b) {
    return std::pair(NodeOf(a), a) < std::pair(NodeOf(b), b);
  });
  // Every thread counts for itself: with two of them a number does not say whose it is.
  for (size_t i = 1; i < forward_.size(); ++i) {
    const TraceEvent& one = trace.events[forward_[i - 1]];
    const TraceEvent& other = trace.events[forward_[i]];
    if (one.SequenceNumber() == other.SequenceNumber() &&
        (one.thread != other.thread || one.process != other.process)) {
      ambiguous_.push_back(other.SequenceNumber());
    }
  }
}

int32_t Attribution::ForwardOf(int32_t op) const {
  if (forward_.empty()) return kNoOperator;
  const int32_t found = host_.FindOutwards(op, IsBackward);
  if (found == kNoOperator) return kNoOperator;
  const auto backward = NodeOf(static_cast<uint32_t>(found));
  const int64_t sequence = backward.first;
  const auto after =
      std::lower_bound(forward_.begin(), forward_.end(), backward,
                       [this](uint32_t other, const auto& node) { return NodeOf(other) < node; });
  if (after == forward_.begin()) return kNoOperator;
  const uint32_t forward = *(after - 1);
  if (trace_.events[forward].SequenceNumber() != sequence) return kNoOperator;
  if (std::binary_search(ambiguous_.begin(), ambiguous_.end(), sequence)) return kNoOperator;
  return static_cast<int32_t>(forward);
}

uint32_t Attribution::Hierarchy(int32_t op) const {
  const auto text = [this](const TraceEvent& event) {
    return trace_.signatures[event.detail].module_hierarchy;
  };
  const int32_t found =
      host_.FindOutwards(op, [&](const TraceEvent& event) { return text(event) != 0; });
  return found == kNoOperator ? 0 : text(trace_.events[static_cast<size_t>(found)]);
}

std::string_view InputTypes(const TraceData& trace, int32_t op) {
  const TraceEvent& event = trace.events[static_cast<size_t>(op)];
  return trace.Text(trace.signatures[event.detail].input_types);
}

void Attribution::Describe(const TraceEvent& event, int32_t op, int64_t time_ns,
                           RowTable::Handle row, RowTable& table) const {
  const int32_t forward = ForwardOf(op);
  if (forward != kNoOperator) {
    table.SetBackwardOf(
        row, host_.NameOf(host_.PathName(trace_.events[static_cast<size_t>(forward)].name)));
  }
  // A backward operator runs for the module of its forward one.
  const TraceEvent& place =
      forward == kNoOperator ? event : trace_.events[static_cast<size_t>(forward)];
  const uint32_t module = modules_.Around(place);
  if (module != Frames::kNone) {
    table.AddModule(row, modules_.PathNumber(module), time_ns,
                    [&] { return modules_.Path(module); });
  } else if (const uint32_t text =
                 hierarchies_ ? Hierarchy(forward == kNoOperator ? op : forward) : 0) {
    constexpr uint32_t kOfHierarchies = uint32_t{1} << 31;  // beside the numbers of frames
    table.AddModule(row, text | kOfHierarchies, time_ns, [&] { return trace_.Text(text); });
  }
  const uint32_t annotation = annotations_.Around(event);
  if (annotation != Frames::kNone) {
    table.AddAnnotation(row, annotations_.PathNumber(annotation), time_ns,
                        [&] { return annotations_.Path(annotation); });
  }
}

}  // namespace perfgate
