#include "cli/judging.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "baseline/baseline.h"

namespace perfgate::cli {
namespace {

std::string Field(const Evidence& evidence, const std::string& name) {
  const auto found = evidence.key.fields.find(name);
  return found == evidence.key.fields.end() ? "" : found->second;
}

struct JudgedCase {
  CasePair pair;
  std::vector<std::string> notes;
  std::string base_commit;
};

JudgedCase Pair(const Case& declared, const StoredRun& stored,
                const std::filesystem::path& baselines) {
  JudgedCase judged;
  judged.pair.declared = declared;
  judged.pair.head = EvidenceFor(declared, stored);
  // Evidence that proves nothing has no key to look with.
  if (!judged.pair.head.Complete()) return judged;
  BaselineLookup lookup = FindBaseline(baselines, judged.pair.head, declared.was);
  judged.notes = lookup.notes;
  if (!lookup.baseline) return judged;
  Evidence& base = lookup.baseline->evidence;
  judged.pair.comparable = lookup.state == BaselineState::kFound;
  judged.pair.key_differences = lookup.key_differences;
  judged.pair.diff = Compare(base, judged.pair.head);
  judged.base_commit = ShortCommit(lookup.baseline->commit, false);
  judged.pair.base_label = judged.base_commit;
  judged.pair.base = std::move(base);
  return judged;
}

// One text if all are the same, else the first and how many more.
std::string OneLabel(std::vector<std::string> labels) {
  std::erase(labels, "");
  std::vector<std::string> distinct;
  for (const std::string& label : labels) {
    if (std::find(distinct.begin(), distinct.end(), label) == distinct.end())
      distinct.push_back(label);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return distinct.front();
  return fmt::format("{} and {} more", distinct.front(), distinct.size() - 1);
}

void FillHeadings(const Selection& selection, const StoredRun& stored,
                  const std::vector<JudgedCase>& judged, Verdict* verdict) {
  std::vector<std::string> devices, stacks, commits;
  for (size_t i = 0; i < judged.size() && i < verdict->cases.size(); ++i) {
    const Evidence& head = judged[i].pair.head;
    CaseVerdict& item = verdict->cases[i];
    item.notes.insert(item.notes.end(), judged[i].notes.begin(), judged[i].notes.end());
    for (const AttemptSummary& attempt : head.attempts)
      item.attempts.push_back(attempt.attempt.dir);
    devices.push_back(head.device_name);
    stacks.push_back(StackOf(head));
    commits.push_back(judged[i].base_commit);
  }
  verdict->suite = selection.suite.name;
  verdict->device = OneLabel(devices);
  verdict->stack = OneLabel(stacks);
  verdict->base_label = OneLabel(commits);
  verdict->head_label = ShortCommit(stored.run.commit, stored.run.dirty);
  verdict->run_id = stored.run.id;
}

Verdict NotFinished(const Selection& selection, const StoredRun& stored) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.exit_code = 3;
  const int signal = stored.run.interrupted_by;
  verdict.problems.push_back(fmt::format(
      "run {} was {}: {} ended; it is stored, but never judged or accepted. Run again",
      stored.run.id, signal == 0 ? "not finished" : fmt::format("interrupted by signal {}", signal),
      Plural(static_cast<int64_t>(stored.run.attempts.size()), "attempt")));
  verdict.suite = selection.suite.name;
  verdict.head_label = ShortCommit(stored.run.commit, stored.run.dirty);
  verdict.run_id = stored.run.id;
  return verdict;
}

}  // namespace

std::string ShortCommit(const std::string& commit, bool dirty) {
  if (commit.empty()) return "";
  const bool had_mark = commit.back() == '+';
  return commit.substr(0, 7) + (dirty || had_mark ? "+" : "");
}

std::string StackOf(const Evidence& evidence) {
  std::vector<std::string> parts;
  for (const char* name : {"torch", "cuda"}) {
    const std::string value = Field(evidence, name);
    if (!value.empty()) parts.push_back(fmt::format("{} {}", name, value));
  }
  return Join(parts, ", ");
}

Evidence EvidenceFor(const Case& declared, const StoredRun& stored) {
  for (const Evidence& evidence : stored.cases) {
    if (evidence.case_name != declared.name) continue;
    Evidence head = evidence;
    const std::string definition = Field(head, "definition");
    if (!definition.empty() && !declared.digest.empty() && definition != declared.digest) {
      head.incomplete_because.push_back(fmt::format(
          "the declaration of the case has changed since run {}: run it again", stored.run.id));
    }
    return head;
  }
  Evidence none;
  none.case_name = declared.name;
  none.incomplete_because.push_back(fmt::format("run {} did not measure it", stored.run.id));
  return none;
}

Verdict JudgeRun(const Selection& selection, const StoredRun& stored, World& world) {
  if (!stored.run.finished || stored.run.interrupted_by != 0) return NotFinished(selection, stored);
  std::vector<JudgedCase> judged;
  std::vector<CasePair> pairs;
  for (const Case& declared : selection.cases) {
    judged.push_back(Pair(declared, stored, selection.baselines));
    pairs.push_back(judged.back().pair);
  }
  const Policy policy{.today = world.UtcNow().substr(0, 10),
                      .no_baseline_warns = selection.suite.no_baseline_warns};
  Verdict verdict = Judge(selection.suite.rules, pairs, policy);
  FillHeadings(selection, stored, judged, &verdict);
  return verdict;
}

}  // namespace perfgate::cli
