// A review for a terminal, a comment and a program.
#include <fmt/format.h>

#include "base/text.h"
#include "report/diff_text.h"
#include "report/layout.h"
#include "report/markdown.h"
#include "report/report.h"
#include "report/review_words.h"

namespace perfgate {
namespace {

constexpr size_t kMostReviewLines = 60;
// Of a comment: what failed must have its room too.
constexpr size_t kMostReviewBytes = 16'000;
constexpr size_t kReviewIndent = 12;

Ink InkOf(Effect effect) {
  switch (effect) {
    case Effect::kWaives:
    case Effect::kLoosens:
      return Ink::kYellow;
    case Effect::kTightens:
      return Ink::kGreen;
    default:
      return Ink::kBold;
  }
}

std::string TextLines(const ReviewItem& item, const TextStyle& style) {
  const auto width = static_cast<size_t>(style.width);
  std::string lines =
      "  " + Paint(fmt::format("{:<8}", ToString(item.effect)), InkOf(item.effect), style);
  lines += "  " + Wrap(Safe(item.subject + ": " + item.text), width, kReviewIndent) + "\n";
  if (!item.reason.empty()) {
    lines += std::string(kReviewIndent, ' ') +
             Wrap("reason: " + Safe(item.reason), width, kReviewIndent + 8) + "\n";
  }
  return lines;
}

std::string MarkdownLine(const ReviewItem& item) {
  std::string line = fmt::format("- **{}** {}: {}", ToString(item.effect),
                                 markdown::Code(item.subject), markdown::Prose(item.text));
  if (!item.reason.empty()) line += "<br>reason: " + markdown::Prose(item.reason);
  return line + "\n";
}

}  // namespace

std::string ReviewAsText(const Review& review, const TextStyle& style) {
  std::string text;
  if (!review.base.empty() && (review.problem.empty() || review.compared)) {
    text += Paint(ReviewSentence(review), Ink::kBold, style) + "\n";
  }
  if (const std::string problem = ReviewProblem(review); !problem.empty()) {
    text += "  " + Paint("note    ", Ink::kYellow, style) + "  " +
            Wrap(Safe(problem), static_cast<size_t>(style.width), kReviewIndent) + "\n";
  }
  for (const std::string& note : ShownNotes(review)) {
    text += "  " + Paint("note    ", Ink::kBold, style) + "  " +
            Wrap(Safe(note), static_cast<size_t>(style.width), kReviewIndent) + "\n";
  }
  const std::vector<ReviewItem> items = ShownItems(review);
  for (size_t i = 0; i < items.size() && i < kMostReviewLines; ++i) {
    text += TextLines(items[i], style);
  }
  if (items.size() > kMostReviewLines) {
    text += fmt::format("  and {} more: see --format json\n", items.size() - kMostReviewLines);
  }
  return WithoutLogCommands(text);
}

std::string ReviewAsMarkdown(const Review& review) {
  std::string text;
  if (!review.base.empty() && (review.problem.empty() || review.compared)) {
    text += "\n### " + markdown::Prose(ReviewSentence(review)) + "\n\n";
  }
  if (const std::string problem = ReviewProblem(review); !problem.empty()) {
    text += "\n> [!WARNING]\n> " + markdown::Prose(problem) + "\n\n";
  }
  for (const std::string& note : ShownNotes(review)) {
    text += "- **note** " + markdown::Prose(note) + "\n";
  }
  const std::vector<ReviewItem> items = ShownItems(review);
  size_t shown = 0;
  for (; shown < items.size(); ++shown) {
    const std::string line = MarkdownLine(items[shown]);
    if (text.size() + line.size() > kMostReviewBytes) break;
    text += line;
  }
  if (shown < items.size()) {
    text += fmt::format("- and {} more: see the JSON report\n", items.size() - shown);
  }
  return WithoutLogCommands(text);
}

Json ReviewAsJson(const Review& review) {
  Json items{Json::Array{}};
  for (const ReviewItem& item : review.items) {
    items.Push(Json(Json::Object{{"effect", Json(ToString(item.effect))},
                                 {"subject", Json(item.subject)},
                                 {"text", Json(item.text)},
                                 {"reason", Json(item.reason)}}));
  }
  return Json(Json::Object{{"base", Json(review.base)},
                           {"compared", Json(review.compared)},
                           {"problem", Json(review.problem)},
                           {"notes", Json::ArrayOf(review.notes)},
                           {"items", std::move(items)}});
}

}  // namespace perfgate
