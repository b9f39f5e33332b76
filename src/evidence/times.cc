// What samples.json says of times: the one way into evidence for a fresh run and a stored one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "evidence/evidence.h"
#include "evidence/timed_series.h"

namespace perfgate {
namespace {

bool IsFromSamples(MetricId id) {
  switch (id) {
    case MetricId::kLatencyP50:
    case MetricId::kLatencyP95:
    case MetricId::kLatencyP99:
    case MetricId::kDispatch:
    case MetricId::kColdStart:
    case MetricId::kColdStartLoad:
    case MetricId::kColdStartCompile:
    case MetricId::kColdStartFirstCall:
    case MetricId::kWarmupIterations:
      return true;
    default:
      return false;
  }
}

struct Times {
  std::vector<Observation> values;
  std::map<MetricId, std::string> unavailable;  // as of one process or more
  std::map<Phase, int> processes;
  std::map<std::pair<Phase, MetricId>, int> reported;  // by so many processes
};

void Observe(const Attempt& attempt, MetricId metric, double value, Times& times) {
  times.values.push_back({metric, attempt.side, attempt.pair, attempt.process, {value}});
  ++times.reported[{attempt.phase, metric}];
}

// The percentiles of a series that are metrics, in the order of its own.
void ObservePercentiles(const AttemptData& data, const TimedSeries& series,
                        std::initializer_list<MetricId> metrics, Times& times) {
  auto percentile = series.percentiles.begin();
  for (const MetricId metric : metrics) {
    if (percentile->value) {
      Observe(data.attempt, metric, static_cast<double>(*percentile->value), times);
    } else {
      times.unavailable.emplace(
          metric, fmt::format("{} are too few: needs {}", Plural(series.samples, "sample"),
                              percentile->needs));
    }
    ++percentile;
  }
}

void AppendTimes(const AttemptData& data, Times& times, Evidence& evidence) {
  const Samples& samples = *data.samples;
  const Attempt& attempt = data.attempt;
  if (!samples.latency_ns.empty()) {
    evidence.timed.push_back({attempt.side, attempt.pair, attempt.process, samples.latency_ns});
    const TimedSeries& series =
        evidence.timed_series.emplace_back(DescribeSeries(data, "latency", samples.latency_ns));
    ObservePercentiles(
        data, series, {MetricId::kLatencyP50, MetricId::kLatencyP95, MetricId::kLatencyP99}, times);
    Observe(attempt, MetricId::kWarmupIterations,
            static_cast<double>(samples.warmup_iterations) + series.warmup_iterations, times);
  }
  if (!samples.dispatch_ns.empty()) {
    const TimedSeries& series =
        evidence.timed_series.emplace_back(DescribeSeries(data, "dispatch", samples.dispatch_ns));
    ObservePercentiles(data, series, {MetricId::kDispatch}, times);
  } else if (!samples.dispatch_unavailable.empty()) {
    times.unavailable.emplace(MetricId::kDispatch, samples.dispatch_unavailable);
  }
  if (!samples.device_latency_ns.empty()) {
    evidence.timed_series.push_back(
        DescribeSeries(data, "device_latency", samples.device_latency_ns));
  }
  if (samples.cold_start_ns > 0) {
    Observe(attempt, MetricId::kColdStart, static_cast<double>(samples.cold_start_ns), times);
  }
  const std::pair<MetricId, std::optional<int64_t>> parts[] = {
      {MetricId::kColdStartLoad, samples.load_ns},
      {MetricId::kColdStartCompile, samples.compile_ns},
      {MetricId::kColdStartFirstCall, samples.first_call_ns}};
  for (const auto& [metric, ns] : parts) {
    if (ns) Observe(attempt, metric, static_cast<double>(*ns), times);
  }
}

// A metric that one process lacks is unavailable: what the others have is not the whole. Timed and
// traced processes need not report the same.
void LeaveOutPartial(Times& times) {
  for (const auto& [key, count] : times.reported) {
    const auto& [phase, metric] = key;
    const int processes = times.processes.at(phase), without = processes - count;
    if (without == 0) continue;
    times.unavailable.emplace(metric, fmt::format("{} of {} {} processes did not report it",
                                                  without, processes, ToString(phase)));
  }
}

void Replace(Times times, Evidence& evidence) {
  std::erase_if(evidence.values, [](const Observation& o) { return IsFromSamples(o.metric); });
  for (Observation& observation : times.values) {
    if (times.unavailable.contains(observation.metric)) continue;
    evidence.unavailable.erase(observation.metric);
    evidence.values.push_back(std::move(observation));
  }
  for (auto& [metric, reason] : times.unavailable) {
    evidence.unavailable.insert_or_assign(metric, std::move(reason));
  }
  std::stable_sort(evidence.values.begin(), evidence.values.end(),
                   [](const Observation& a, const Observation& b) { return a.metric < b.metric; });
}

}  // namespace

void TakeTimes(const Case& declared, std::span<const AttemptData> attempts, Evidence& evidence) {
  if (declared.profiler == Profiler::kInstructions) return;  // the tool that counts slows it down
  const bool any = std::any_of(attempts.begin(), attempts.end(),
                               [](const AttemptData& data) { return data.samples.has_value(); });
  if (!any) return;
  evidence.timed.clear();
  evidence.timed_series.clear();
  evidence.notes_on_times.clear();
  evidence.not_steady.clear();
  evidence.dispatch_not_steady.clear();
  Times times;
  for (const AttemptData& data : attempts) {
    // One that failed makes the evidence incomplete itself.
    if (data.samples || data.result.fault.empty()) ++times.processes[data.attempt.phase];
    if (data.samples) AppendTimes(data, times, evidence);
  }
  LeaveOutPartial(times);
  Replace(std::move(times), evidence);
  if (declared.windows.warmup_until_steady) CheckSteadiness(evidence);
  NoteLevelsOfProcesses(evidence);
}

}  // namespace perfgate
