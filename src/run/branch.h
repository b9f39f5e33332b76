// The branch that a run belongs to.
#pragma once

#include <filesystem>
#include <string>

#include "run/run.h"

namespace perfgate {

// The one that is checked out in `folder`. CI systems check a commit out without a branch: then the
// one that the job is for, by GitHub's and GitLab's variables, if the job is for `commit`; a pull
// or merge request is for none. "" if there is none.
std::string BranchOf(const std::filesystem::path& folder, const std::string& commit, World& world);

}  // namespace perfgate
