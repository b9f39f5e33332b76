// The command line, callable in process: perfgate's main and the spec harness both call Main.
#pragma once

#include <string>
#include <vector>

#include "run/run.h"

namespace perfgate::cli {

// `args` without the program's name. Returns the exit code; never throws.
int Main(const std::vector<std::string>& args, World& world);

}  // namespace perfgate::cli
