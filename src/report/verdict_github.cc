// The verdict as GitHub annotations: log commands, on the lines of the rules that did not pass.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/rule_results.h"

namespace perfgate {
namespace {

// GitHub shows ten annotations of a level a step, and of a message 64 KiB.
constexpr size_t kMostOfALevel = 10;
constexpr size_t kMostLines = 20;
constexpr size_t kLongestLine = 500;
constexpr size_t kLongestTitle = 200;

struct Annotation {
  std::string key;  // what says the same stands together
  std::string_view level;
  Where place;
  std::string title;
  std::vector<std::string> lines;
  const Finding* finding = nullptr;  // its `why` and `next`, where it is of one rule
};

// One line, in which `##[` starts no legacy command wherever it stands.
std::string LogSafe(std::string_view text, size_t width) {
  return WithoutLogCommands(Shorten(Safe(text), width));
}

// Safe() has left no CR and no LF.
std::string CommandData(std::string_view text) {
  std::string data;
  for (const char c : text) {
    if (c == '%') {
      data += "%25";
    } else {
      data += c;
    }
  }
  return data;
}

std::string CommandProperty(std::string_view text) {
  std::string property;
  for (const char c : CommandData(text)) {
    if (c == ':') {
      property += "%3A";
    } else if (c == ',') {
      property += "%2C";
    } else {
      property += c;
    }
  }
  return property;
}

std::string_view LevelOf(Status status) {
  if (IsTrouble(status)) return "error";
  if (status == Status::kWarn) return "warning";
  return status == Status::kWaived ? "notice" : "";
}

// How many results of the case say the very same: a missing baseline is said by every rule.
int64_t SayTheSame(const std::vector<RuleResult>& results, const RuleResult& one) {
  return std::count_if(results.begin(), results.end(), [&](const RuleResult& other) {
    return other.status == one.status && other.messages == one.messages;
  });
}

Annotation AnnotationOf(const Verdict& verdict, const RuleNames& names, const CaseVerdict& item,
                        const RuleResult& result, int64_t same) {
  Annotation made;
  made.level = LevelOf(result.status);
  const std::string message = Join(result.messages, "; ");
  if (result.findings.empty() || same > 1) {
    made.key = fmt::format("{}\n{}\n{}", item.case_name, ToString(result.status), message);
    made.place = PlaceInRepository(verdict, {});
    made.title = fmt::format("perfgate: {} {}", item.case_name, Words(result));
    made.lines = {message};
    if (same > 1) made.lines.push_back(fmt::format("said by {}", Plural(same, "rule")));
    return made;
  }
  made.key = fmt::format("{}\n{}", result.rule, made.level);
  made.place = PlaceInRepository(verdict, result.where);
  made.finding = result.findings.front();
  made.title = fmt::format("perfgate: {} {}", names.Of(*made.finding), Words(result));
  made.lines = {fmt::format("{}: {}", item.case_name, message)};
  return made;
}

// One a rule over all cases, those of the worst cases first.
std::vector<Annotation> AnnotationsOf(const Verdict& verdict) {
  const RuleNames names(verdict);
  std::vector<Annotation> list;
  for (const PlacedProblem& problem : ProblemsByPlace(verdict)) {
    list.push_back({problem.text, "error", problem.place, "perfgate: problem",
                    Split(problem.text, '\n'), nullptr});
  }
  for (const CaseVerdict* item : CasesInOrder(verdict)) {
    const std::vector<RuleResult> results = RuleResults(*item);
    for (const RuleResult& result : results) {
      if (LevelOf(result.status).empty()) continue;
      Annotation made = AnnotationOf(verdict, names, *item, result, SayTheSame(results, result));
      const auto known = std::find_if(
          list.begin(), list.end(), [&](const Annotation& other) { return other.key == made.key; });
      if (known == list.end()) {
        list.push_back(std::move(made));
      } else if (made.finding != nullptr) {
        known->lines.push_back(made.lines.front());
      }
    }
  }
  return list;
}

std::string AnnotationMessage(const Annotation& annotation) {
  std::vector<std::string> lines = annotation.lines;
  if (lines.size() > kMostLines) {
    const size_t more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(fmt::format("and {} more", more));
  }
  if (const Finding* finding = annotation.finding; finding != nullptr) {
    if (!finding->why.empty()) lines.push_back("why: " + finding->why);
    if (!finding->next.empty()) lines.push_back("next: " + finding->next);
  }
  for (std::string& line : lines) line = CommandData(LogSafe(line, kLongestLine));
  return Join(lines, "%0A");
}

std::string AnnotationLine(const Annotation& annotation) {
  std::string place;
  if (!annotation.place.file.empty()) {
    place = fmt::format("file={},", CommandProperty(LogSafe(annotation.place.file, kLongestLine)));
    if (annotation.place.line > 0) place += fmt::format("line={},", annotation.place.line);
    if (annotation.place.column > 0) place += fmt::format("col={},", annotation.place.column);
  }
  return fmt::format("::{} {}title={}::{}\n", annotation.level, place,
                     CommandProperty(LogSafe(annotation.title, kLongestTitle)),
                     AnnotationMessage(annotation));
}

// Of a level with more than GitHub shows the last one says how many are left out.
std::string AnnotationLines(const std::vector<Annotation>& list, std::string_view level) {
  std::vector<const Annotation*> chosen;
  for (const Annotation& annotation : list) {
    if (annotation.level == level) chosen.push_back(&annotation);
  }
  const bool too_many = chosen.size() > kMostOfALevel;
  const size_t shown = too_many ? kMostOfALevel - 1 : chosen.size();
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += AnnotationLine(*chosen[i]);
  if (too_many) {
    text += fmt::format("::{} title=perfgate::{} more like these: see the job summary\n", level,
                        chosen.size() - shown);
  }
  return text;
}

}  // namespace

std::string VerdictAsGithub(const Verdict& verdict) {
  const std::vector<Annotation> list = AnnotationsOf(verdict);
  return AnnotationLines(list, "error") + AnnotationLines(list, "warning") +
         AnnotationLines(list, "notice");
}

}  // namespace perfgate
