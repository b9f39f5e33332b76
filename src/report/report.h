// One Verdict, many writers; one Evidence, many writers.
//
// Names of kernels, cases, rules and whatever a workload wrote come from outside: every writer
// makes them harmless for its medium (control characters, Markdown, log commands of CI systems).
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "evidence/evidence.h"
#include "judge/judge.h"
#include "trend/trend.h"

namespace perfgate {

struct TextStyle {
  bool color = false;
  bool all_passes = false;  // list passes too instead of counting them
  int width = 110;
};

// First line: verdict, counts, suite, device, stack, both commits. Then failures, warnings, passes.
std::string VerdictAsText(const Verdict& verdict, const TextStyle& style);
std::string VerdictAsMarkdown(const Verdict& verdict);
// One page that loads nothing, at most 5 MB, whole cases and tables left out beyond it. `pairs`:
// what was judged, for tables and time lines; a case without its pair has its verdict alone.
// `trends`: what the cases were in stored runs, if there are some.
std::string VerdictAsHtml(const Verdict& verdict, std::span<const CasePair> pairs,
                          std::span<const Trend> trends = {});
Json VerdictAsJson(const Verdict& verdict);  // schema "perfgate.verdict/1", docs/formats.md
// For CI systems, docs/reports.md: JUnit XML, log commands of GitHub Actions (annotations), a code
// quality report of GitLab.
std::string VerdictAsJunit(const Verdict& verdict);
std::string VerdictAsGithub(const Verdict& verdict);
Json VerdictAsGitlab(const Verdict& verdict);

// The changes and the four answers alone, without a verdict: `perfgate baseline diff`.
std::string DiffAsText(const Diff& diff, const TextStyle& style);

// What VerdictAsJson wrote. Throws Error(kInput) for what is not of that schema, for unknown names
// and for numbers that no measurement has: it may come from anyone.
Verdict VerdictFromJson(const Json& json);

// A review alone, `perfgate review`; the verdict's writers have it too.
std::string ReviewAsText(const Review& review, const TextStyle& style);
std::string ReviewAsMarkdown(const Review& review);
Json ReviewAsJson(const Review& review);

std::string EvidenceAsText(const Evidence& evidence, const TextStyle& style, bool explain);
std::string EvidenceAsMarkdown(const Evidence& evidence, bool explain);
std::string EvidenceAsHtml(const Evidence& evidence);

std::string TrendsAsText(std::span<const Trend> trends);
Json TrendsAsJson(std::span<const Trend> trends);  // schema "perfgate.history/1"
std::string TrendsAsHtml(std::span<const Trend> trends);

}  // namespace perfgate
