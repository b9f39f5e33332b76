#include "cli/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "baseline/baseline.h"
#include "cli/past_runs.h"

namespace perfgate::cli {
namespace {

std::string Field(const Evidence& evidence, const std::string& name) {
  const auto found = evidence.key.fields.find(name);
  return found == evidence.key.fields.end() ? "" : found->second;
}

// A version or a GPU's name comes from outside: a long one must not fill the heading.
constexpr size_t kLongestLabel = 80;

struct JudgedCase {
  CasePair pair;
  std::vector<std::string> notes;
  std::string base_commit;
};

// What a calibration of this very machine and stack says of the rules on times of the case.
void TakeCalibration(const Selection& selection, const StoredRun& stored, JudgedCase* judged) {
  CasePair& pair = judged->pair;
  pair.calibrations =
      CalibrationsOf(pair.declared, stored.run.machine, &pair.head, stored.calibrations);
  const std::vector<Resolution> rules = Resolve(selection.suite.rules, pair.calibrations);
  for (const Calibration& calibration : pair.calibrations) {
    std::string lost;
    bool asked = false;
    for (const Resolution& rule : rules) {
      if (rule.metric != calibration.metric) continue;
      asked = true;
      if (rule.why_not.empty()) continue;
      lost += fmt::format("; {} asks for {:g} %, which cannot be resolved here", rule.rule,
                          rule.tolerance * 100);
    }
    if (asked) judged->notes.push_back("calibrated: " + InWords(calibration) + lost);
  }
}

void TakePairs(const AgainstRecord& against, JudgedCase* judged) {
  CasePair& pair = judged->pair;
  pair.budget_ns = against.budget_ns;
  if (pair.head.base_side->Complete()) {
    pair.different_work = Compare(*pair.head.base_side, pair.head).different_shapes;
  }
  judged->notes = against.notes;
}

void CompareWithMeasured(const Evidence& base, JudgedCase* judged) {
  CasePair& pair = judged->pair;
  pair.key_differences = KeyDifferences(base.key, pair.head.key);
  pair.comparable = pair.key_differences.empty();
  pair.diff = Compare(base, pair.head);
  pair.base = base;
  judged->notes.emplace_back(
      "there is no baseline for this machine and stack: compared with the base measured in this "
      "run");
}

void TakeSession(const StoredRun& stored, const std::vector<StoredRun>& before, CasePair* pair) {
  const std::string& name = pair->declared.name;
  for (const PairRound& round : stored.run.rounds) {
    if (round.case_name == name) pair->rounds.push_back(round);
  }
  for (const Case& ran : stored.run.cases) {
    if (ran.name == name) pair->windows = ran.windows;
  }
  pair->quick = stored.run.quick;
  pair->run = stored.run.id;
  pair->commit = stored.run.commit;
  pair->past = SessionsOf(name, before);
}

// `not_judged`: why the run as a whole proves nothing; "" if it does.
JudgedCase Pair(const Case& declared, const StoredRun& stored, const std::vector<StoredRun>& before,
                const Selection& selection, const std::string& not_judged) {
  JudgedCase judged;
  judged.pair.declared = declared;
  judged.pair.head = EvidenceFor(declared, selection, stored);
  TakeSession(stored, before, &judged.pair);
  if (!not_judged.empty()) {
    auto& reasons = judged.pair.head.incomplete_because;
    reasons.insert(reasons.begin(), "the run was " + not_judged);
  }
  // Evidence that proves nothing has no key to look with.
  if (!judged.pair.head.Complete()) return judged;
  if (stored.run.against && judged.pair.head.base_side) {
    TakePairs(*stored.run.against, &judged);
    TakeCalibration(selection, stored, &judged);
  }
  BaselineLookup lookup = FindBaseline(selection.baselines, judged.pair.head, declared.was);
  // What was reviewed counts; where nothing was, the base that this run has measured.
  if (lookup.state != BaselineState::kFound && judged.pair.head.base_side &&
      judged.pair.head.base_side->Complete()) {
    CompareWithMeasured(*judged.pair.head.base_side, &judged);
    return judged;
  }
  judged.notes.insert(judged.notes.end(), lookup.notes.begin(), lookup.notes.end());
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
  const std::string first = Shorten(distinct.front(), kLongestLabel);
  if (distinct.size() == 1) return first;
  return fmt::format("{} and {} more", first, distinct.size() - 1);
}

void FillCoverage(const Suite& suite, const RunRecord& run, Verdict* verdict) {
  verdict->declared_cases =
      static_cast<int>(std::count_if(suite.cases.begin(), suite.cases.end(),
                                     [](const Case& item) { return !item.reference_only; }));
  verdict->quick = run.quick;
}

// A trace tells the device, and so do samples that name a GPU. A case that an interrupt kept from
// running left neither.
bool KnowsItsDevice(const Evidence& evidence) {
  return !Field(evidence, "gpu").empty() ||
         std::any_of(evidence.attempts.begin(), evidence.attempts.end(),
                     [](const AttemptSummary& attempt) { return !attempt.trace_files.empty(); });
}

void FillHeadings(const Selection& selection, const StoredRun& stored,
                  const std::vector<JudgedCase>& judged, Verdict* verdict) {
  std::vector<std::string> devices, stacks, commits;
  for (const JudgedCase& each : judged) {
    const Evidence& head = each.pair.head;
    const auto item = std::find_if(
        verdict->cases.begin(), verdict->cases.end(),
        [&](const CaseVerdict& verdict_of) { return verdict_of.case_name == head.case_name; });
    if (item == verdict->cases.end()) continue;  // a reference, which is not judged
    item->notes.insert(item->notes.end(), each.notes.begin(), each.notes.end());
    for (const AttemptSummary& attempt : head.attempts) {
      item->attempts.push_back(attempt.attempt.dir.generic_string());
    }
    if (KnowsItsDevice(head)) devices.push_back(head.device_name);
    stacks.push_back(StackOf(head));
    commits.push_back(each.base_commit);
  }
  verdict->suite = selection.suite.name;
  verdict->suite_file = selection.suite.file.lexically_normal().generic_string();
  verdict->device = OneLabel(devices);
  verdict->stack = OneLabel(stacks);
  verdict->base_label = OneLabel(commits);
  verdict->head_label = ShortCommit(stored.run.commit, stored.run.dirty);
  if (const auto& against = stored.run.against) {
    const std::string commit = ShortCommit(against->commit, against->dirty);
    verdict->measured_base = commit.empty() ? against->checkout.generic_string() : commit;
  }
  verdict->run_id = stored.run.id;
}

// The commands that findings offer are to be typed where this one was.
void CompleteCommands(const std::string& flags, Verdict* verdict) {
  constexpr std::string_view kAccept = "perfgate baseline accept";
  for (CaseVerdict& item : verdict->cases) {
    for (Finding& finding : item.findings) {
      if (finding.next.starts_with(kAccept)) finding.next.insert(kAccept.size(), flags);
    }
  }
}

// "interrupted by SIGINT", "not finished"; "" for a run that may be judged.
std::string WhyNotJudged(const RunRecord& run) {
  if (run.interrupted_by == 2) return "interrupted by SIGINT";
  if (run.interrupted_by == 15) return "interrupted by SIGTERM";
  if (run.interrupted_by != 0) return fmt::format("interrupted by signal {}", run.interrupted_by);
  return run.finished ? "" : "not finished";
}

const Case* NamedCase(const std::vector<Case>& cases, const std::string& name) {
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const Case& item) { return item.name == name; });
  return found == cases.end() ? nullptr : &*found;
}

// What the outputs were compared with and what they are to be compared with now, if it is not the
// same; "" if it is. `compared_with`: the name of the former.
std::string ChangedReference(const Case& declared, const std::string& compared_with,
                             const std::vector<Case>& now, const std::vector<Case>& of_run) {
  const auto named = [](const std::string& name) {
    return name.empty() ? "none" : Printable(name);
  };
  if (compared_with != declared.reference) {
    return fmt::format("the reference of the case (now {}, then {})", named(declared.reference),
                       named(compared_with));
  }
  const Case *is = NamedCase(now, declared.reference), *was = NamedCase(of_run, declared.reference);
  if (is == nullptr || was == nullptr || is->digest == was->digest) return "";
  return fmt::format("the declaration of the reference {}", Printable(declared.reference));
}

// A baseline of this very machine and stack whose case is declared no more: coverage shrank.
CaseVerdict Undeclared(const Baseline& baseline, const Selection& selection) {
  CaseVerdict item;
  item.case_name = baseline.evidence.case_name;
  item.declared = false;
  item.status = selection.suite.no_baseline_warns ? Status::kWarn : Status::kMissing;
  item.device_kind = baseline.evidence.device_kind;
  item.device_name = baseline.evidence.device_name;
  for (const Rule& rule : selection.suite.rules) {
    Finding finding;
    finding.rule = rule.full_id;
    finding.case_name = item.case_name;
    finding.where = rule.where;
    finding.severity = rule.severity;
    finding.status = rule.severity == Severity::kOff ? Status::kSkipped : item.status;
    finding.message = rule.severity == Severity::kOff
                          ? "switched off"
                          : "it has a baseline, but is no longer declared: nothing watches it";
    finding.next = fmt::format("git rm {}  # or declare the case again, or name it under `was`",
                               baseline.file.string());
    item.findings.push_back(std::move(finding));
  }
  return item;
}

void AddUndeclared(const Selection& selection, const std::vector<JudgedCase>& judged,
                   Verdict* verdict) {
  std::set<std::string> declared;
  for (const Case& item : selection.suite.cases) {
    declared.insert(item.name);
    declared.insert(item.was.begin(), item.was.end());
  }
  for (const Baseline& baseline : ListBaselines(selection.baselines)) {
    const bool here = std::any_of(judged.begin(), judged.end(), [&](const JudgedCase& each) {
      return each.pair.head.Complete() &&
             SameSurroundings(baseline.evidence.key, each.pair.head.key);
    });
    if (!here || declared.contains(baseline.evidence.case_name)) continue;
    verdict->cases.push_back(Undeclared(baseline, selection));
  }
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

Evidence EvidenceFor(const Case& declared, const Selection& selection, const StoredRun& stored) {
  for (const Evidence& evidence : stored.cases) {
    if (evidence.case_name != declared.name) continue;
    Evidence head = evidence;
    const std::string definition = Field(head, "definition");
    std::string changed;
    if (!definition.empty() && !declared.digest.empty() && definition != declared.digest) {
      changed = "the declaration of the case";
    } else if (head.Complete()) {
      changed = ChangedReference(declared, head.reference, selection.cases, stored.run.cases);
    }
    if (!changed.empty()) {
      head.incomplete_because.push_back(
          fmt::format("{} has changed since run {}: run it again", changed, stored.run.id));
    }
    return head;
  }
  Evidence none;
  none.case_name = declared.name;
  none.incomplete_because.push_back(fmt::format("run {} did not measure it", stored.run.id));
  return none;
}

JudgedRun JudgeRun(const Selection& selection, const StoredRun& stored, World& world) {
  const std::string not_judged = WhyNotJudged(stored.run);
  const std::vector<StoredRun> before = RunsBefore(stored, selection);
  std::vector<JudgedCase> judged;
  std::vector<CasePair> pairs;
  for (const Case& declared : selection.cases) {
    judged.push_back(Pair(declared, stored, before, selection, not_judged));
    pairs.push_back(judged.back().pair);
  }
  const Policy policy{.today = world.UtcNow().substr(0, 10),
                      .no_baseline_warns = selection.suite.no_baseline_warns};
  Verdict verdict = Judge(selection.suite.rules, pairs, policy);
  FillHeadings(selection, stored, judged, &verdict);
  FillCoverage(selection.suite, stored.run, &verdict);
  CompleteCommands(selection.flags, &verdict);
  AddUndeclared(selection, judged, &verdict);
  if (!not_judged.empty()) {
    verdict.problems.push_back(
        fmt::format("run {} was {}: what ended is stored, but never judged or accepted. Run again",
                    stored.run.id, not_judged));
  }
  Settle(verdict);
  return {std::move(verdict), std::move(pairs)};
}

}  // namespace perfgate::cli
