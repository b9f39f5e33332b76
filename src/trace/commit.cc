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

std::optional<EventKind> KindOf(std::string_view category) {
  static constexpr std::array<std::pair<std::string_view, EventKind>, 15> kKinds = {{
      {"cpu_op", EventKind::kOperator},
      {"cuda_runtime", EventKind::kRuntime},
      {"cuda_driver", EventKind::kDriver},
      {"kernel", EventKind::kKernel},
      {"gpu_memcpy", EventKind::kMemcpy},
      {"gpu_memset", EventKind::kMemset},
      {"user_annotation", EventKind::kAnnotation},
      {"cpu_instant_event", EventKind::kMemory},
      {"overhead", EventKind::kOverhead},
      {"python_function", EventKind::kModule},
      // Spellings of 2020 and 2021.
      {"Operator", EventKind::kOperator},
      {"Runtime", EventKind::kRuntime},
      {"Kernel", EventKind::kKernel},
      {"Memcpy", EventKind::kMemcpy},
      {"Memset", EventKind::kMemset},
  }};
  for (const auto& [text, kind] : kKinds) {
    if (text == category) return kind;
  }
  // The same of other vendors: xpu_runtime, privateuse1_driver, mtia_runtime, musa_runtime.
  if (category.ends_with("_runtime")) return EventKind::kRuntime;
  if (category.ends_with("_driver")) return EventKind::kDriver;
  return std::nullopt;
}

// Whose work a category is that no launch can be found for; "" of all others.
std::string_view Accelerator(std::string_view category) {
  if (category == "mtia_ccp_events") return "an MTIA accelerator";
  if (category == "hpu_op") return "a Gaudi accelerator (HPU)";
  if (category == "async_npu" || category == "HostToDevice") return kAscendAccelerator;
  return "";
}

// Categories that are left out on purpose, with the reason.
std::string ReasonToLeaveOut(std::string_view category, std::string_view phase) {
  if (phase == "M") return "metadata rows (names of processes and threads)";
  if (phase == "s" || phase == "t" || phase == "f") {
    return "flow arrows: never evidence, links are made by correlation";
  }
  if (phase == "C") return "counter samples";
  if (category == "gpu_user_annotation") return "annotations shown on the GPU rows: not GPU work";
  if (category == "python_function") return "Python frames: not used for counts or times";
  if (category == "cuda_sync" || category == "cuda_event" || category == "xpu_sync") {
    return "GPU-side synchronisation marks: the host's calls are counted instead";
  }
  if (!Accelerator(category).empty()) {
    return fmt::format("events of {} ({}): nothing ties them to their launches, not counted",
                       Accelerator(category), category);
  }
  if (category == "collective_comm") return "spans of collectives: their kernels are counted";
  if (category == "mtia_insight" || category == "mtia_counters" ||
      category == "hardware_counters" || category == "cuda_profiler_range" ||
      category == "xpu_scope_profiler") {
    return fmt::format("samples of hardware counters ({})", category);
  }
  if (category == "Trace" || (category.empty() && phase != "X")) return "marks of the profiler";
  if (category.empty()) return "events without a category";
  if (phase != "X")
    return fmt::format("events of kind '{}' ({})", Printable(phase), Printable(category));
  return fmt::format("category '{}' is not known", Printable(category));
}

}  // namespace

// For telling a trace that holds nothing of use from what no PyTorch wrote.
int64_t* TraceHandler::FactOfLeftOut(std::string_view category, std::string_view phase) {
  if (trace_.other_accelerator.empty()) trace_.other_accelerator = Accelerator(category);
  if (phase == "M") return &facts_.metadata_rows;
  if (phase == "s" || phase == "t" || phase == "f") return &uncounted_;  // arrows between events
  if (category.empty()) {
    const std::string_view process = pending_.process;
    facts_.legacy |= process == "CPU functions" || process == "CUDA functions";
    return &facts_.without_category;
  }
  if (category == "Session") facts_.other_program = "a profile of ONNX Runtime";
  facts_.legacy |= category == "cpu_to_cuda";
  if (!ReasonToLeaveOut(category, "X").ends_with("is not known")) return &facts_.of_torch;
  auto& seen = facts_.other_categories;
  if (seen.size() < DocumentFacts::kMostCategories &&
      std::find(seen.begin(), seen.end(), category) == seen.end()) {
    seen.emplace_back(category);
  }
  return &uncounted_;
}

void TraceHandler::Classify(Sort& sort) {
  sort.phase = pending_.phase.Get();
  sort.category = pending_.category.Get();
  sort.known = true;
  sort.kind = KindOf(sort.category);
  const bool instant = sort.phase == "i" || sort.phase == "I";
  // Until 2022 allocations had no category.
  if (instant && sort.category.empty()) sort.kind = EventKind::kMemory;
  if (sort.kind == EventKind::kMemory) {
    const bool plain = sort.category.empty();
    sort.fact = plain ? FactOfLeftOut(sort.category, sort.phase) : &facts_.of_torch;
    sort.left_out = &LeftOut(plain ? ReasonToLeaveOut(sort.category, sort.phase)
                                   : "instant events that are no allocation");
    return;
  }
  if (instant || (sort.phase != "X" && !sort.phase.empty())) sort.kind = std::nullopt;
  if (sort.kind && sort.kind != EventKind::kModule) return;
  sort.fact = FactOfLeftOut(sort.category, sort.phase);
  sort.left_out = &LeftOut(ReasonToLeaveOut(sort.category, sort.phase));
}

const TraceHandler::Sort& TraceHandler::SortOfPending() {
  const std::string_view phase = pending_.phase, category = pending_.category;
  size_t place = category.size() * 8 + phase.size();
  if (!phase.empty()) place += static_cast<unsigned char>(phase[0]);
  if (!category.empty()) place += 4 * static_cast<unsigned char>(category.back());
  Sort& sort = sorts_[place % kSorts];
  if (!sort.known || !SameText(sort.category, category) || sort.phase != phase) {
    sort = Sort{};
    Classify(sort);
  }
  return sort;
}

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
  if (event.IsCall() && pending_.category.Get() == "mtia_runtime") {
    trace_.other_accelerator = Accelerator("mtia_ccp_events");
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
  if (kind == EventKind::kKernel) event.detail = ShapeIndex(pending_.shape);
  if (kind == EventKind::kMemory && pending_.device_type > 0) {
    event.device = static_cast<int16_t>(std::clamp<int64_t>(pending_.device_id, -1, INT16_MAX));
  }
  ++kept_;
  trace_.events.Push(event);
}

// Peer copies have no `device`, old files no `stream`: their rows (pid, tid) say it.
void TraceHandler::KeepGpuPlace(TraceEvent& event) const {
  const auto number = [](int64_t argument, std::string_view row) {
    if (argument != kAbsent) return argument;
    const size_t blank = row.rfind(' ');
    return ParseInteger(blank == std::string_view::npos ? row : row.substr(blank + 1)).value_or(-1);
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

int64_t& TraceHandler::LeftOut(std::string_view reason) {
  const auto found = left_out_.find(reason);
  if (found != left_out_.end()) return found->second;
  if (left_out_.size() >= kMostReasons) reason = "other events";
  return left_out_[std::string(reason)];
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

void TraceHandler::Warn(int64_t count, std::string_view what) {
  if (count > 0) trace_.warnings.push_back(fmt::format("{} {}", count, what));
}

void TraceHandler::Finish() {
  for (const auto& [reason, count] : left_out_) {
    if (count > 0) trace_.left_out[reason] = count;
  }
  trace_.whole_microseconds = kept_ > 0 && !fractions_seen_;
  if (lost_ > 0 && trace_.incomplete.empty()) {
    trace_.incomplete = fmt::format("{} no readable start time and cannot be counted",
                                    Plural(lost_, "event has", "events have"));
  }
  Warn(without_start_, "events without a readable start time");
  Warn(negative_, "events with a negative or impossible duration, read as unfinished");
  Warn(unfinished_, "events that the profiler marked as unfinished");
  Warn(not_utf8_, "names that are not UTF-8");
  if (merged_ > 0) {
    trace_.incomplete =
        fmt::format("{} of two that run into each other: what stood between them is lost",
                    Plural(merged_, "event is made", "events are made"));
  }
  Warn(not_objects_, "entries in the list of events that are no events");
}

}  // namespace perfgate
