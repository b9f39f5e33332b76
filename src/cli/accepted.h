// What an acceptance changes, in words for the commit that brings it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "store/store.h"

namespace perfgate::cli {

struct AcceptedCase {
  std::string name;
  std::optional<Evidence> before;            // of the baseline of this machine and stack
  std::vector<std::string> key_differences;  // to the nearest one, where there is none of its own
  Evidence now;
};

// Subject, blank line, a line for each case and what was measured where: fit for `git commit
// --file`. Names from outside are printable.
std::string CommitMessage(const std::string& reason, const std::vector<AcceptedCase>& cases,
                          const std::vector<std::string>& failing_rules, const RunRecord& run);

}  // namespace perfgate::cli
