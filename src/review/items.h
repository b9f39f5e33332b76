// The parts of a review, each over one kind of file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "review/review.h"

namespace perfgate {

// What one subject's changes come to: the texts of each effect.
class ReviewTexts {
 public:
  void Add(Effect effect, const std::string& text) { texts_[effect].push_back(text); }
  // More and less of what a rule demands: `stricter` if it demands more now.
  void Add(bool stricter, const std::string& text) {
    Add(stricter ? Effect::kTightens : Effect::kLoosens, text);
  }
  // One item an effect, into `items`.
  void MoveInto(const std::string& subject, std::vector<ReviewItem>* items) const;

 private:
  std::map<Effect, std::vector<std::string>> texts_;
};

std::vector<ReviewItem> ReviewCases(const Suite& base, const Suite& head);
std::vector<ReviewItem> ReviewRules(const Suite& base, const Suite& head);
std::vector<ReviewItem> ReviewBaselines(const DeclaredState& base, const DeclaredState& head);

// The judged case of the base that `head` was: by its name, else by an earlier one; null if none.
const Case* CaseBefore(const Suite& base, const Case& head);

// How a check's demands changed; `base` and `head` are of one rule.
void CompareChecks(const Rule& base, const Rule& head, ReviewTexts* texts);

// "a, b, c and 4 more".
std::string SomeOf(const std::vector<std::string>& names);

}  // namespace perfgate
