#include "review/review.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "review/items.h"

namespace perfgate {
namespace {

std::string_view Policy(const Suite& suite) { return suite.no_baseline_warns ? "warn" : "error"; }

std::vector<ReviewItem> ReviewSuite(const Suite& base, const Suite& head) {
  ReviewTexts texts;
  if (base.no_baseline_warns != head.no_baseline_warns) {
    texts.Add(base.no_baseline_warns,
              "no_baseline " + std::string(Policy(base)) + " -> " + std::string(Policy(head)));
  }
  const std::string before = base.baselines.generic_string();
  const std::string now = head.baselines.generic_string();
  if (before != now) texts.Add(Effect::kAlters, "baselines " + before + " -> " + now);
  std::vector<ReviewItem> items;
  texts.MoveInto(head.file.filename().generic_string(), &items);
  return items;
}

}  // namespace

std::string_view ToString(Effect effect) {
  switch (effect) {
    case Effect::kWaives:
      return "waives";
    case Effect::kLoosens:
      return "loosens";
    case Effect::kAccepts:
      return "accepts";
    case Effect::kAlters:
      return "alters";
    case Effect::kTightens:
      return "tightens";
  }
  return "";
}

void ReviewTexts::MoveInto(const std::string& subject, std::vector<ReviewItem>* items) const {
  for (const auto& [effect, texts] : texts_) {
    items->push_back({effect, subject, Join(texts, "; "), ""});
  }
}

std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  if (names.size() <= kMost) return Join(names, ", ");
  return Join(std::span(names).first(kMost), ", ") + " and " +
         std::to_string(names.size() - kMost) + " more";
}

std::vector<ReviewItem> CompareStates(const DeclaredState& base, const DeclaredState& head) {
  std::vector<ReviewItem> items = ReviewSuite(base.suite, head.suite);
  for (const std::vector<ReviewItem>& more :
       {ReviewCases(base.suite, head.suite), ReviewRules(base.suite, head.suite),
        ReviewBaselines(base, head)}) {
    items.insert(items.end(), more.begin(), more.end());
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const ReviewItem& a, const ReviewItem& b) { return a.effect < b.effect; });
  return items;
}

}  // namespace perfgate
