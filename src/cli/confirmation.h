// What a run measures again before its verdict is final.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "calibration/calibration.h"
#include "cli/select.h"
#include "run/run.h"

namespace perfgate::cli {

// Asked when a round has ended: judges what the out folder holds by then as if the run had, and
// says which cases look slower, or could not be told from it, and have a confirmation left. Empty
// where no rule can ask for one. `selection`, `calibrations` and `world` must outlive it.
std::function<Unsettled()> Confirmation(const Selection& selection,
                                        const std::filesystem::path& out_dir, bool in_pairs,
                                        const std::vector<Calibration>& calibrations, World& world);

}  // namespace perfgate::cli
