#include "report/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/layout.h"

namespace perfgate {

Counts CountOf(const Verdict& verdict) {
  Counts counts;
  std::set<std::string> rules, failed;
  int unproven_warnings = 0;
  for (const CaseVerdict& item : verdict.cases) {
    int warned = 0;
    bool troubled = false, unjudged = false, missing = false, foreign = false;
    for (const Finding& finding : item.findings) {
      rules.insert(finding.rule);
      troubled |= IsTrouble(finding.status);
      unjudged |= finding.status == Status::kError || finding.status == Status::kSuspicious;
      missing |= finding.status == Status::kMissing;
      foreign |= finding.status == Status::kNotComparable;
      if (SaysLack(finding.status)) counts.lacks.insert(finding.lacks);
      if (finding.status == Status::kFail) failed.insert(finding.rule);
      counts.passed += finding.status == Status::kPass;
      counts.improved += finding.status == Status::kImproved;
      warned += finding.status == Status::kWarn;
      counts.waived += finding.status == Status::kWaived;
      counts.skipped += finding.status == Status::kSkipped;
    }
    // Where a missing baseline only warns, the findings do not say it: there is nothing to diff
    // with.
    if (verdict.no_baseline_warns && !item.diff && item.incomplete_because.empty()) {
      missing = true;
      unproven_warnings += warned;
    }
    unjudged |= !item.incomplete_because.empty() || item.status == Status::kError;
    counts.warned += warned;
    counts.troubled_cases += troubled || unjudged;
    counts.unjudged_cases += unjudged;
    counts.without_baseline += missing || item.status == Status::kMissing;
    counts.not_comparable += foreign || item.status == Status::kNotComparable;
  }
  counts.failed_rules = static_cast<int>(failed.size());
  counts.rules = std::max(verdict.rules, static_cast<int>(rules.size()));
  counts.judged =
      counts.passed + counts.improved + counts.warned + counts.waived - unproven_warnings;
  return counts;
}

std::string RestOf(const Counts& counts) {
  std::vector<std::string> parts;
  const auto say = [&](int count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  say(counts.passed, "passed");
  say(counts.improved, "improved");
  say(counts.warned, counts.warned == 1 ? "warning" : "warnings");
  say(counts.waived, "waived");
  say(counts.skipped, "skipped");
  return Join(parts, ", ");
}

}  // namespace perfgate
