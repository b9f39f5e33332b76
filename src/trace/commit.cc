// Which events are kept, and what becomes of the others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "trace/bytes.h"
#include "trace/handler.h"
#include "trace/numbers.h"

namespace perfgate {
namespace {

constexpr std::string_view kModuleFrame = "nn.Module: ";
constexpr std::string_view kAllocation = "[memory]";

// Ranges that PyTorch itself marks. Until 2022 they had the category of operators.
bool IsAnnotation(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNumbered = {
      "ProfilerStep#", "Optimizer.step#", "Optimizer.zero_grad#", "enumerate(DataLoader)#"};
  static constexpr std::array<std::string_view, 3> kPlain = {
      "DataParallel.forward", "DistributedDataParallel.forward", "ZeroRedundancyOptimizer.step"};
  if (name.empty() ||
      (name[0] != 'P' && name[0] != 'O' && name[0] != 'e' && name[0] != 'D' && name[0] != 'Z')) {
    return false;
  }
  return std::any_of(kNumbered.begin(), kNumbered.end(),
                     [&](std::string_view start) { return name.starts_with(start); }) ||
         std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end();
}

}  // namespace

void TraceHandler::Commit() {
  ++trace_.events_read;
  if (pending_.repeated) ++merged_;
  const Sort& sort = SortOfPending();
  const std::string_view name = pending_.name;
  std::optional<EventKind> kind = sort.kind;
  if (kind == EventKind::kMemory && name != kAllocation) kind = std::nullopt;
  if (kind == EventKind::kModule && !name.starts_with(kModuleFrame)) kind = std::nullopt;
  if (kind == EventKind::kOperator && IsAnnotation(name)) kind = EventKind::kAnnotation;
  if (kind) {
    facts_.kept_of_kineto += sort.of_kineto;
    Keep(*kind);
  } else {
    ++*sort.fact;
    ++*sort.left_out;
  }
}

void TraceHandler::Keep(EventKind kind) {
  TraceEvent event;
  event.kind = kind;
  ++facts_.kept;
  nameless_ += (pending_.fields_seen & Bit(Field::kName)) == 0;
  if (event.IsCall() && pending_.category.Get() == "mtia_runtime") {
    trace_.other_accelerator = kMtiaAccelerator;
  }
  if (pending_.start_ns == kAbsent) {
    ++without_start_;
    // GPU work stays counted; without a time it is like CUPTI's "not collected", 0/0.
    if (!event.IsGpuWork()) {
      ++lost_;
      return;
    }
    pending_.start_ns = pending_.duration_ns = 0;
  }
  event.start_ns = pending_.start_ns;
  // Allocations always carry it.
  if (!pending_.finished && kind != EventKind::kMemory) ++unfinished_;
  if (pending_.duration_ns != kAbsent &&
      (pending_.duration_ns < 0 || pending_.duration_ns > kLongestNs)) {
    ++negative_;
    pending_.duration_ns = kAbsent;
  }
  event.duration_ns =
      pending_.finished || kind != EventKind::kAnnotation ? pending_.duration_ns : kAbsent;
  event.correlation = pending_.correlation;
  event.external_id = pending_.external_id;
  event.bytes = pending_.bytes;
  const std::string_view name = pending_.name;
  if (event.IsCall() && name == "INVALID") {
    // CUPTI's name table was older than the call.
    event.name = Text(fmt::format("INVALID (cbid {})", pending_.cbid));
  } else if (kind == EventKind::kModule) {
    event.name = Text(name.substr(kModuleFrame.size()));
  } else {
    event.name = Text(name);
  }
  event.process = Text(pending_.process, process_);
  event.thread = Text(pending_.thread, thread_);
  if (kind == EventKind::kOperator) KeepSignature(event);
  if (event.IsGpuWork()) KeepGpuPlace(event);
  if (kind == EventKind::kKernel) KeepShape(event);
  if (kind == EventKind::kMemory && pending_.device_type > 0) {
    event.device = static_cast<int16_t>(std::clamp<int64_t>(pending_.device_id, -1, INT16_MAX));
  }
  ++kept_;
  trace_.events.Push(event);
}

// Peer copies have no `device`, old files no `stream`: their rows (pid, tid) say it.
void TraceHandler::KeepGpuPlace(TraceEvent& event) const {
  const auto number = [](int64_t argument, std::string_view row) {
    return argument != kAbsent ? argument : ParseLastInteger(row).value_or(-1);
  };
  event.device = static_cast<int16_t>(
      std::clamp<int64_t>(number(pending_.device, pending_.process), -1, INT16_MAX));
  event.stream = static_cast<int32_t>(
      std::clamp<int64_t>(number(pending_.stream, pending_.thread), -1, INT32_MAX));
}

void TraceHandler::KeepSignature(TraceEvent& op) {
  op.bytes = pending_.sequence;
  op.stream = static_cast<int32_t>(std::clamp<int64_t>(pending_.forward_thread, -1, INT32_MAX));
  if (pending_.signature != PendingEvent::kNoSignature) {
    op.detail = pending_.signature;
    return;
  }
  op.detail = SignatureIndex(
      {Text(pending_.input_dims), Text(pending_.input_types), Text(pending_.module_hierarchy)});
}

void TraceHandler::KeepShape(TraceEvent& kernel) {
  const auto positive = [](int64_t number) { return number < 0 ? kAbsent : number; };
  const int64_t group = pending_.group_size;
  pending_.shape.message =
      MessageIndex({Text(pending_.collective), Text(pending_.message_dtype),
                    static_cast<int32_t>(group < 0 || group > INT32_MAX ? 0 : group),
                    positive(pending_.in_elements), positive(pending_.out_elements)});
  kernel.detail = ShapeIndex(pending_.shape);
}

uint32_t TraceHandler::MessageIndex(const Message& message) {
  if (message == Message{}) return 0;
  const auto [found, added] =
      messages_.try_emplace(message, static_cast<uint32_t>(trace_.messages.size()));
  if (added) trace_.messages.push_back(message);
  return found->second;
}

uint32_t TraceHandler::SignatureIndex(const OperatorSignature& signature) {
  if (signature == OperatorSignature{}) return 0;
  const auto [found, added] =
      signatures_.try_emplace(signature, static_cast<uint32_t>(trace_.signatures.size()));
  if (added) trace_.signatures.push_back(signature);
  return found->second;
}

uint32_t TraceHandler::ShapeIndex(const LaunchShape& shape) {
  if (shape == LaunchShape{}) return 0;
  const auto [found, added] =
      shapes_.try_emplace(shape, static_cast<uint32_t>(trace_.shapes.size()));
  if (added) trace_.shapes.push_back(shape);
  return found->second;
}

uint32_t TraceHandler::Text(std::string_view text) {
  if (const std::optional<uint32_t> known = trace_.texts.Find(text)) return *known;
  for (size_t at = 0; at < text.size(); ++at) {
    if (static_cast<unsigned char>(text[at]) < 0x80) continue;
    const size_t length = Utf8SequenceLength(text, at);
    if (length > 0) {
      at += length - 1;
      continue;
    }
    // Not UTF-8: each such byte becomes U+FFFD.
    ++not_utf8_;
    std::string mended(text.substr(0, at));
    while (at < text.size()) {
      const size_t valid = Utf8SequenceLength(text, at);
      mended += valid == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(at, valid);
      at += std::max<size_t>(valid, 1);
    }
    return trace_.texts.Intern(mended);
  }
  return trace_.texts.Intern(text);
}

uint32_t TraceHandler::Text(std::string_view text, RecentText& recent) {
  if (SameText(recent.text, text)) return recent.index;
  const int64_t mended = not_utf8_;
  const uint32_t index = Text(text);
  if (not_utf8_ == mended) recent = {std::string(text), index};
  return index;
}

void TraceHandler::Warn(int64_t count, std::string_view one, std::string_view many) {
  if (count > 0) trace_.warnings.push_back(Plural(count, one, many));
}

// What is known to be missing of the events, the gravest first.
std::string TraceHandler::LostEvents() const {
  if (merged_ > 0) {
    return fmt::format("{} of two that run into each other: what stood between them is lost",
                       Plural(merged_, "event is made", "events are made"));
  }
  if (facts_.events_keys > 1) {
    return fmt::format("the key \"traceEvents\" stands {} times: only one can be the trace's",
                       facts_.events_keys);
  }
  if (facts_.lists > 0) {
    return Plural(facts_.lists, "list stands in place of an event: what it holds is not read",
                  "lists stand in place of events: what they hold is not read");
  }
  if (facts_.halves > 0) {
    return Plural(facts_.halves, "begin or end of an event stands alone: only whole ones are read",
                  "begins and ends of events stand alone: only whole ones are read");
  }
  if (nameless_ > 0) return Plural(nameless_, "event has no name", "events have no name");
  if (lost_ > 0) {
    return fmt::format("{} no readable start time and cannot be counted",
                       Plural(lost_, "event has", "events have"));
  }
  return "";
}

void TraceHandler::Finish() {
  for (const auto& [reason, count] : left_out_) {
    if (count > 0) trace_.left_out[reason.Of(count)] = count;
  }
  trace_.whole_microseconds = kept_ > 0 && !fractions_seen_;
  trace_.incomplete = LostEvents();
  Warn(without_start_, "event without a readable start time",
       "events without a readable start time");
  Warn(negative_, "event with a negative or impossible duration, read as unfinished",
       "events with a negative or impossible duration, read as unfinished");
  Warn(unfinished_, "event that the profiler marked as unfinished",
       "events that the profiler marked as unfinished");
  Warn(not_utf8_, "name that is not UTF-8", "names that are not UTF-8");
  Warn(not_objects_, "entry in the list of events that is no event",
       "entries in the list of events that are no events");
}

}  // namespace perfgate
