// What the rules ask again and again of one case, computed once.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "judge/time_family.h"

namespace perfgate {

class CaseFacts {
 public:
  CaseFacts(const CasePair& pair, const Policy& policy, const TimeFamily& family);

  const CasePair& pair() const { return pair_; }
  const Policy& policy() const { return policy_; }
  const TimeFamily& family() const { return family_; }
  bool OnGpu() const { return pair_.head.device_kind == "cuda"; }

  const MetricValue& Head(MetricId id) const { return Cached(head_, pair_.head, id); }
  const MetricValue& Base(MetricId id) const { return Cached(base_, *pair_.base, id); }

  // Kernel rows of the head on the case's own device.
  const std::vector<const KernelRow*>& kernels() const { return kernels_; }
  size_t steps() const { return steps_; }

  // Why a comparison with the baseline is not possible: a status and its words. Nothing if it is.
  struct Obstacle {
    Status status;
    std::string message, next;
  };
  const std::optional<Obstacle>& obstacle() const { return obstacle_; }
  // Why the set of kernels cannot be compared: it changes from step to step. "" if it can.
  const std::string& unstable_kernels() const;

 private:
  using Cache =
      std::array<std::optional<MetricValue>, static_cast<size_t>(MetricId::kInfCount) + 1>;
  static const MetricValue& Cached(Cache& cache, const Evidence& evidence, MetricId id);
  std::optional<Obstacle> FindObstacle() const;

  const CasePair& pair_;
  const Policy& policy_;
  const TimeFamily& family_;
  mutable Cache head_, base_;
  std::vector<const KernelRow*> kernels_;
  size_t steps_ = 1;
  std::optional<Obstacle> obstacle_;
  mutable std::optional<std::string> unstable_kernels_;
};

}  // namespace perfgate
