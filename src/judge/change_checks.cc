#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"

namespace perfgate {

Finding With(Finding finding, Status status, std::string message, std::string next) {
  finding.status = status;
  finding.message = std::move(message);
  finding.next = std::move(next);
  return finding;
}

std::string ToString(const CountBound& bound) {
  if (bound.at_least && bound.at_most && *bound.at_least == *bound.at_most) {
    return std::to_string(*bound.at_most);
  }
  std::vector<std::string> parts;
  if (bound.at_least) parts.push_back(fmt::format("at least {}", *bound.at_least));
  if (bound.at_most) parts.push_back(fmt::format("at most {}", *bound.at_most));
  return Join(parts, ", ");
}

bool Holds(const CountBound& bound, int64_t count) {
  return (!bound.at_most || count <= *bound.at_most) &&
         (!bound.at_least || count >= *bound.at_least);
}

void PointAt(const Diff& diff, std::vector<int> changes, Finding& finding) {
  constexpr size_t kMost = 20;  // worst first; the report shows the whole diff
  if (changes.size() > kMost) changes.resize(kMost);
  for (const int index : changes) {
    for (const std::string& op : diff.changes[static_cast<size_t>(index)].operators) {
      const auto& known = finding.operators;
      if (std::find(known.begin(), known.end(), op) == known.end()) finding.operators.push_back(op);
    }
  }
  finding.changes = std::move(changes);
}

Finding CheckChanges(const Rule& rule, const CaseFacts& facts, Finding finding) {
  const auto& check = std::get<ChangesCheck>(rule.check);
  std::vector<std::string> kinds;
  for (const ChangeKind kind : check.kinds) kinds.emplace_back(ToString(kind));
  const std::string what = Join(kinds, ", ");
  finding.limit = ToString(check.count);
  if (facts.obstacle()) {
    const auto& obstacle = *facts.obstacle();
    return With(std::move(finding), obstacle.status, obstacle.message, obstacle.next);
  }
  if (!rule.aggregate_max && !facts.unstable_kernels().empty()) {
    return With(std::move(finding), Status::kError, facts.unstable_kernels(), JudgeLargestStep());
  }
  const Diff& diff = *facts.pair().diff;
  std::vector<int> found;
  std::vector<std::string> texts;
  for (size_t i = 0; i < diff.changes.size(); ++i) {
    const Change& change = diff.changes[i];
    const bool asked = std::any_of(check.kinds.begin(), check.kinds.end(),
                                   [&](ChangeKind kind) { return IsOfKind(change, kind); });
    if (!asked || (check.narrower && *check.narrower != change.narrower)) continue;
    found.push_back(static_cast<int>(i));
    if (texts.size() < 3) {
      texts.push_back(fmt::format("{}: {}", ToString(change.kind), Printable(change.text)));
    }
  }
  const auto count = static_cast<int64_t>(found.size());
  finding.head = static_cast<double>(count);
  PointAt(diff, std::move(found), finding);
  if (count == 0 && Holds(check.count, 0)) {
    return With(std::move(finding), Status::kPass, fmt::format("no change of kind {}", what));
  }
  std::string message = fmt::format("{} of kind {} (allowed: {})", Plural(count, "change"), what,
                                    ToString(check.count));
  if (!texts.empty())
    message = Join(texts, "; ") + fmt::format(" (allowed: {})", ToString(check.count));
  if (count > static_cast<int64_t>(texts.size()) && !texts.empty()) {
    message += fmt::format(", {} in all", count);
  }
  if (Holds(check.count, count)) return With(std::move(finding), Status::kPass, message);
  return With(std::move(finding), Status::kFail, message,
              facts.policy().bare_diff ? "" : AcceptRule(finding.case_name, finding.rule));
}

}  // namespace perfgate
