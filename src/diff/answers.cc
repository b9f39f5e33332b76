// The four questions about two traces, answered in words with the numbers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

struct Pair {
  std::optional<double> base, head;
  bool Known() const { return base && head; }
  double Delta() const { return *head - *base; }
};

Pair Get(const Evidence& base, const Evidence& head, MetricId metric) {
  Pair pair = {Summarise(base, metric).value, Summarise(head, metric).value};
  if (metric != MetricId::kSyncs || !pair.Known()) return pair;
  const LoopWaits loops = WaitsOfOneLoop(base, head);
  return {*pair.base + loops.base, *pair.head + loops.head};
}

std::string FromTo(const Pair& pair, Unit unit) {
  const std::string from = FormatValue(*pair.base, unit), to = FormatValue(*pair.head, unit);
  const bool time = unit == Unit::kNanoseconds && *pair.base > 0;
  const double percent = time ? 100 * pair.Delta() / *pair.base : 0;
  const bool shown = std::abs(percent) >= 0.05;
  if (*pair.base == *pair.head || (time && !shown && from == to)) return from + " in both";
  return from + " -> " + to + (shown ? fmt::format(" ({:+.1f} %)", percent) : "");
}

int64_t KernelsAStep(const Evidence& evidence) {
  int64_t total = 0;
  for (const KernelRow& row : evidence.kernels) total = SaturatingAdd(total, row.Count());
  int64_t steps = std::max(1, evidence.TotalSteps());
  return total / steps + (2 * (total % steps) >= steps);
}

bool OnCpu(const Evidence& base, const Evidence& head) {
  return base.device_kind == "cpu" && head.device_kind == "cpu";
}

std::string TimeText(const Evidence& base, const Evidence& head) {
  bool cpu = OnCpu(base, head);
  Pair time = Get(base, head, cpu ? MetricId::kCpuKernelTime : MetricId::kGpuTime);
  if (!time.Known()) return "";
  return fmt::format("; {} {}", cpu ? "time in them, under the profiler," : "GPU time",
                     FromTo(time, Unit::kNanoseconds));
}

Answer Kernels(const Evidence& base, const Evidence& head, const Diff& diff) {
  bool cpu = OnCpu(base, head);
  int64_t from = KernelsAStep(base);
  int64_t to = KernelsAStep(head);
  std::string words;
  if (diff.kernel_count == 0) {
    words = fmt::format("the same number: {} a step", from);
  } else {
    words = fmt::format("{} {}: {} -> {} a step", std::abs(diff.kernel_count),
                        diff.kernel_count > 0 ? "more" : "fewer", from, to);
  }
  Pair copies = Get(base, head, MetricId::kMemcpyCount);
  if (!cpu && copies.Known() && copies.Delta() != 0) {
    words += fmt::format("; copies {}", FromTo(copies, Unit::kCount));
  }
  return {cpu ? "Did the CPU run fewer or more kernels?" : "Did the GPU run fewer or more kernels?",
          words + TimeText(base, head)};
}

// False for a change of copies, fills or waits.
bool OfKernels(const Change& change) {
  const auto any = [](const std::vector<ChangedKernel>& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const ChangedKernel& kernel) { return kernel.count != 0; });
  };
  return any(change.base) || any(change.head);
}

// True if every kernel has a counterpart of the same name, wherever it is launched from.
bool SameKernels(const Diff& diff) {
  return std::all_of(diff.changes.begin(), diff.changes.end(), [](const Change& change) {
    return change.kind == ChangeKind::kMoved || change.kind == ChangeKind::kGraphLost ||
           !OfKernels(change);
  });
}

Answer Dispatch(const Evidence& base, const Evidence& head, const Diff& diff) {
  std::string parts;
  bool differs = false;
  struct Row {
    MetricId metric;
    std::string_view what;
  };
  for (const Row& row :
       {Row{MetricId::kHostOps, "operator calls"}, Row{MetricId::kLaunches, "launch calls"},
        Row{MetricId::kGraphLaunches, "graph launches"}, Row{MetricId::kSyncs, "waits"},
        Row{MetricId::kCompiledRegions, "compiled regions"}}) {
    Pair pair = Get(base, head, row.metric);
    if (!pair.Known() || (*pair.base == 0 && *pair.head == 0)) continue;
    differs = differs || pair.Delta() != 0;
    parts +=
        fmt::format("{}{} {}", parts.empty() ? "" : ", ", row.what, FromTo(pair, Unit::kCount));
  }
  Pair dispatch = Get(base, head, MetricId::kDispatch);
  if (dispatch.Known()) {
    parts += fmt::format("{}dispatch {}", parts.empty() ? "" : ", ",
                         FromTo(dispatch, Unit::kNanoseconds));
  }
  std::string words = SameKernels(diff)
                          ? differs ? "yes, the kernels are the same but the CPU's work differs"
                                    : "no, kernels and CPU work are the same"
                          : "no, the kernels differ";
  Pair graphs = Get(base, head, MetricId::kGraphLaunches);
  if (graphs.Known() && *graphs.base == 0 && *graphs.head > 0) {
    words +=
        "; they run from " +
        Plural(static_cast<int64_t>(*graphs.head), "CUDA graph launch", "CUDA graph launches") +
        " a step now";
  }
  if (parts.empty()) words += "; the traces do not say what the CPU did";
  return {"Are the kernels the same, but dispatched in another way by the CPU?",
          words + (parts.empty() ? "" : ": " + parts + " a step")};
}

Answer Names(const Diff& diff) {
  std::string words;
  int more = 0;
  for (const Change& change : diff.changes) {
    bool pair = change.kind == ChangeKind::kEpilogueLost ||
                change.kind == ChangeKind::kEpilogueGained ||
                change.kind == ChangeKind::kTensorCoreLost ||
                change.kind == ChangeKind::kDtypeChanged || change.kind == ChangeKind::kSubstituted;
    if (!pair || !OfKernels(change)) continue;
    if (!words.empty() && words.size() > 300) {
      ++more;
      continue;
    }
    words += (words.empty() ? "" : "; ") + change.text;
  }
  if (more > 0) words += fmt::format("; and {} more", more);
  return {
      "Did a kernel change its name, element type, layout or tile?",
      words.empty() ? "no kernel was replaced by another for the same operator" : "yes: " + words};
}

// ", of it loading 800 ms in both, compilation 2.0 s -> 3.1 s (+55 %), the first call ..."
std::string PartsOfColdStart(const Evidence& base, const Evidence& head) {
  constexpr std::pair<MetricId, std::string_view> kParts[] = {
      {MetricId::kColdStartLoad, "loading"},
      {MetricId::kColdStartCompile, "compilation"},
      {MetricId::kColdStartFirstCall, "the first call"}};
  std::string text;
  for (const auto& [metric, name] : kParts) {
    const Pair part = Get(base, head, metric);
    if (!part.Known()) continue;
    text += fmt::format("{}{} {}", text.empty() ? ", of it " : ", ", name,
                        FromTo(part, Unit::kNanoseconds));
  }
  return text;
}

Answer SteadyState(const Evidence& base, const Evidence& head) {
  std::string question = "Does it hold in steady state, without compilation and warm-up?";
  Pair latency = Get(base, head, MetricId::kLatencyP50);
  Pair cold = Get(base, head, MetricId::kColdStart);
  std::string first =
      cold.Known() ? "; first result after " + FromTo(cold, Unit::kNanoseconds) : "";
  first += PartsOfColdStart(base, head);
  if (latency.Known()) {
    const bool in_pairs = head.base_side.get() == &base;
    return {question,
            fmt::format("median latency after warm-up, not profiled{}: {}{}{}",
                        in_pairs ? ", of the first pairs" : "", FromTo(latency, Unit::kNanoseconds),
                        in_pairs ? "" : "; wall time needs pairs of runs to be judged", first)};
  }
  Pair gpu = Get(base, head, MetricId::kGpuTime);
  if (gpu.Known() && (*gpu.base > 0 || *gpu.head > 0)) {
    return {
        question,
        fmt::format("GPU time in the traced steps, after warm-up: {}; latency is unknown, the runs "
                    "have no timed window{}",
                    FromTo(gpu, Unit::kNanoseconds), first)};
  }
  return {question, "unknown: the runs have no timed window" + first};
}

}  // namespace

std::array<Answer, 4> Answers(const Evidence& base, const Evidence& head, const Diff& diff) {
  std::array<Answer, 4> answers = {Kernels(base, head, diff), Dispatch(base, head, diff),
                                   Names(diff), SteadyState(base, head)};
  if (Get(base, head, MetricId::kInstructions).Known()) {
    for (Answer& answer : answers) answer.answer = "unknown: instructions were counted, not traced";
  }
  return answers;
}

}  // namespace perfgate
