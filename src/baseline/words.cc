// What a baseline says, in the words of commit messages and reviews.
#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/text.h"
#include "base/units.h"
#include "baseline/baseline.h"

namespace perfgate {
namespace {

constexpr size_t kMostChanges = 6;

std::string Value(const MetricValue& value, Unit unit) {
  if (value.value) return FormatValue(*value.value, unit);
  if (!value.unavailable.empty()) return "n/a";
  return value.largest ? "up to " + FormatValue(*value.largest, unit) : "varies";
}

// What repeats less well than a count changes from run to run: only what is beyond that is news.
// Times on the device repeat to well below 3 %; wall times move by more, on another day above all.
bool MovedFar(const Metric& metric, double before, double now) {
  const double share = metric.exactness == Exactness::kNearExact ? 0.03 : 0.25;
  const double least = metric.unit == Unit::kNanoseconds ? 2'000 : 1;
  const double change = std::abs(now - before);
  return change >= least && change >= share * std::abs(before);
}

bool Differs(const Metric& metric, const MetricValue& before, const MetricValue& now) {
  if (before.value && now.value) {
    if (metric.exactness == Exactness::kExact) return *before.value != *now.value;
    return MovedFar(metric, *before.value, *now.value);
  }
  return before.value.has_value() != now.value.has_value() ||
         before.unavailable.empty() != now.unavailable.empty() || before.largest != now.largest;
}

std::string ChangeText(const Metric& metric, const MetricValue& before, const MetricValue& now) {
  const std::string was = Value(before, metric.unit), is = Value(now, metric.unit);
  // Rounded alike, they are given in full.
  if (was != is) return fmt::format("{} {} -> {}", metric.name, was, is);
  return fmt::format("{} {} -> {}", metric.name, before.value.value_or(0), now.value.value_or(0));
}

// Of the metrics that are exact, or that are not.
std::string Changed(const Evidence& before, const Evidence& now, bool exact) {
  std::vector<std::string> changed;
  for (const Metric& metric : Metrics()) {
    if ((metric.exactness == Exactness::kExact) != exact) continue;
    const MetricValue was = Summarise(before, metric.id), is = Summarise(now, metric.id);
    if (Differs(metric, was, is)) changed.push_back(ChangeText(metric, was, is));
  }
  if (changed.size() <= kMostChanges) return Join(changed, ", ");
  return fmt::format("{} and {} more", Join(std::span(changed).first(kMostChanges), ", "),
                     changed.size() - kMostChanges);
}

}  // namespace

std::string ChangedCounts(const Evidence& before, const Evidence& now) {
  const std::string changed = Changed(before, now, true);
  return changed.empty() ? "no count changed" : changed;
}

std::string ChangedTimes(const Evidence& before, const Evidence& now) {
  return Changed(before, now, false);
}

std::string KernelCount(const Evidence& evidence) {
  const bool counts = Summarise(evidence, MetricId::kInstructions).value.has_value();
  const Metric& metric = Info(counts                           ? MetricId::kInstructions
                              : evidence.device_kind == "cuda" ? MetricId::kKernels
                                                               : MetricId::kCpuKernels);
  return fmt::format("{} {}", metric.name, Value(Summarise(evidence, metric.id), metric.unit));
}

}  // namespace perfgate
