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

// Times on the device repeat to well below this; less is no news.
std::string ChangedGpuTime(const Evidence& before, const Evidence& now) {
  constexpr double kLeastShare = 0.03, kLeastNs = 2'000;
  const MetricValue was = Summarise(before, MetricId::kGpuTime);
  const MetricValue is = Summarise(now, MetricId::kGpuTime);
  if (!was.value || !is.value) return "";
  const double change = std::abs(*is.value - *was.value);
  if (change < kLeastNs || change < kLeastShare * *was.value) return "";
  return fmt::format("gpu_time {} -> {}", FormatValue(*was.value, Unit::kNanoseconds),
                     FormatValue(*is.value, Unit::kNanoseconds));
}

// Equal counts may hide other kernels: what the diff finds is said too.
std::string ChangedWork(const Evidence& before, const Evidence& now) {
  std::vector<std::string> parts = {ChangedCounts(before, now)};
  if (const std::string time = ChangedGpuTime(before, now); !time.empty()) parts.push_back(time);
  const Diff diff = Compare(before, now);
  for (size_t i = 0; i < diff.changes.size() && i < kMostChanges; ++i) {
    parts.push_back(diff.changes[i].text);
  }
  if (diff.changes.size() > kMostChanges) {
    parts.push_back(fmt::format("{} more changes", diff.changes.size() - kMostChanges));
  }
  return Join(parts, "; ");
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
          text + ChangedWork(before->evidence, now.evidence) + ChangedKey(*before, now),
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
