// `run --against DIR`: the base to measure in pairs with head.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "cli/options.h"
#include "cli/select.h"
#include "run/run.h"

namespace perfgate::cli {

// Where the base's commands run; nothing without --against. Throws Error(kUsage) for a checkout
// that is not there or lacks the suite's folder, and for a flag that goes ill with it.
std::optional<Against> BaseToMeasure(const RunArgs& args, const Selection& selection, World& world);

// Of --budget: nanoseconds; 0 for "". Throws Error(kUsage) for what is no duration.
int64_t BudgetNs(const std::string& text);

// Says of each rule that this machine was found unable to resolve what the calibration found, on
// world.Err().
void WarnOfUnresolvable(const Selection& selection, const std::vector<Calibration>& calibrations,
                        World& world);

}  // namespace perfgate::cli
