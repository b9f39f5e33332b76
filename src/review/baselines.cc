// Baselines that came, went, or say something else.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "diff/diff.h"
#include "review/items.h"

namespace perfgate {
namespace {

constexpr size_t kMostChanges = 3;

const Case* DeclaredBy(const Suite& suite, const std::string& name) {
  const auto found = std::find_if(suite.cases.begin(), suite.cases.end(), [&](const Case& item) {
    return item.name == name && !item.reference_only;
  });
  return found == suite.cases.end() ? nullptr : &*found;
}

// "cpu-avx2/torch-2.11": where it was measured.
std::string PlaceOf(const Baseline& baseline, const DeclaredState& state) {
  return baseline.file.lexically_relative(state.baselines_folder).parent_path().generic_string();
}

bool AtTheSamePlace(const Baseline& a, const DeclaredState& of_a, const Baseline& b,
                    const DeclaredState& of_b) {
  return a.file.lexically_relative(of_a.baselines_folder) ==
         b.file.lexically_relative(of_b.baselines_folder);
}

// What `now` took the place of: the same file, else one of the same machine under an earlier name.
const Baseline* Before(const DeclaredState& base, const DeclaredState& head, const Baseline& now) {
  for (const Baseline& before : base.baselines) {
    if (AtTheSamePlace(before, base, now, head)) return &before;
  }
  const Case* declared = DeclaredBy(head.suite, now.evidence.case_name);
  std::vector<std::string> names = {now.evidence.case_name};
  if (declared != nullptr) names.insert(names.end(), declared->was.begin(), declared->was.end());
  for (const std::string& name : names) {
    for (const Baseline& before : base.baselines) {
      const bool same_machine = SameSurroundings(before.evidence.key, now.evidence.key);
      if (same_machine && before.evidence.case_name == name) return &before;
    }
  }
  return nullptr;
}

// Equal counts may hide other kernels: what the diff finds is said too.
std::string ChangedWork(const Baseline& before, const Baseline& now) {
  if (SameValues(before, now)) return "no value changed";
  std::vector<std::string> parts = {ChangedCounts(before.evidence, now.evidence)};
  const std::string times = ChangedTimes(before.evidence, now.evidence);
  if (!times.empty()) parts.push_back(times);
  const Diff diff = Compare(before.evidence, now.evidence);
  for (size_t i = 0; i < diff.changes.size() && i < kMostChanges; ++i) {
    parts.push_back(diff.changes[i].text);
  }
  if (diff.changes.size() > kMostChanges) {
    parts.push_back(fmt::format("{} more changes", diff.changes.size() - kMostChanges));
  }
  if (parts.size() == 1) parts.emplace_back("other values differ little");
  return Join(parts, "; ");
}

// An acceptance has a run and a moment of its own: other values under the same ones are no
// measurement.
std::string WrittenByHand(const Baseline& before, const Baseline& now) {
  const bool same_acceptance = before.reason == now.reason && before.run == now.run &&
                               (!now.run.empty() || before.date == now.date);
  if (!same_acceptance || SameValues(before, now)) return "";
  return "; its run and reason are those of before: edited by hand";
}

std::string ChangedKey(const Baseline& before, const Baseline& now) {
  std::vector<std::string> differences;
  for (const std::string& each : KeyDifferences(before.evidence.key, now.evidence.key)) {
    if (!each.starts_with("definition:")) differences.push_back(each);
  }
  return differences.empty() ? "" : "; measured with " + Join(differences, ", ");
}

ReviewItem Accepted(const DeclaredState& base, const DeclaredState& head, const Baseline& now) {
  const std::string& name = now.evidence.case_name;
  const std::string place = PlaceOf(now, head);
  const Baseline* before = Before(base, head, now);
  if (before == nullptr) {
    const bool elsewhere =
        std::any_of(base.baselines.begin(), base.baselines.end(),
                    [&](const Baseline& other) { return other.evidence.case_name == name; });
    return {Effect::kAccepts, name,
            fmt::format("{} of {}, {}", elsewhere ? "first one" : "first baseline", place,
                        KernelCount(now.evidence)),
            now.reason};
  }
  std::string text = fmt::format("baseline of {}: ", place);
  if (before->evidence.case_name != name) {
    text += fmt::format("in place of {}: ", before->evidence.case_name);
  }
  return {Effect::kAccepts, name,
          text + ChangedWork(*before, now) + ChangedKey(*before, now) + WrittenByHand(*before, now),
          now.reason};
}

}  // namespace

std::vector<ReviewItem> ReviewBaselines(const DeclaredState& base, const DeclaredState& head) {
  std::vector<ReviewItem> items;
  std::set<const Baseline*> kept;
  for (const Baseline& now : head.baselines) {
    const Baseline* before = Before(base, head, now);
    if (before != nullptr) kept.insert(before);
    if (before == nullptr || !SameText(*before, now)) items.push_back(Accepted(base, head, now));
  }
  for (const Baseline& before : base.baselines) {
    const std::string& name = before.evidence.case_name;
    // Of a case that is declared no more, that is said.
    if (kept.contains(&before) || DeclaredBy(head.suite, name) == nullptr) continue;
    items.push_back({Effect::kLoosens, name,
                     fmt::format("its baseline of {} is removed", PlaceOf(before, base)), ""});
  }
  return items;
}

}  // namespace perfgate
