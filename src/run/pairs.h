// Which processes of base and head run next. Pure: the cases, what the rounds before were, and what
// they left undecided.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/run.h"

namespace perfgate {

// What is wanted of the pairs of a case.
struct PairedCase {
  const Case* declared = nullptr;
  bool timed = false;   // a rule compares times of pairs; else only traced processes are paired
  bool traced = false;  // one of those times is of the traced window: every process is traced
};

// By the suite's rules: which cases have times to compare.
std::vector<PairedCase> PairedCases(const std::vector<Rule>& rules, const std::vector<Case>& cases);

struct PlannedRound {
  std::vector<PairRound> rounds;  // one a case
  std::vector<Attempt> attempts;  // the two of a pair follow each other, their order by chance
};

// The traced processes of both sides are the first pairs; of cases with times to compare there are
// at least kScreeningPairs. Pair by pair over the cases, so that a slow drift meets all alike. A
// case that is only a reference is measured on the side of head alone.
PlannedRound PlanScreening(std::span<const PairedCase> cases, uint64_t seed);

// `pairs` fresh ones of each case named, numbered from behind those of `before`.
PlannedRound PlanConfirmation(std::span<const PairedCase> cases,
                              const std::vector<PairRound>& before, const Unsettled& unsettled,
                              uint64_t seed);

// As many fresh processes of head alone as each case named had in the first place.
PlannedRound PlanSecondSession(std::span<const PairedCase> cases, const Unsettled& unsettled,
                               uint64_t seed);

// How many of `wanted` pairs a budget has time for; 0 where it is fewer than can prove anything.
int PairsThatFit(int64_t left_ns, int64_t pair_ns, int wanted);

}  // namespace perfgate
