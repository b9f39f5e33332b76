#include "report/rule_results.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "report/layout.h"

namespace perfgate {
namespace {

void Add(const Finding& finding, RuleResult* result) {
  if (Weight(finding.status) > Weight(result->status)) {
    result->status = finding.status;
    result->findings.clear();
    result->messages.clear();
  }
  if (finding.status != result->status) return;
  result->findings.push_back(&finding);
  auto& messages = result->messages;
  if (std::find(messages.begin(), messages.end(), finding.message) == messages.end()) {
    messages.push_back(finding.message);
  }
}

RuleResult CaseItself(const CaseVerdict& item) {
  RuleResult result;
  result.rule = kCaseItself;
  result.status = IsTrouble(item.status) ? item.status : Status::kError;
  result.messages = item.incomplete_because;
  if (result.messages.empty()) result.messages.emplace_back(Words(result.status));
  return result;
}

// Takes ":12" off the end of `text`. A number of more than six digits is none.
std::optional<int> TakeNumber(std::string_view* text) {
  const size_t colon = text->rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text->substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 6 &&
                      digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!number) return std::nullopt;
  text->remove_suffix(text->size() - colon);
  return std::stoi(std::string(digits));
}

// "FILE:LINE:COLUMN: text".
std::optional<PlacedProblem> ReadPlace(std::string_view line) {
  const size_t end = line.find(": ");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, end);
  const std::optional<int> column = TakeNumber(&place);
  const std::optional<int> number = column ? TakeNumber(&place) : std::nullopt;
  if (!number || place.empty()) return std::nullopt;
  return PlacedProblem{{std::string(place), *number, *column}, std::string(line.substr(end + 2))};
}

}  // namespace

std::vector<RuleResult> RuleResults(const CaseVerdict& item) {
  std::vector<RuleResult> results;
  for (const Finding& finding : item.findings) {
    auto same = std::find_if(results.begin(), results.end(),
                             [&](const RuleResult& result) { return result.rule == finding.rule; });
    if (same == results.end()) {
      results.push_back({finding.rule, Status::kSkipped, finding.where, {}, {}});
      same = results.end() - 1;
    }
    Add(finding, &*same);
  }
  const bool said = std::any_of(results.begin(), results.end(),
                                [](const RuleResult& result) { return IsTrouble(result.status); });
  if (!said && (IsTrouble(item.status) || !item.incomplete_because.empty())) {
    results.push_back(CaseItself(item));
  }
  return results;
}

std::string_view Words(const RuleResult& result) {
  return result.findings.empty() ? Words(result.status) : Words(*result.findings.front());
}

Where PlaceInRepository(const Verdict& verdict, const Where& where) {
  const bool is_file = !where.file.empty() && !where.file.starts_with("perfgate:");
  if (is_file) return where;
  return {verdict.suite_file, verdict.suite_file.empty() ? 0 : 1, 0};
}

std::vector<PlacedProblem> ProblemsByPlace(const Verdict& verdict) {
  std::vector<PlacedProblem> problems;
  for (const std::string& problem : verdict.problems) {
    bool first = true;
    for (const std::string& line : Split(problem, '\n')) {
      if (auto placed = ReadPlace(line)) {
        problems.push_back(*std::move(placed));
      } else if (first) {
        problems.push_back({PlaceInRepository(verdict, {}), line});
      } else {
        problems.back().text += "\n" + line;
      }
      first = false;
    }
  }
  return problems;
}

bool IsLetThrough(Status status) { return status == Status::kWarn || status == Status::kWaived; }

}  // namespace perfgate
