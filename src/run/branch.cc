#include "run/branch.h"

namespace perfgate {

std::string BranchOf(const std::filesystem::path& folder, const std::string& commit, World& world) {
  if (commit.empty()) return "";
  if (std::string branch = world.GitBranch(folder); !branch.empty()) return branch;
  constexpr std::string_view kBranch = "refs/heads/";
  if (const std::string ref = world.Getenv("GITHUB_REF");
      world.Getenv("GITHUB_SHA") == commit && ref.starts_with(kBranch)) {
    return ref.substr(kBranch.size());
  }
  return world.Getenv("CI_COMMIT_SHA") == commit ? world.Getenv("CI_COMMIT_BRANCH") : "";
}

}  // namespace perfgate
