#include "report/review_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/layout.h"

namespace perfgate {
namespace {

constexpr size_t kLongestSubject = 160, kLongestReviewText = 500, kLongestReason = 300,
                 kLongestBase = 40;

}  // namespace

std::string ReviewSentence(const Review& review) {
  std::vector<std::string> parts;
  for (const Effect effect : kEffects) {
    const auto count = std::count_if(review.items.begin(), review.items.end(),
                                     [&](const ReviewItem& item) { return item.effect == effect; });
    if (count > 0) parts.push_back(fmt::format("{} {}", ToString(effect), count));
  }
  const std::string what =
      parts.empty() ? "waives, loosens and accepts nothing" : Join(parts, ", ");
  return fmt::format("Against {} this change {}", Shorten(Safe(review.base), kLongestBase), what);
}

bool HasNews(const Review& review) { return !review.items.empty() || !review.problem.empty(); }

std::string ReviewProblem(const Review& review) {
  if (review.problem.empty()) return "";
  return fmt::format("{} of what this change accepts, loosens or waives is known: {}",
                     review.compared ? "not all" : "nothing",
                     Shorten(review.problem, kLongestReviewText));
}

std::vector<std::string> ShownNotes(const Review& review) {
  constexpr size_t kMostNotes = 10;
  std::vector<std::string> notes;
  for (size_t i = 0; i < review.notes.size() && i < kMostNotes; ++i) {
    notes.push_back(Shorten(review.notes[i], kLongestReviewText));
  }
  return notes;
}

std::vector<ReviewItem> ShownItems(const Review& review) {
  std::vector<ReviewItem> items = review.items;
  for (ReviewItem& item : items) {
    item.subject = Shorten(item.subject, kLongestSubject);
    item.text = Shorten(item.text, kLongestReviewText);
    item.reason = Shorten(item.reason, kLongestReason);
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const ReviewItem& a, const ReviewItem& b) { return a.effect < b.effect; });
  return items;
}

}  // namespace perfgate
