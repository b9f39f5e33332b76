#include "judge/waiver.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace perfgate {
namespace {

std::string Owner(const Waiver& waiver) {
  return waiver.owner.empty() ? "" : ", owner " + waiver.owner;
}

// The delta of a limit is the distance from its bound, that of a change the one from the base; a
// percentage is of the bound or of the base.
bool Within(const Allowance& up_to, const Finding& finding) {
  if (!finding.delta) return false;
  const double size = std::abs(*finding.delta);
  if (!up_to.relative) return size <= up_to.value;
  const double whole = finding.base ? *finding.base : finding.head.value_or(0) - *finding.delta;
  return size <= std::abs(whole) * up_to.value * (1 + 1e-9);
}

}  // namespace

void ApplyWaiver(const Rule& rule, const Policy& policy, Finding& finding) {
  if (!rule.waive || finding.status != Status::kFail) return;
  const Waiver& waiver = *rule.waive;
  if (!waiver.cases.empty() && !MatchesGlob(waiver.cases, finding.case_name)) return;
  if (policy.today.empty() || policy.today > waiver.until) {
    finding.message += fmt::format("; the waiver expired on {}{} ({})", waiver.until, Owner(waiver),
                                   waiver.reason);
    return;
  }
  if (waiver.up_to && !Within(*waiver.up_to, finding)) {
    finding.message += fmt::format("; beyond the waiver, which holds up to {}", waiver.up_to->text);
    return;
  }
  finding.status = Status::kWaived;
  finding.message +=
      fmt::format("; waived until {}{}: {}", waiver.until, Owner(waiver), waiver.reason);
  finding.next.clear();
}

}  // namespace perfgate
