// A verdict as CI systems count it: one result for each rule of a case, where a rule on several
// metrics has several findings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/judge.h"

namespace perfgate {

struct RuleResult {
  std::string rule;  // full id, or kCaseItself
  Status status = Status::kPass;
  Where where;                           // of the rule
  std::vector<const Finding*> findings;  // those that decide the status; empty for kCaseItself
  std::vector<std::string> messages;     // distinct, of these findings
};

// For a person, as Words of a finding.
std::string_view Words(const RuleResult& result);

// The rule of a result that says what no finding of the case says: every rule is switched off, and
// still its evidence is incomplete or its declaration gone.
inline constexpr std::string_view kCaseItself = "perfgate:case";

// In declared order. One of them is trouble if and only if the case is.
std::vector<RuleResult> RuleResults(const CaseVerdict& item);

// A file of the repository to point at: where the rule stands; for a rule of a pack, which is no
// file, the suite that names the pack. Of no file where there is no suite.
Where PlaceInRepository(const Verdict& verdict, const Where& where);

// A problem of the whole run. Mistakes of files say where they stand, "perfgate.yaml:3:5: ...", a
// line each: those are apart, in order, by their place; of other texts the lines stay together.
struct PlacedProblem {
  Where place;  // in the repository, or the suite
  std::string text;
};
std::vector<PlacedProblem> ProblemsByPlace(const Verdict& verdict);

// True if the verdict lets the build pass although the rule did not: warnings and waivers.
bool IsLetThrough(Status status);

}  // namespace perfgate
