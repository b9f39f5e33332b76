// What `perfgate calibrate` found, and how it is printed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibration/calibration.h"
#include "cli/options.h"
#include "run/run.h"

namespace perfgate::cli {

// A rule on a time of a case that gave no numbers, or too few.
struct UnmeasuredRule {
  std::string rule;  // full id
  perfgate::Where where;
  std::string case_name;
  MetricId metric = MetricId::kLatencyP50;
  std::string reason;
};

struct CalibrationReport {
  std::string suite, device, measured;
  int pairs = 0;  // planned
  std::vector<Calibration> calibrations;
  std::vector<Resolution> resolutions;
  std::vector<std::pair<std::string, std::string>> unmeasured;  // case, reason
  std::vector<UnmeasuredRule> unmeasured_rules;                 // of cases that were measured
  std::vector<std::pair<std::string, std::string>> left_out;    // case without times, reason
  std::vector<Disturbance> disturbances;

  int Cases() const;       // that were measured and have a rule on times
  int Unresolved() const;  // rules
  // 3: a case, or the time of a rule, could not be measured; 4: a rule cannot be resolved; else 0.
  int ExitCode() const;
};

// Text, Markdown or JSON (schema "perfgate.calibrate/1").
std::string AsText(const CalibrationReport& report, Format format);

}  // namespace perfgate::cli
