#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "evidence/merge.h"
#include "evidence/timed_series.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

void Observe(const Attempt& attempt, MetricId metric, double value, Evidence& evidence) {
  evidence.values.push_back({metric, attempt.side, attempt.pair, attempt.process, {value}});
}

void AddPercentile(const AttemptData& data, const std::vector<int64_t>& samples, MetricId metric,
                   double p, Evidence& evidence) {
  if (samples.empty()) return;
  if (const std::optional<int64_t> value = Percentile(samples, p)) {
    Observe(data.attempt, metric, static_cast<double>(*value), evidence);
  } else {
    evidence.unavailable.emplace(
        metric,
        fmt::format("{} are too few: needs {}",
                    Plural(static_cast<int64_t>(samples.size()), "sample"), MinimumSamples(p)));
  }
}

// Counters that the Python helper puts into the environment.
void AddCounter(const AttemptData& data, const std::string& key, MetricId metric,
                Evidence& evidence) {
  const auto found = data.samples->environment.find(key);
  if (found == data.samples->environment.end()) return;
  int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) {
    Observe(data.attempt, metric, static_cast<double>(value), evidence);
  } else {
    evidence.unavailable.emplace(
        metric, fmt::format("samples.json: {} is '{}', not a count", key, Printable(text)));
  }
}

// A count that one output does not say is unknown for all, never 0.
void AddOutputCount(const AttemptData& data, MetricId metric, int64_t Output::*member,
                    Evidence& evidence) {
  double total = 0;  // of numbers that the workload chose: their sum may not fit into 64 bits
  for (const Output& output : data.samples->outputs) {
    if (output.*member < 0) {
      evidence.unavailable.emplace(metric, fmt::format("samples.json: output '{}' has no {}",
                                                       Printable(output.name), Info(metric).name));
      return;
    }
    total += static_cast<double>(output.*member);
  }
  if (!data.samples->outputs.empty()) Observe(data.attempt, metric, total, evidence);
}

}  // namespace

void AppendSamples(const AttemptData& data, Evidence& evidence) {
  if (!data.samples) return;
  const Samples& samples = *data.samples;
  if (!samples.latency_ns.empty()) {
    evidence.timed.push_back(
        {data.attempt.side, data.attempt.pair, data.attempt.process, samples.latency_ns});
  }
  const int warmup_in_window = AppendTimedSeries(data, evidence);
  AddPercentile(data, samples.latency_ns, MetricId::kLatencyP50, 0.50, evidence);
  AddPercentile(data, samples.latency_ns, MetricId::kLatencyP95, 0.95, evidence);
  AddPercentile(data, samples.latency_ns, MetricId::kLatencyP99, 0.99, evidence);
  AddPercentile(data, samples.dispatch_ns, MetricId::kDispatch, 0.50, evidence);
  if (samples.dispatch_ns.empty() && !samples.dispatch_unavailable.empty()) {
    evidence.unavailable.emplace(MetricId::kDispatch, samples.dispatch_unavailable);
  }
  if (samples.cold_start_ns > 0) {
    Observe(data.attempt, MetricId::kColdStart, static_cast<double>(samples.cold_start_ns),
            evidence);
  }
  if (!samples.latency_ns.empty()) {
    Observe(data.attempt, MetricId::kWarmupIterations,
            static_cast<double>(samples.warmup_iterations) + warmup_in_window, evidence);
  }
  AddCounter(data, "graph_breaks", MetricId::kGraphBreaks, evidence);
  AddCounter(data, "recompiles", MetricId::kRecompiles, evidence);
  Observe(data.attempt, MetricId::kFallbacks, static_cast<double>(samples.fallback.size()),
          evidence);
  AddOutputCount(data, MetricId::kNanCount, &Output::nan_count, evidence);
  AddOutputCount(data, MetricId::kInfCount, &Output::inf_count, evidence);
  const auto warning = samples.environment.find("warning");
  if (warning != samples.environment.end()) {
    AddUnique(evidence.notes, "the workload warns: " + Printable(warning->second));
  }
  for (const Fallback& fallback : samples.fallback) {
    const bool known = std::any_of(
        evidence.fallback.begin(), evidence.fallback.end(),
        [&](const Fallback& f) { return f.what == fallback.what && f.why == fallback.why; });
    if (!known) evidence.fallback.push_back(fallback);
  }
}

}  // namespace perfgate
