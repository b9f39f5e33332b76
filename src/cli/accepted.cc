#include "cli/accepted.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "baseline/baseline.h"
#include "cli/judging.h"

namespace perfgate::cli {
namespace {

constexpr size_t kSubjectBytes = 72, kMostCases = 50;

std::string Line(const AcceptedCase& item) {
  const std::string name = Printable(item.name);
  if (item.before) return fmt::format("{}: {}", name, ChangedCounts(*item.before, item.now));
  if (item.key_differences.empty()) {
    return fmt::format("{}: first baseline, {}", name, KernelCount(item.now));
  }
  return fmt::format("{}: first one of this machine and stack, {} (nearest baseline / run: {})",
                     name, KernelCount(item.now), Printable(Join(item.key_differences, "; ")));
}

std::string Where(const std::vector<AcceptedCase>& cases, const RunRecord& run) {
  std::set<std::string> places;
  for (const AcceptedCase& item : cases) {
    const std::string stack = StackOf(item.now);
    places.insert(Printable(item.now.device_name) + (stack.empty() ? "" : ", " + Printable(stack)));
  }
  const std::string commit = ShortCommit(run.commit, run.dirty);
  std::string text = "Measured by run " + run.id;
  if (!commit.empty()) text += " at commit " + commit;
  for (const std::string& place : places) text += "\non " + place;
  return text + "\n";
}

// Cut at a blank.
std::string Subject(const std::string& whole) {
  if (whole.size() <= kSubjectBytes) return whole;
  const size_t blank = whole.rfind(' ', kSubjectBytes - 4);
  if (blank < kSubjectBytes / 2) return Shorten(whole, kSubjectBytes);
  return whole.substr(0, blank) + " ...";
}

}  // namespace

std::string CommitMessage(const std::string& reason, const std::vector<AcceptedCase>& cases,
                          const std::vector<std::string>& failing_rules, const RunRecord& run) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(Trim(reason), '\n')) lines.push_back(Printable(line));
  const std::string whole = "Baselines: " + lines.front();
  const std::string subject = Subject(whole);
  std::string text = subject + "\n\n";
  if (subject != whole || lines.size() > 1) text += Join(lines, "\n") + "\n\n";
  for (size_t i = 0; i < cases.size() && i < kMostCases; ++i) text += Line(cases[i]) + "\n";
  if (cases.size() > kMostCases) {
    text += fmt::format("and {} more cases\n", cases.size() - kMostCases);
  }
  if (!failing_rules.empty()) {
    text += fmt::format("\nAccepted though they fail: {}\n", Printable(Join(failing_rules, ", ")));
  }
  return text + "\n" + Where(cases, run);
}

}  // namespace perfgate::cli
