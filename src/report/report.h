// One Verdict, many writers; one Evidence, many writers.
#pragma once

#include <string>

#include "base/json.h"
#include "evidence/evidence.h"
#include "judge/judge.h"

namespace perfgate {

struct TextStyle {
  bool color = false;
  bool all_passes = false;  // list passes too instead of counting them
  int width = 110;
};

// First line: verdict, counts, suite, device, stack, both commits. Then failures, warnings, passes.
std::string VerdictAsText(const Verdict& verdict, const TextStyle& style);
std::string VerdictAsMarkdown(const Verdict& verdict);
Json VerdictAsJson(const Verdict& verdict);  // schema "perfgate.verdict/1"

std::string EvidenceAsText(const Evidence& evidence, const TextStyle& style, bool explain);
std::string EvidenceAsMarkdown(const Evidence& evidence, bool explain);

}  // namespace perfgate
