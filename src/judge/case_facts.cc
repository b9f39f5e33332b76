#include "judge/case_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "judge/next_step.h"

namespace perfgate {

CaseFacts::CaseFacts(const CasePair& pair, const Policy& policy, const TimeFamily& family)
    : pair_(pair), policy_(policy), family_(family) {
  for (const KernelRow& row : pair.head.kernels) {
    if ((row.device == "cpu") != OnGpu()) kernels_.push_back(&row);
    steps_ = std::max(steps_, row.count_per_step.size());
  }
  obstacle_ = FindObstacle();
}

const MetricValue& CaseFacts::Cached(Cache& cache, const Evidence& evidence, MetricId id) {
  auto& entry = cache[static_cast<size_t>(id)];
  if (!entry) entry = Summarise(evidence, id);
  return *entry;
}

namespace {

std::string WhyNotComparable(const std::vector<std::string>& differences) {
  if (differences.empty()) {
    return "the baseline is of another machine or stack (differing fields unknown)";
  }
  const bool only_rules = differences.size() == 1 && differences[0].starts_with("extractor: ");
  return fmt::format("the baseline is {} ({})",
                     only_rules ? "of a perfgate that counts the same trace in another way"
                                : "of another machine or stack",
                     Join(differences, "; "));
}

}  // namespace

std::optional<CaseFacts::Obstacle> CaseFacts::FindObstacle() const {
  if (!pair_.base) {
    return Obstacle{Status::kMissing,
                    "there is no baseline of this case for this machine and stack",
                    policy_.bare_diff ? "" : AcceptFirst(pair_.declared.name)};
  }
  if (!pair_.base->Complete()) {
    return Obstacle{Status::kError,
                    "the base's evidence is incomplete: " + pair_.base->incomplete_because.front(),
                    ""};
  }
  if (!pair_.comparable) {
    return Obstacle{Status::kNotComparable, WhyNotComparable(pair_.key_differences),
                    policy_.bare_diff ? "" : AcceptFirst(pair_.declared.name)};
  }
  if (!pair_.diff) {
    return Obstacle{Status::kError, "base and head were not compared", ""};
  }
  if (!pair_.diff->different_shapes.empty()) {
    return Obstacle{Status::kNotComparable, "not the same work: " + pair_.diff->different_shapes,
                    policy_.bare_diff ? "" : AcceptFirst(pair_.declared.name)};
  }
  return std::nullopt;
}

const std::string& CaseFacts::unstable_kernels() const {
  if (!unstable_kernels_) {
    unstable_kernels_ = "";
    if (!KernelSetIsStable(pair_.head)) {
      unstable_kernels_ = "the kernels differ from step to step";
    } else if (pair_.base && !KernelSetIsStable(*pair_.base)) {
      unstable_kernels_ = "the base's kernels differ from step to step";
    }
  }
  return *unstable_kernels_;
}

}  // namespace perfgate
