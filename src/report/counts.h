// How many findings of a verdict are what. Private to this folder.
#pragma once

#include <set>
#include <string>

#include "report/report.h"

namespace perfgate {

struct Counts {
  int failed_rules = 0;  // distinct
  int rules = 0;
  int troubled_cases = 0, unjudged_cases = 0, without_baseline = 0, not_comparable = 0;
  std::set<Lack> lacks;  // of what is not comparable or missing
  int passed = 0, improved = 0, warned = 0, waived = 0, skipped = 0, judged = 0;  // findings
};
Counts CountOf(const Verdict& verdict);
// "11 passed, 1 improved, 3 skipped": what was not trouble; "" if nothing.
std::string RestOf(const Counts& counts);

}  // namespace perfgate
