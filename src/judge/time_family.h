// Times of base and head in pairs of fresh processes: all of a run's comparisons.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "judge/judge.h"

namespace perfgate {

class TimeFamily {
 public:
  TimeFamily(std::span<const Rule> rules, std::span<const CasePair> cases);

  // nullptr: not compared; the case has no pairs of it, or the rule is not for it.
  const PairedTimes* Find(const std::string& rule, const std::string& case_name, MetricId id) const;

 private:
  using Key = std::tuple<std::string, std::string, MetricId>;  // rule, case, metric
  std::map<Key, PairedTimes> times_;
};

}  // namespace perfgate
