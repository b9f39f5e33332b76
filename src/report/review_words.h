// What the writers of a review share.
#pragma once

#include <string>
#include <vector>

#include "review/review.h"

namespace perfgate {

// "Against 1a2b3c4 this change loosens 2, accepts 1"; with nothing of it: "Against 1a2b3c4 this
// change waives, loosens and accepts nothing".
std::string ReviewSentence(const Review& review);
// False where there is nothing to say: then a verdict is silent about it.
bool HasNews(const Review& review);
// Why part or all of it is not known; "" if it is.
std::string ReviewProblem(const Review& review);
std::vector<std::string> ShownNotes(const Review& review);
// As it is shown: by effect, long texts cut, nothing else made harmless.
std::vector<ReviewItem> ShownItems(const Review& review);

}  // namespace perfgate
