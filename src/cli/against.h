// `run --against DIR`: the base to measure in pairs with head.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/options.h"
#include "cli/select.h"
#include "run/run.h"

namespace perfgate::cli {

// Where the base's commands run and what is asked after each round; nothing without --against.
// `selection` and `world` must outlive the run. Throws Error(kUsage) for a checkout that is not
// there or lacks the suite's folder, and for a flag that goes ill with it.
std::optional<Against> BaseToMeasure(const RunArgs& args, const Selection& selection,
                                     const std::filesystem::path& out_dir, World& world);

}  // namespace perfgate::cli
