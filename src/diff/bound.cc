// What bounds a workload, with the numbers that say so. A reading of the trace, never judged.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "diff/launches.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

// Below this share of a step the device is mostly waiting for the host.
constexpr double kBusy = 0.6;
// Above this share of the device's time, copies or collectives are what the step is about.
constexpr double kMostly = 0.5;

struct Shares {
  double compute = 0;  // GEMM, convolution, attention
  double memory = 0;   // pointwise, reductions, norms, copies ...
  double unknown = 0;  // opaque kernels
  double Total() const { return compute + memory + unknown; }
};

Shares SharesOf(const Evidence& evidence) {
  Shares shares;
  for (const KernelRow& row : evidence.kernels) {
    double time = 0;
    for (int64_t ns : row.time_ns_per_step) time += static_cast<double>(ns);
    switch (row.info.family) {
      case Family::kGemm:
      case Family::kGemmAux:
      case Family::kConv:
      case Family::kAttention:
        shares.compute += time;
        break;
      case Family::kCollective:
        break;
      case Family::kOther:
        shares.unknown += time;
        break;
      default:
        shares.memory += time;
        break;
    }
  }
  return shares;
}

std::string Time(double ns) { return FormatValue(ns, Unit::kNanoseconds); }

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Which kind of kernel takes the device's time.
std::string ByShares(const Shares& shares, const Evidence& evidence) {
  if (shares.Total() <= 0) return "unknown: no kernel has a time";
  double compute = shares.compute / shares.Total();
  double memory = shares.memory / shares.Total();
  if (compute >= kMostly) {
    const std::string roofline = RooflineText(evidence);
    return fmt::format(
        "compute: GEMM, convolution and attention kernels take {} of the kernels' time{}",
        Percent(compute), roofline.empty() ? "" : "; " + roofline);
  }
  if (memory >= kMostly) {
    return fmt::format("memory: pointwise, reduction and copy kernels take {} of the kernels' time",
                       Percent(memory));
  }
  return fmt::format(
      "unknown: {} of the kernels' time is in kernels known by a function name alone",
      Percent(shares.unknown / shares.Total()));
}

double TransferTime(const Evidence& evidence) {
  double time = 0;
  for (const KernelRow& row : evidence.transfers) {
    const CopyDirection direction = DirectionOfCopy(row.name);
    if (direction != CopyDirection::kHostToDevice && direction != CopyDirection::kDeviceToHost) {
      continue;
    }
    for (int64_t ns : row.time_ns_per_step) time += static_cast<double>(ns);
  }
  return time / std::max(1, evidence.TotalSteps());
}

// What a step's time goes to. Of several ranks those of the longest step, not the worst of each.
struct StepParts {
  double gpu = 0, exposed = 0, idle = 0;
  bool idle_known = false;
  double Total() const { return gpu + exposed + idle; }
};

StepParts PartsOf(const Evidence& evidence) {
  const MetricValue gpu = Summarise(evidence, MetricId::kGpuTime);
  const MetricValue exposed = Summarise(evidence, MetricId::kCommExposed);
  const MetricValue idle = Summarise(evidence, MetricId::kGpuIdle);
  StepParts longest{gpu.value.value_or(0), exposed.value.value_or(0), idle.value.value_or(0),
                    idle.value.has_value()};
  if (gpu.by_rank.size() < 2) return longest;
  longest = {};
  const auto of = [](const MetricValue& value, int rank) {
    const auto found = value.by_rank.find(rank);
    return found == value.by_rank.end() ? 0.0 : found->second;
  };
  for (const auto& [rank, time] : gpu.by_rank) {
    const StepParts parts{time, of(exposed, rank), of(idle, rank), idle.value.has_value()};
    if (parts.Total() > longest.Total()) longest = parts;
  }
  return longest;
}

// The length of a step and where it was measured.
struct Step {
  double ns = 0;
  std::string where;
};

Step StepOf(const Evidence& evidence, const StepParts& parts) {
  if (auto latency = Summarise(evidence, MetricId::kLatencyP50).value) {
    return {*latency, "of a step, not profiled"};
  }
  auto activities = Summarise(evidence, MetricId::kGpuActivities).value;
  // One activity has nothing around it to be compared with.
  if (!parts.idle_known || !activities || *activities < 2) return {};
  return {parts.Total(), "from its first to its last work, under the profiler"};
}

std::string Waits(const Evidence& evidence) {
  auto syncs = Summarise(evidence, MetricId::kSyncs).value;
  if (!syncs || *syncs == 0) return "";
  return fmt::format("; the host waits for the GPU {} a step",
                     Plural(static_cast<int64_t>(*syncs), "time"));
}

// Where a step's idle time comes from: the median over the steps.
struct IdleParts {
  double launch = 0, sync = 0, queued = 0;
};

IdleParts IdleOf(const IdleTimes& idle) {
  const auto median = [](const std::vector<int64_t>& steps) {
    return static_cast<double>(LowerMedian(steps));
  };
  return {median(idle.launch_ns), median(idle.sync_ns), median(idle.queued_ns)};
}

// What leaves the GPU idle most: launches that come late, waits of the host, or work that is
// launched and does not start.
std::string_view IdleCause(const Evidence& evidence) {
  if (evidence.idle.empty()) return Waits(evidence).empty() ? "launch" : "launch or sync";
  const IdleParts idle = IdleOf(evidence.idle);
  if (idle.queued > std::max(idle.launch, idle.sync)) return "queued";
  return idle.sync > idle.launch ? "sync" : "launch";
}

// The parts of the idle time, and how far the host runs ahead.
std::string IdleText(const Evidence& evidence) {
  if (evidence.idle.empty()) return "";
  const IdleParts idle = IdleOf(evidence.idle);
  double depth = 0;
  for (const double each : evidence.idle.queue_depth) depth += each;
  return fmt::format(
      "; idle {} because the next launch came late, {} because the host waited, {} though the next "
      "work was launched; launch queue depth {:.1f}",
      Time(idle.launch), Time(idle.sync), Time(idle.queued),
      depth / static_cast<double>(evidence.idle.queue_depth.size()));
}

std::string LaunchText(const Evidence& evidence) {
  std::string text;
  auto kernels = Summarise(evidence, MetricId::kLaunches).value;
  auto graphs = Summarise(evidence, MetricId::kGraphLaunches).value;
  if (kernels) {
    text = "; " + Plural(static_cast<int64_t>(*kernels), "kernel launch", "kernel launches");
  }
  if (graphs && *graphs > 0) {
    text += " and " + Plural(static_cast<int64_t>(*graphs), "graph launch", "graph launches");
  }
  return text.empty() ? text : text + " a step";
}

// By what the GPU does in a step: its work, collectives that nothing hides, or nothing.
std::string ByStep(const Evidence& evidence) {
  const std::string shares = ByShares(SharesOf(evidence), evidence);
  const StepParts parts = PartsOf(evidence);
  const Step step = StepOf(evidence, parts);
  if (step.ns <= 0) {
    return "unknown: how busy the GPU is in a step is not known; while it works, " + shares;
  }
  std::string busy =
      parts.gpu <= step.ns
          ? fmt::format("the GPU works {} of {} ({}) {}", Time(parts.gpu), Time(step.ns),
                        Percent(parts.gpu / step.ns), step.where)
          // The host does not wait, several GPUs work at once, or the profiler slowed the kernels.
          : fmt::format("the GPU never rests: {} of work for each {} {}", Time(parts.gpu),
                        Time(step.ns), step.where);
  if (parts.exposed > 0) {
    busy += fmt::format("; collectives run {} of it alone", Time(parts.exposed));
  }
  if (parts.gpu >= kBusy * step.ns) return shares + "; " + busy;
  if (parts.exposed > step.ns - parts.gpu - parts.exposed) return "communication: " + busy;
  return std::string(IdleCause(evidence)) + ": " + busy + LaunchText(evidence) + Waits(evidence) +
         IdleText(evidence);
}

std::string GpuBound(const Evidence& evidence) {
  auto gpu = Summarise(evidence, MetricId::kGpuTime).value;
  double comm = Summarise(evidence, MetricId::kCommTime).value.value_or(0);
  if (!gpu) return "unknown: " + Summarise(evidence, MetricId::kGpuTime).unavailable;
  double transfer = TransferTime(evidence);
  if (*gpu + comm <= 0) return "unknown: nothing ran on the GPU";
  if (transfer >= kMostly * *gpu) {
    return fmt::format("transfer: copies between host and GPU take {} of {} of GPU time",
                       Time(transfer), Time(*gpu));
  }
  if (comm > *gpu) {
    return fmt::format("communication: collectives run {}, the other work {}", Time(comm),
                       Time(*gpu));
  }
  return ByStep(evidence);
}

std::string CpuBound(const Evidence& evidence) {
  std::string shares = ByShares(SharesOf(evidence), evidence);
  auto kernels = Summarise(evidence, MetricId::kCpuKernelTime).value;
  auto latency = Summarise(evidence, MetricId::kLatencyP50).value;
  if (!kernels || !latency) return shares + " (how much of a step that is, is not known)";
  std::string busy =
      *kernels <= *latency
          ? fmt::format("kernels take {} of a step of {}", Time(*kernels), Time(*latency))
          // The profiler, or another load of the machine, slowed the traced window.
          : fmt::format("kernels take {} a step in the traced window, and a step {} outside of it",
                        Time(*kernels), Time(*latency));
  if (*kernels < kBusy * *latency) return "dispatch: " + busy;
  return shares + "; " + busy;
}

}  // namespace

std::string Bound(const Evidence& evidence) {
  if (evidence.kernels.empty()) return "unknown: no kernel in the trace";
  return evidence.device_kind == "cpu" ? CpuBound(evidence) : GpuBound(evidence);
}

}  // namespace perfgate
