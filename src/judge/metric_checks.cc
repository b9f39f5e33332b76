#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"

namespace perfgate {
namespace {

// Metrics of the traced window are numbers of one step; the others are of the whole attempt.
bool IsPerStep(MetricId id) {
  return id < MetricId::kDispatch && id != MetricId::kGraphBreaks && id != MetricId::kRecompiles;
}

std::string_view Suffix(MetricId id) { return IsPerStep(id) ? " a step" : ""; }

std::string Shown(double value, MetricId id) { return FormatValue(value, Info(id).unit); }

bool ElsewhereOnly(MetricId id, bool on_gpu) {
  const MetricDevice device = Info(id).device;
  return (device == MetricDevice::kGpu && !on_gpu) || (device == MetricDevice::kCpu && on_gpu);
}

struct Read {
  std::optional<double> value;
  std::string reason;  // why there is none
  bool unstable = false;
};

// "it differs from rank to rank: 24 (rank 0) to 26 (rank 3)"; "" where ranks agree.
std::string RanksThatDiffer(const std::map<int, double>& ranks, MetricId id) {
  if (ranks.empty()) return "";
  const auto [low, high] = std::minmax_element(
      ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (low->second == high->second) return "";
  return fmt::format("it differs from rank to rank: {} (rank {}) to {} (rank {})",
                     Shown(low->second, id), low->first, Shown(high->second, id), high->first);
}

Read ReadValue(const MetricValue& metric, MetricId id, bool aggregate_max) {
  if (!metric.unavailable.empty()) return {std::nullopt, metric.unavailable, false};
  if (aggregate_max && metric.largest) return {*metric.largest, "", false};
  if (metric.value) return {*metric.value, "", false};
  if (std::string ranks = RanksThatDiffer(metric.by_rank, id); !ranks.empty()) {
    return {std::nullopt, std::move(ranks), true};
  }
  std::string steps = "it differs from step to step";
  if (metric.per_step.size() > 1) {
    const auto [low, high] = std::minmax_element(metric.per_step.begin(), metric.per_step.end());
    if (std::isfinite(*low) && std::isfinite(*high)) {
      steps += fmt::format(" ({} to {})", Shown(*low, id), Shown(*high, id));
    }
  }
  return {std::nullopt, steps, true};
}

std::string Allowances(const std::vector<Allowance>& list) {
  std::vector<std::string> texts;
  for (const Allowance& each : list) texts.push_back(each.text);
  return Join(texts, " or ");
}

std::string ToText(const ChangeCheck& check) {
  std::string text;
  if (!check.at_most.empty()) text = "at most " + Allowances(check.at_most);
  if (!check.at_least.empty()) {
    text += (text.empty() ? "at least " : ", at least ") + Allowances(check.at_least);
  }
  return text;
}

// Beyond an allowance in its direction. A percentage of 0 allows nothing. The last bits of a
// percentage are no reason to fail: 0.7 % of 1000 is 7.
bool Exceeds(const Allowance& allowance, double base, double delta) {
  const double allowed =
      allowance.relative ? std::abs(base) * allowance.value * (1 + 1e-9) : allowance.value;
  return allowance.value < 0 || std::signbit(allowance.value) ? delta < allowed : delta > allowed;
}

bool ExceedsAll(const std::vector<Allowance>& list, double base, double delta, bool rise) {
  if (list.empty()) return false;
  return std::all_of(list.begin(), list.end(), [&](const Allowance& each) {
    if (each.value == 0) return rise ? delta > 0 : delta < 0;
    return Exceeds(each, base, delta);
  });
}

// Better by more than what would be tolerated as worse; exact numbers need no tolerance.
bool Improved(const ChangeCheck& check, MetricId id, double base, double delta) {
  const Metric& metric = Info(id);
  if (metric.better == Better::kNeither || delta == 0) return false;
  const double gain = metric.better == Better::kLower ? -delta : delta;
  if (gain <= 0) return false;
  if (metric.exactness == Exactness::kExact || check.at_most.empty()) return true;
  return ExceedsAll(check.at_most, base, gain, true);
}

bool IsKernelCount(MetricId id) {
  return id == MetricId::kKernels || id == MetricId::kGpuActivities || id == MetricId::kLaunches ||
         id == MetricId::kGraphLaunches || id == MetricId::kCpuKernels;
}

bool IsTransfer(MetricId id) {
  return id >= MetricId::kMemcpyCount && id <= MetricId::kMemsetCount;
}

bool IsWorkTime(MetricId id) {
  return id == MetricId::kGpuTime || id == MetricId::kKernelTime || id == MetricId::kCpuKernelTime;
}

// True for copies, or fills, by the GPU that came (or went).
bool IsTransferThat(bool came, const Change& change, MetricId id) {
  const std::vector<ChangedKernel>& rows = came ? change.head : change.base;
  const std::string_view word = id == MetricId::kMemsetCount ? "Memset" : "Memcpy";
  return !rows.empty() && rows.front().name.starts_with(word);
}

bool IsCollective(const ChangedKernel& kernel) {
  return DecodeKernelName(kernel.name).family == Family::kCollective;
}

bool IsOfCollectives(const Change& change) {
  const std::vector<ChangedKernel>& rows = change.head.empty() ? change.base : change.head;
  return !rows.empty() && IsCollective(rows.front());
}

// GPU time is that of all other work.
bool IsLeftOut(MetricId id, const Change& change) {
  return id == MetricId::kGpuTime && IsOfCollectives(change);
}

// The changes of the diff that explain a rise or a fall of the metric.
std::vector<int> Explaining(const Diff& diff, MetricId id, double delta) {
  std::vector<int> found;
  for (size_t i = 0; i < diff.changes.size(); ++i) {
    const Change& change = diff.changes[i];
    bool fits = false;
    if (IsKernelCount(id)) fits = static_cast<double>(change.count) * delta > 0;
    if (IsTransfer(id)) fits = IsTransferThat(delta > 0, change, id);
    if (id == MetricId::kCommCount || id == MetricId::kCommBytes) fits = IsOfCollectives(change);
    if (id == MetricId::kCopyOps) fits = change.kind == ChangeKind::kHiddenCopy;
    if (id == MetricId::kSyncs) fits = change.kind == ChangeKind::kSyncAdded;
    if (IsWorkTime(id)) {
      const int64_t copies_ns = id == MetricId::kGpuTime ? change.transfers.time_ns : 0;
      const int64_t time_ns = change.time_ns + copies_ns;
      fits = static_cast<double>(time_ns) * delta > 0 && !IsLeftOut(id, change);
    }
    if (fits) found.push_back(static_cast<int>(i));
  }
  return found;
}

// Rows without a change that a rise of a time comes from, on the device that the metric is of.
void PointAtSlower(const Diff& diff, MetricId id, double delta, Finding& finding) {
  if (!IsWorkTime(id) || delta <= 0) return;
  for (size_t i = 0; i < diff.slower.size(); ++i) {
    const ChangedKernel& kernel = diff.slower[i].head;
    if ((kernel.device == "cpu") != (id == MetricId::kCpuKernelTime)) continue;
    if (id == MetricId::kGpuTime && IsCollective(kernel)) continue;
    finding.slower.push_back(static_cast<int>(i));
    const std::string op(Innermost(kernel.op_path));
    auto& known = finding.operators;
    if (!op.empty() && std::find(known.begin(), known.end(), op) == known.end())
      known.push_back(op);
  }
}

Finding Unstable(Finding finding, std::string_view side, const std::string& reason) {
  return With(std::move(finding), Status::kError,
              fmt::format("{} of {} is unstable: {}", Info(*finding.metric).name, side, reason),
              JudgeLargestStep());
}

Finding CheckLimit(const LimitCheck& check, const Rule& rule, const Evidence& evidence, double head,
                   Finding finding) {
  const MetricId id = *finding.metric;
  finding.limit = check.text;
  finding.head = head;
  if (!std::isfinite(head)) {
    return With(std::move(finding), Status::kError,
                fmt::format("{} is {}, no number", Info(id).name, head));
  }
  const std::string doubt = WhyDoubtful(evidence, id, head);
  if (!doubt.empty()) {
    return With(
        std::move(finding), Status::kInconclusive,
        fmt::format("{} is {}, which proves nothing: {}", Info(id).name, Shown(head, id), doubt),
        head > 0 ? "give the warm-up more iterations or more time ('warmup'), or set "
                   "'until_steady: false' in the suite if it cannot get steady"
                 : "correct what the workload writes to samples.json");
  }
  const bool above = check.at_most && head > *check.at_most;
  const bool below = check.at_least && head < *check.at_least;
  if (above) finding.delta = head - *check.at_most;
  if (below) finding.delta = head - *check.at_least;
  std::string message =
      fmt::format("{} is {}{} ({})", Info(id).name, Shown(head, id), Suffix(id), check.text);
  if (!above && !below) return With(std::move(finding), Status::kPass, std::move(message));
  finding = With(std::move(finding), Status::kFail, std::move(message),
                 EditRule(rule, "another bound or a waiver"));
  PointAtNotFinite(evidence, finding);
  return finding;
}

// Clocks and binning make times of two GPUs of one model differ: against a stored baseline they
// fail only where the GPU is known to be the same, or nothing is known of it.
bool OnAnotherGpu(const CasePair& pair) {
  const auto& base = pair.base->key.recorded;
  const auto& head = pair.head.key.recorded;
  const auto of_base = base.find("gpu_uuid"), of_head = head.find("gpu_uuid");
  return of_base != base.end() && of_head != head.end() && of_base->second != of_head->second;
}

Finding CheckChange(const ChangeCheck& check, const CaseFacts& facts, double base, double head,
                    Finding finding) {
  const MetricId id = *finding.metric;
  finding.limit = ToText(check);
  finding.base = base;
  finding.head = head;
  if (!std::isfinite(base) || !std::isfinite(head)) {
    return With(std::move(finding), Status::kError,
                fmt::format("{} is {} in the baseline and {} now: no numbers to compare",
                            Info(id).name, base, head));
  }
  const double delta = head - base;
  finding.delta = delta;
  if (Info(id).zero_is_unused && delta != 0 && (base == 0 || head == 0)) {
    return With(std::move(finding), Status::kSkipped,
                fmt::format("{} {} -> {}: in use on one side only, no number to compare",
                            Info(id).name, Shown(base, id), Shown(head, id)));
  }
  std::string message;
  if (delta == 0) {
    message = fmt::format("{} is {}{} as before ({})", Info(id).name, Shown(head, id), Suffix(id),
                          finding.limit);
  } else {
    const std::string percent = base > 0 && Info(id).exactness != Exactness::kExact
                                    ? fmt::format(", {:+.1f} %", delta / base * 100)
                                    : "";
    message = fmt::format("{} {} -> {}{}{} ({})", Info(id).name, Shown(base, id), Shown(head, id),
                          Suffix(id), percent, finding.limit);
    PointAt(*facts.pair().diff, Explaining(*facts.pair().diff, id, delta), finding);
    PointAtSlower(*facts.pair().diff, id, delta, finding);
  }
  const bool worse = ExceedsAll(check.at_most, base, delta, true) ||
                     ExceedsAll(check.at_least, base, delta, false);
  if (worse) {
    const std::string next =
        facts.policy().bare_diff ? "" : AcceptRule(finding.case_name, finding.rule);
    const bool time = Info(id).exactness == Exactness::kNearExact;
    if (time && !facts.policy().bare_diff && OnAnotherGpu(facts.pair())) {
      return With(std::move(finding), Status::kWarn,
                  message + "; only a warning, the baseline is of another GPU of this model");
    }
    return With(std::move(finding), Status::kFail, std::move(message), next);
  }
  if (Improved(check, id, base, delta)) {
    const std::string next = facts.policy().bare_diff ? "" : AcceptFirst(finding.case_name);
    return With(std::move(finding), Status::kImproved, std::move(message), next);
  }
  return With(std::move(finding), Status::kPass, std::move(message));
}

Finding CheckOne(const Rule& rule, const CaseFacts& facts, Finding finding) {
  const MetricId id = *finding.metric;
  if (const auto* regression = std::get_if<RegressionCheck>(&rule.check)) {
    return CheckRegression(*regression, rule, facts, std::move(finding));
  }
  if (const auto* history = std::get_if<HistoryCheck>(&rule.check)) {
    return CheckHistory(*history, rule, facts, std::move(finding));
  }
  const Read head = ReadValue(facts.Head(id), id, rule.aggregate_max);
  if (head.unstable) return Unstable(std::move(finding), "this run", head.reason);
  if (!head.value) return Unavailable(rule, facts, std::move(finding), head.reason);
  if (const auto* limit = std::get_if<LimitCheck>(&rule.check)) {
    if (IsOutputError(id)) return CheckOutputErrors(*limit, rule, facts, std::move(finding));
    return CheckLimit(*limit, rule, facts.pair().head, *head.value, std::move(finding));
  }
  finding.head = *head.value;
  if (facts.obstacle()) {
    const auto& obstacle = *facts.obstacle();
    return With(std::move(finding), obstacle.status, obstacle.message, obstacle.next);
  }
  if (auto missing = OutputsNotInBase(rule, facts, finding)) return *std::move(missing);
  const Read base = ReadValue(facts.Base(id), id, rule.aggregate_max);
  if (base.unstable) return Unstable(std::move(finding), "the base", base.reason);
  if (!base.value) {
    return Unavailable(rule, facts, std::move(finding), base.reason + " (in the base)");
  }
  LoopWaits loops;
  if (id == MetricId::kSyncs) loops = WaitsOfOneLoop(*facts.pair().base, facts.pair().head);
  finding = CheckChange(std::get<ChangeCheck>(rule.check), facts, *base.value + loops.base,
                        *head.value + loops.head, std::move(finding));
  if (loops.base != 0) finding.message += ", with the wait that ends every step of the base";
  if (loops.head != 0) finding.message += ", with the wait that ends every step now";
  return finding;
}

bool IsAvailable(const CaseFacts& facts, MetricId id) { return facts.Head(id).unavailable.empty(); }

bool WasAvailable(const CaseFacts& facts, MetricId id) {
  return facts.pair().base && facts.Base(id).unavailable.empty();
}

// Most of a collective's time may be that of waiting for other ranks: less of it for the same
// bytes, or the same messages where their sizes are unknown, is no work that vanished.
bool SameMessages(const CaseFacts& facts) {
  const MetricId id =
      facts.Base(MetricId::kCommBytes).value ? MetricId::kCommBytes : MetricId::kCommCount;
  const MetricValue &base = facts.Base(id), &head = facts.Head(id);
  return base.value && head.value && *base.value == *head.value;
}

}  // namespace

Finding Unavailable(const Rule& rule, const CaseFacts& facts, Finding finding,
                    const std::string& reason) {
  const Metric& metric = Info(*finding.metric);
  const std::string message = fmt::format("{} is unavailable: {}", metric.name, reason);
  if (rule.optional) return With(std::move(finding), Status::kSkipped, message + " (optional)");
  // Nobody can give it one.
  const bool alone = reason == kReferenceAlone;
  if (facts.policy().bare_diff || alone) return With(std::move(finding), Status::kSkipped, message);
  return With(std::move(finding), Status::kError, message,
              fmt::format("measure with {}, or {}", metric.needs,
                          EditRule(rule, "'device' or 'optional: true'")));
}

std::string WhyDoubtful(const Evidence& evidence, MetricId id, double value) {
  const bool latency =
      id == MetricId::kLatencyP50 || id == MetricId::kLatencyP95 || id == MetricId::kLatencyP99;
  if (latency && value <= 0) return "no step takes no time";
  if (id == MetricId::kDispatch) return evidence.dispatch_not_steady;
  return latency ? evidence.not_steady : "";
}

std::vector<Finding> CheckMetrics(const Rule& rule, const CaseFacts& facts, const Finding& blank) {
  const bool any = std::any_of(rule.metrics.begin(), rule.metrics.end(),
                               [&](MetricId id) { return IsAvailable(facts, id); });
  std::vector<Finding> findings;
  for (const MetricId id : rule.metrics) {
    Finding finding = blank;
    finding.metric = id;
    // Of several metrics each is judged where it is available. One that the base has and this run
    // lacks is a loss, not an absence.
    const bool absent = !IsAvailable(facts, id) && any && rule.metrics.size() > 1;
    if (absent && ElsewhereOnly(id, facts.OnGpu())) {
      findings.push_back(With(
          std::move(finding), Status::kSkipped,
          fmt::format("{} is not for a case on {}", Info(id).name, facts.pair().head.device_kind)));
    } else if (absent && !WasAvailable(facts, id)) {
      findings.push_back(
          With(std::move(finding), Status::kSkipped,
               fmt::format("{} is unavailable: {}", Info(id).name, facts.Head(id).unavailable)));
    } else {
      findings.push_back(CheckOne(rule, facts, std::move(finding)));
    }
  }
  return findings;
}

std::optional<Finding> CheckVanished(const CaseFacts& facts) {
  if (facts.obstacle() || !facts.pair().head.Complete()) return std::nullopt;
  for (const MetricId id :
       {MetricId::kKernels, MetricId::kCpuKernels, MetricId::kGpuTime, MetricId::kCommTime}) {
    const MetricValue& base = facts.Base(id);
    const MetricValue& head = facts.Head(id);
    if (!base.unavailable.empty() || !head.unavailable.empty()) continue;
    const std::optional<double> before = base.value ? base.value : base.largest;
    const std::optional<double> now = head.value ? head.value : head.largest;
    if (!before || !now || !(*before > 0) || !(*now < *before / 2)) continue;
    if (id == MetricId::kCommTime && SameMessages(facts)) continue;
    Finding finding;
    finding.rule = "perfgate:vanished-work";
    finding.case_name = facts.pair().declared.name;
    finding.metric = id;
    finding.base = before;
    finding.head = now;
    finding.delta = *now - *before;
    finding.limit = "at least half of the baseline";
    finding.why =
        "Less than half of the work is more often a workload that no longer does its job "
        "than a gain.";
    PointAt(*facts.pair().diff, Explaining(*facts.pair().diff, id, *finding.delta), finding);
    return With(std::move(finding), Status::kSuspicious,
                fmt::format("{} {} -> {}{}: less than half is left", Info(id).name,
                            Shown(*before, id), Shown(*now, id), Suffix(id)),
                AcceptRule(facts.pair().declared.name, "perfgate:vanished-work"));
  }
  return std::nullopt;
}

}  // namespace perfgate
