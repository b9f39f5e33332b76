// The verdict as a code quality report of GitLab: what did not pass, one issue a rule and case.
// https://docs.gitlab.com/ci/testing/code_quality
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/rule_results.h"

namespace perfgate {
namespace {

constexpr size_t kLongestDescription = 500;

// "": not an issue. GitLab knows info, minor, major, critical and blocker.
std::string_view GitlabSeverity(Status status) {
  if (status == Status::kError || status == Status::kSuspicious) return "critical";
  if (IsTrouble(status)) return "major";
  if (status == Status::kWarn) return "minor";
  return status == Status::kWaived ? "info" : "";
}

// GitLab tells issues of two branches apart by it: of names only, never of values, and never
// twice.
std::string Fingerprint(std::string_view case_name, std::string_view rule) {
  return Hash16(fmt::format("perfgate\n{}\n{}", case_name, rule));
}

Json GitlabIssue(const Verdict& verdict, const std::string& description, std::string_view rule,
                 std::string_view severity, std::string fingerprint, const Where& rule_place) {
  Where place = PlaceInRepository(verdict, rule_place);
  // An issue must name a file. Rules of packs without a suite have none but the pack.
  if (place.file.empty()) place = rule_place;
  if (place.file.empty()) place.file = "perfgate.yaml";
  return Json(Json::Object{
      {"description", Json(WithoutLogCommands(Shorten(Safe(description), kLongestDescription)))},
      {"check_name", Json(Safe(rule))},
      {"fingerprint", Json(std::move(fingerprint))},
      {"severity", Json(severity)},
      {"location", Json(Json::Object{
                       {"path", Json(Safe(place.file))},
                       {"lines", Json(Json::Object{{"begin", Json(std::max(1, place.line))}})}})}});
}

}  // namespace

Json VerdictAsGitlab(const Verdict& verdict) {
  Json issues{Json::Array{}};
  int number = 0;
  for (const PlacedProblem& problem : ProblemsByPlace(verdict)) {
    issues.Push(GitlabIssue(verdict, problem.text, "perfgate:problem", "critical",
                            Fingerprint("", fmt::format("problem {}", number++)), problem.place));
  }
  for (const CaseVerdict& item : verdict.cases) {
    for (const RuleResult& result : RuleResults(item)) {
      const std::string_view severity = GitlabSeverity(result.status);
      if (severity.empty()) continue;
      const std::string description =
          fmt::format("{}: {}: {}", item.case_name, Words(result), Join(result.messages, "; "));
      issues.Push(GitlabIssue(verdict, description, result.rule, severity,
                              Fingerprint(item.case_name, result.rule), result.where));
    }
  }
  return issues;
}

}  // namespace perfgate
