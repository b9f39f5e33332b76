// What the times of a case vary by on one machine without any change: A against A.
//
// In: the evidence of a run that measured the same code on both sides, in pairs. Out: the noise of
// each time, which says what tolerance a rule may ask for there, and how often the gate's own rule
// errs on pairs like these. Pure: no clock, no files; the order of label swaps comes from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "declare/declare.h"
#include "evidence/evidence.h"
#include "metric/metric.h"
#include "stats/stats.h"

namespace perfgate {

// A screening and the smallest confirmation: from fewer pairs nothing is concluded.
inline constexpr int kFewestToCalibrate = kScreeningPairs + kFewestPairs;

using Facts = std::map<std::string, std::string>;

// One time of one case.
struct Calibration {
  std::string case_name;
  MetricId metric = MetricId::kLatencyP50;
  std::string measured;  // ISO 8601, UTC
  Facts machine;         // cpu, cpu_isa, cores: known before anything is measured
  Facts stack;           // the evidence's key, the GPU's UUID, the driver
  // Values of the processes by pair, in the metric's unit. No difference between the two sides
  // means anything.
  std::vector<double> base, head;
  std::string doubt;  // why it proves nothing however often it is measured; "" if it may
  // By the values, never stored: SetNoise.
  double median = 0;                  // of all processes
  double noise = 0;                   // standard deviation of one pair's log ratio, robust
  std::optional<TwoLevels> levels{};  // processes go one of two ways, by chance

  int Pairs() const { return static_cast<int>(base.size()); }
  // 16 hex digits, the same for the same case definition, machine and stack.
  std::string Fingerprint() const;
};

void SetNoise(Calibration& calibration);

// Every time of which at least kScreeningPairs pairs have a value on both sides, in the order of
// the metric table. None of evidence that is incomplete or has no base.
std::vector<Calibration> Calibrate(const Evidence& evidence, const Facts& machine,
                                   const std::string& measured);

// Schema "perfgate.calibration/1". FromJson throws Error(kInput) for another schema or a missing
// key; a metric that this perfgate does not know gives nothing.
Json ToJson(const Calibration& calibration);
std::optional<Calibration> CalibrationFromJson(const Json& json);

// The newest calibration of each metric of a case, of `all`, that was measured on this machine.
// Before measuring the stack is unknown (nullptr) and only the definition of the case must agree;
// after it the whole fingerprint must: another GPU, driver or torch vary in another way.
std::vector<Calibration> CalibrationsOf(const Case& declared, const Facts& machine,
                                        const Evidence* measured, std::span<const Calibration> all);

// nullptr if there is none of this metric.
const Calibration* FindCalibration(std::span<const Calibration> calibrations, MetricId metric);

// What a machine can say of one rule on one time of a case.
struct Resolution {
  std::string rule;  // full id
  Where where;
  std::string case_name;
  MetricId metric = MetricId::kLatencyP50;
  double tolerance = 0;  // a ratio less 1, as the rule has it
  double finest = 0;     // the least that a confirmation resolves at all, kMostPlannedPairs pairs
  int pairs_needed = 0;  // of a confirmation, for this tolerance
  std::string why_not;   // "" if it can be resolved
  std::string next;      // what to do then
  // Verdicts by the gate's own rule on the same pairs, their labels swapped at random.
  int swaps = 0, failed = 0, inconclusive = 0;
  bool failed_as_measured = false;  // A against A, with the labels that it has
};

// Each `regression` rule that is for the case, on each of its metrics that was calibrated.
std::vector<Resolution> Resolve(std::span<const Rule> rules,
                                std::span<const Calibration> of_one_case);

// Recomputes the verdict of the tolerance on the pairs of a calibration, a screening and as many
// confirmations as there are pairs for: as measured, and `swaps` times with the pairs shuffled and
// their labels swapped at random. A fail as measured is a reason not to trust the rule.
void SwapLabels(const Calibration& calibration, int swaps, uint64_t seed, Resolution& resolution);

// "latency.p50 varies by 3.1 % from pair to pair (24 pairs of A against A on 2027-01-31), which 12
// pairs resolve from 2.2 % on"
std::string InWords(const Calibration& calibration);
// "4.1 %": two digits, rounded up.
std::string PercentUp(double ratio);

}  // namespace perfgate
