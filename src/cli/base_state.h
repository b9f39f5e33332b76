// What the checked-out suite, rules, waivers and baselines mean against an earlier commit.
#pragma once

#include <string>

#include "cli/select.h"
#include "review/review.h"
#include "run/run.h"

namespace perfgate::cli {

// Against the commit in which this checkout left `ref` (the merge base), for the whole suite,
// whatever cases are selected. What stands in the way (no git, a shallow clone, mistakes in the
// files of then) is the review's problem and never an error: a verdict does not hang on it.
Review ReviewAgainst(const std::string& ref, const Selection& selection, World& world);

}  // namespace perfgate::cli
