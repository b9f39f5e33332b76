// What the events of one phase and category are, and why some are left out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "trace/bytes.h"
#include "trace/handler.h"

namespace perfgate {
namespace {

struct KnownCategory {
  std::string_view text;
  EventKind kind;
};

constexpr std::array kCategories = {
    KnownCategory{"cpu_op", EventKind::kOperator},
    KnownCategory{"cuda_runtime", EventKind::kRuntime},
    KnownCategory{"cuda_driver", EventKind::kDriver},
    KnownCategory{"kernel", EventKind::kKernel},
    KnownCategory{"gpu_memcpy", EventKind::kMemcpy},
    KnownCategory{"gpu_memset", EventKind::kMemset},
    KnownCategory{"user_annotation", EventKind::kAnnotation},
    KnownCategory{"cpu_instant_event", EventKind::kMemory},
    KnownCategory{"overhead", EventKind::kOverhead},
    KnownCategory{"python_function", EventKind::kModule},
};
// Spellings of 2020 and 2021. Other programs have them too.
constexpr std::array kOldCategories = {
    KnownCategory{"Operator", EventKind::kOperator}, KnownCategory{"Runtime", EventKind::kRuntime},
    KnownCategory{"Kernel", EventKind::kKernel},     KnownCategory{"Memcpy", EventKind::kMemcpy},
    KnownCategory{"Memset", EventKind::kMemset},
};

// Ends of the same categories of other vendors: xpu_runtime, privateuse1_driver, mlu_memcpy.
constexpr std::array kOfOtherVendors = {
    KnownCategory{"_runtime", EventKind::kRuntime},
    KnownCategory{"_driver", EventKind::kDriver},
    KnownCategory{"_memcpy", EventKind::kMemcpy},
    KnownCategory{"_memset", EventKind::kMemset},
};

template <size_t kSize>
std::optional<EventKind> KindIn(const std::array<KnownCategory, kSize>& categories,
                                std::string_view category) {
  for (const KnownCategory& known : categories) {
    if (known.text == category) return known.kind;
  }
  return std::nullopt;
}

std::optional<EventKind> KindOf(std::string_view category) {
  if (const auto kind = KindIn(kCategories, category)) return kind;
  if (const auto kind = KindIn(kOldCategories, category)) return kind;
  for (const KnownCategory& known : kOfOtherVendors) {
    if (category.ends_with(known.text)) return known.kind;
  }
  return std::nullopt;
}

// Whose work a category is that no launch can be found for; "" of all others.
std::string_view Accelerator(std::string_view category) {
  if (category == "mtia_ccp_events") return kMtiaAccelerator;
  if (category == "hpu_op") return "a Gaudi accelerator (HPU)";
  static constexpr std::array<std::string_view, 5> kAscend = {
      "async_npu", "HostToDevice", "async_task_queue", "enqueue", "dequeue"};
  if (std::find(kAscend.begin(), kAscend.end(), category) != kAscend.end()) {
    return kAscendAccelerator;
  }
  return "";
}

// Waits are not among these: the profiler waits for a GPU that did nothing, too.
bool TellsOfGpuWork(std::string_view category) {
  return category == "gpu_user_annotation" || category == "cuda_profiler_range" ||
         category == "xpu_scope_profiler";
}

bool IsArrow(std::string_view phase) { return phase == "s" || phase == "t" || phase == "f"; }

// The begin or the end of an event.
bool IsHalf(std::string_view phase) {
  static constexpr std::array<std::string_view, 6> kHalves = {"B", "E", "b", "e", "S", "F"};
  return std::find(kHalves.begin(), kHalves.end(), phase) != kHalves.end();
}

bool IsHardwareSample(std::string_view category) {
  return category == "mtia_insight" || category == "mtia_counters" ||
         category == "hardware_counters" || category == "cuda_profiler_range" ||
         category == "xpu_scope_profiler";
}

}  // namespace

std::optional<TraceHandler::Reason> TraceHandler::KnownReason(std::string_view category,
                                                              std::string_view phase) {
  if (phase == "M")
    return Reason{"metadata row", "metadata rows", " (names of processes and threads)"};
  if (IsArrow(phase)) {
    return Reason{"flow arrow", "flow arrows", ": never evidence, links are made by correlation"};
  }
  if (phase == "C") return Reason{"counter sample", "counter samples", ""};
  if (category == "gpu_user_annotation") {
    return Reason{"annotation", "annotations", " shown on the GPU rows: not GPU work"};
  }
  if (category == "python_function") {
    return Reason{"Python frame", "Python frames", ": not used for counts or times"};
  }
  if (category == "cuda_sync" || category == "cuda_event" || category == "xpu_sync") {
    return Reason{"GPU-side synchronisation mark", "GPU-side synchronisation marks",
                  ": the host's calls are counted instead"};
  }
  if (const std::string_view whose = Accelerator(category); !whose.empty()) {
    return Reason{"event", "events",
                  fmt::format(" of {} ({}): nothing ties them to their launches, not counted",
                              whose, category)};
  }
  if (category == "collective_comm") {
    return Reason{"span of a collective", "spans of collectives", ": their kernels are counted"};
  }
  if (IsHardwareSample(category)) {
    return Reason{"sample", "samples", fmt::format(" of hardware counters ({})", category)};
  }
  if (category == "Trace" || (category.empty() && phase != "X")) {
    return Reason{"mark", "marks", " of the profiler"};
  }
  if (category.empty()) return Reason{"event", "events", " without a category"};
  return std::nullopt;
}

TraceHandler::Reason TraceHandler::ReasonToLeaveOut(std::string_view category,
                                                    std::string_view phase) {
  if (std::optional<Reason> known = KnownReason(category, phase)) return *std::move(known);
  if (phase == "X" || phase.empty()) {
    return {"event", "events",
            fmt::format(" of category '{}', which is not known", Printable(category))};
  }
  return {"event", "events",
          fmt::format(" of kind '{}' ({})", Printable(phase), Printable(category))};
}

// For telling a trace that holds nothing of use from what no PyTorch wrote.
int64_t* TraceHandler::FactOfLeftOut(std::string_view category, std::string_view phase) {
  if (trace_.other_accelerator.empty()) trace_.other_accelerator = Accelerator(category);
  trace_.gpu_rows |= TellsOfGpuWork(category);
  if (phase == "M") return &facts_.metadata_rows;
  if (IsArrow(phase)) return &uncounted_;
  if (category.empty()) {
    const std::string_view process = pending_.process;
    facts_.legacy |= process == "CPU functions" || process == "CUDA functions";
    return &facts_.without_category;
  }
  if (category == "Session") facts_.other_program = "a profile of ONNX Runtime";
  facts_.legacy |= category == "cpu_to_cuda";
  if (KnownReason(category, "X")) return &facts_.of_torch;
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
  sort.of_kineto = KindIn(kCategories, sort.category).has_value();
  const bool instant = sort.phase == "i" || sort.phase == "I";
  // Until 2022 allocations had no category.
  if (instant && sort.category.empty()) sort.kind = EventKind::kMemory;
  if (sort.kind == EventKind::kMemory) {
    const bool plain = sort.category.empty();
    sort.fact = plain ? FactOfLeftOut(sort.category, sort.phase) : &facts_.of_torch;
    sort.left_out = &LeftOut(
        plain ? ReasonToLeaveOut(sort.category, sort.phase)
              : Reason{"instant event", "instant events", " of another kind than [memory]"});
    return;
  }
  const bool whole = sort.phase == "X" || sort.phase.empty();
  const bool half = sort.kind && sort.kind != EventKind::kModule && IsHalf(sort.phase);
  if (!whole) sort.kind = std::nullopt;
  if (sort.kind && sort.kind != EventKind::kModule) return;
  sort.fact = half ? &facts_.halves : FactOfLeftOut(sort.category, sort.phase);
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

int64_t& TraceHandler::LeftOut(Reason reason) {
  const auto found = left_out_.find(reason);
  if (found != left_out_.end()) return found->second;
  if (left_out_.size() >= kMostReasons) reason = {"other event", "other events", ""};
  return left_out_[std::move(reason)];
}

}  // namespace perfgate
