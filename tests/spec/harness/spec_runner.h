// Runs one spec in a folder of its own.
#pragma once

#include <string>
#include <vector>

#include "harness/spec_file.h"

namespace perfgate::spec {

// Every way in which the spec does not hold, each ready to print; empty: it holds. With `update`
// the expected lines are rewritten to what was printed instead (never `exit`, and a broken
// invariant stays a failure).
std::vector<std::string> RunSpec(const SpecFile& spec, bool update);

}  // namespace perfgate::spec
