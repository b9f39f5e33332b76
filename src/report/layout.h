// What all writers of a verdict share: the order of things, the headline, and text made harmless.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "judge/judge.h"
#include "trend/trend.h"

namespace perfgate {

// Printable, and without characters that turn the reading direction around.
std::string Safe(std::string_view text);
// Ends lines at blanks so that none is longer than `width`; further lines start with `indent`
// blanks.
std::string Wrap(std::string_view text, size_t width, size_t indent);
// CI systems obey lines that start with `::name` and `##[name]` anywhere: neither stays.
std::string WithoutLogCommands(std::string_view text);

struct Headline {
  std::string word;  // "PASS", "WAIVED", "FAIL", "ERROR", "NO BASELINE", "NOTHING JUDGED" ...
  bool good = false;
  bool bad = false;      // neither: something to look at
  std::string sentence;  // "2 of 14 rules failed, in 1 of 3 cases (3 of 4 declared cases, quick)"
  std::string context;  // "suite demo · cpu · torch 2.11.0 · head 1a2b3c4 against baseline of ..."
  std::string banner;  // "" or what stands above all else
};
Headline HeadlineOf(const Verdict& verdict);

// Of findings that say what there is nothing of to compare with.
bool SaysLack(Status status);
// Statuses that make a case worth reading in full.
bool IsTrouble(Status status);
// For a person: "could not judge", "failed", "no baseline" ...
std::string_view Words(Status status);
std::string_view Words(const Finding& finding);
std::string_view Words(const CaseVerdict& item);  // of the worst that is said of it

// Incomplete and erroneous cases first, then failing ones, then the rest, each in declared order.
std::vector<const CaseVerdict*> CasesInOrder(const Verdict& verdict);
// The findings that `wanted` takes, worst first.
std::vector<const Finding*> FindingsInOrder(const CaseVerdict& verdict,
                                            const std::function<bool(const Finding&)>& wanted);
// "no-extra-kernel"; the full id where another rule of the verdict ends the same way.
class RuleNames {
 public:
  explicit RuleNames(const Verdict& verdict);
  std::string Of(const Finding& finding) const;

 private:
  std::unordered_map<std::string, std::string> rules_;  // by short id: the first that has it
  std::unordered_set<std::string> ambiguous_;           // short ids
};

// The distinct things to do next, in order: commands first said by the worst findings.
std::vector<std::string> NextSteps(const std::vector<const Finding*>& findings);
// True if the step accepts what failed: to be done only if the change is meant.
bool AcceptsFailure(std::string_view step);

// "1 x  12.3 us": launches and time a step.
std::string CountAndTime(const ChangedKernel& kernel);

// "+12.3 us".
std::string SignedTime(int64_t ns);
// How much of the difference of kernel time the changes explain, and what is left; "" where neither
// is anything: "+10.9 us a step: the changes +101 us, kernels without a change -90.1 us".
std::string TimeBalance(const Diff& diff);
// The same of copies and fills, which are no kernels.
std::string CopyTimeBalance(const Diff& diff);

// "gelu bf16   1 x  3.20 us -> 9.70 us   aten::gelu"
std::string DriftLine(const Drift& drift, size_t name_width);

// The distinct notes of the cases without trouble, and of how many cases each is.
std::vector<std::pair<std::string, int>> NotesOf(const Verdict& verdict);

// Why no change was looked for.
std::string TooFew(const Trend& trend);

}  // namespace perfgate
