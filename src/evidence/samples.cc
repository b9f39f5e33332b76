#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "evidence/merge.h"

namespace perfgate {
namespace {

void Observe(const Attempt& attempt, MetricId metric, double value, Evidence& evidence) {
  evidence.values.push_back({metric, attempt.side, attempt.pair, attempt.process, {value}});
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

}  // namespace

void AppendSamples(const AttemptData& data, Evidence& evidence) {
  if (!data.samples) return;
  const Samples& samples = *data.samples;
  AddCounter(data, "graph_breaks", MetricId::kGraphBreaks, evidence);
  AddCounter(data, "recompiles", MetricId::kRecompiles, evidence);
  Observe(data.attempt, MetricId::kFallbacks, static_cast<double>(samples.fallback.size()),
          evidence);
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
