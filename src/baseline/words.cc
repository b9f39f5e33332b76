// What a baseline says, in the words of commit messages and reviews.
#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "baseline/baseline.h"

namespace perfgate {
namespace {

constexpr size_t kMostChanges = 6;

std::string Value(const Evidence& evidence, const Metric& metric) {
  const MetricValue value = Summarise(evidence, metric.id);
  if (value.value) return FormatValue(*value.value, metric.unit);
  return value.unavailable.empty() ? "varies" : "n/a";
}

}  // namespace

std::string ChangedCounts(const Evidence& before, const Evidence& now) {
  std::vector<std::string> changed;
  size_t more = 0;
  for (const Metric& metric : Metrics()) {
    if (metric.exactness != Exactness::kExact) continue;
    const std::string was = Value(before, metric), is = Value(now, metric);
    if (was == is) continue;
    if (changed.size() == kMostChanges) {
      ++more;
    } else {
      changed.push_back(fmt::format("{} {} -> {}", metric.name, was, is));
    }
  }
  if (changed.empty()) return "no count changed";
  return Join(changed, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string KernelCount(const Evidence& evidence) {
  const Metric& metric =
      Info(evidence.device_kind == "cuda" ? MetricId::kKernels : MetricId::kCpuKernels);
  return fmt::format("{} {}", metric.name, Value(evidence, metric));
}

}  // namespace perfgate
