// Times of base and head in pairs of fresh processes: a screening, then confirmations. All of a
// run's comparisons are one family: the more there are, the surer a single one must be.
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
  std::map<std::tuple<std::string, std::string, MetricId>, PairedTimes> times_;
};

}  // namespace perfgate
