#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "judge/case_facts.h"
#include "judge/checks.h"
#include "judge/next_step.h"
#include "judge/status.h"
#include "judge/time_family.h"
#include "judge/waiver.h"

namespace perfgate {
namespace {

// A rule on kernels, or on metrics that a case which counts instructions cannot have.
bool NeedsMoreThanCounts(const Rule& rule, const Evidence& evidence) {
  return std::all_of(rule.metrics.begin(), rule.metrics.end(), [&](MetricId id) {
    const auto unavailable = evidence.unavailable.find(id);
    return unavailable != evidence.unavailable.end() && unavailable->second == kInstructionsOnly;
  });
}

std::vector<Finding> RunCheck(const Rule& rule, const CaseFacts& facts, const Finding& blank) {
  if (std::holds_alternative<KernelsCheck>(rule.check)) return {CheckKernels(rule, facts, blank)};
  if (std::holds_alternative<FusionCheck>(rule.check)) return {CheckFusion(rule, facts, blank)};
  if (std::holds_alternative<ChangesCheck>(rule.check)) return {CheckChanges(rule, facts, blank)};
  return CheckMetrics(rule, facts, blank);
}

// A rule that only warns never fails the gate, but what could not be measured stays an error.
void ApplySeverity(const Policy& policy, Finding& finding) {
  const bool mild = finding.severity == Severity::kWarn;
  switch (finding.status) {
    case Status::kFail:
    case Status::kInconclusive:
    case Status::kNotComparable:
      if (mild) finding.status = Status::kWarn;
      break;
    case Status::kMissing:
      if (mild || policy.no_baseline_warns) finding.status = Status::kWarn;
      break;
    default:
      break;
  }
}

std::vector<Finding> JudgeRule(const Rule& rule, const CaseFacts& facts) {
  Finding blank;
  blank.rule = rule.full_id;
  blank.case_name = facts.pair().declared.name;
  blank.where = rule.where;
  blank.severity = rule.severity;
  blank.why = rule.why;
  if (rule.metrics.size() == 1) blank.metric = rule.metrics.front();
  const std::string unconcerned = NotForThisCase(rule, facts.pair());
  if (!unconcerned.empty()) return {With(blank, Status::kSkipped, unconcerned)};
  const Evidence& head = facts.pair().head;
  if (!head.Complete()) {
    return {With(blank, Status::kError,
                 "not judged, the evidence is incomplete: " + head.incomplete_because.front())};
  }
  std::vector<Finding> findings = RunCheck(rule, facts, blank);
  for (Finding& finding : findings) {
    ApplyWaiver(rule, facts.policy(), finding);
    ApplySeverity(facts.policy(), finding);
  }
  return findings;
}

void AddNote(std::string note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

void NoteDoubtfulLimits(const Rule& rule, std::vector<std::string>& notes) {
  if (!std::holds_alternative<LimitCheck>(rule.check)) return;
  for (const MetricId id : rule.metrics) {
    if (id == MetricId::kKernels) {
      AddNote(fmt::format("{} limits the number of kernels: counts differ between GPUs of other SM "
                          "counts; 'change' compares with the baseline of the same GPU",
                          rule.full_id),
              notes);
    } else if (Info(id).exactness == Exactness::kNoisy) {
      AddNote(fmt::format("{} limits {}, which is noisy: keep the limit far from the usual values",
                          rule.full_id, Info(id).name),
              notes);
    }
  }
}

// A rule bounds the error of the reference, of which one process alone was measured: it is compared
// with nothing.
bool IsReferenceAlone(std::span<const Rule> rules, const CasePair& pair) {
  const auto& unavailable = pair.head.unavailable;
  const auto reason = unavailable.find(MetricId::kRelativeError);
  if (reason == unavailable.end() || reason->second != kReferenceAlone) return false;
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return std::any_of(rule.metrics.begin(), rule.metrics.end(), IsOutputError) &&
           NotForThisCase(rule, pair).empty();
  });
}

// `pairs` are those of the verdict's cases.
using Pairs = std::vector<const CasePair*>;

// Some other case was judged by its error against this one.
bool JudgesAnother(const std::string& name, const Pairs& pairs, const Verdict& verdict) {
  const auto judged = [](const Finding& finding) {
    return finding.status != Status::kSkipped && finding.metric && IsOutputError(*finding.metric);
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& findings = verdict.cases[i].findings;
    const bool other = pairs[i]->declared.reference == name && pairs[i]->declared.name != name;
    if (other && std::any_of(findings.begin(), findings.end(), judged)) return true;
  }
  return false;
}

// Green beside other cases, a case that every rule skipped would pass for judged.
Finding Unjudged(const std::string& case_name, const std::vector<Finding>& skipped,
                 const std::string& next) {
  std::vector<std::string> reasons;
  for (const Finding& finding : skipped) AddNote(finding.message, reasons);
  constexpr size_t kShown = 3;
  std::string why =
      Join({reasons.begin(), reasons.begin() + std::min(kShown, reasons.size())}, "; ");
  if (reasons.size() > kShown) why += fmt::format("; and {} more reasons", reasons.size() - kShown);
  Finding finding;
  finding.rule = "perfgate:unjudged-case";
  finding.case_name = case_name;
  finding.why = "A case that nothing judges is not watched, however green the others are.";
  return With(std::move(finding), Status::kError,
              fmt::format("no rule judged this case: every rule was skipped ({})", why), next);
}

bool IsJudged(const CaseVerdict& verdict) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [](const Finding& finding) { return finding.status != Status::kSkipped; });
}

// A case that every rule skipped is an error, unless it was measured to judge others.
void CheckJudged(std::span<const Rule> rules, const Pairs& pairs, size_t index, Verdict& verdict) {
  CaseVerdict& item = verdict.cases[index];
  if (IsJudged(item) || rules.empty() || !pairs[index]->head.Complete()) return;
  const bool alone = IsReferenceAlone(rules, *pairs[index]);
  if (alone && JudgesAnother(item.case_name, pairs, verdict)) {
    AddNote("no rule judged this case: it is the reference that others were compared with",
            item.notes);
    return;
  }
  item.findings.push_back(
      Unjudged(item.case_name, item.findings,
               alone ? "run it with the cases that are compared with it, or trace it in two "
                       "processes ('traced: {processes: 2}')"
                     : "name a rule that is for this case, or take the case out of the suite"));
  item.status = item.findings.back().status;
}

// What is said of the base's times in pairs stands where that of head does.
std::vector<std::string> NotesOf(const Evidence& head) {
  std::vector<std::string> notes = head.notes;
  for (const std::string& note : head.notes_on_times) AddNote(note, notes);
  if (!head.base_side) return notes;
  for (const std::string& note : head.base_side->notes_on_times) AddNote("base: " + note, notes);
  return notes;
}

CaseVerdict JudgeCase(std::span<const Rule> rules, const CasePair& pair, const Policy& policy,
                      const TimeFamily& family) {
  const CaseFacts facts(pair, policy, family);
  CaseVerdict verdict;
  verdict.case_name = pair.declared.name;
  verdict.key_differences = pair.key_differences;
  verdict.notes = NotesOf(pair.head);
  verdict.incomplete_because = pair.head.incomplete_because;
  verdict.diff = pair.diff;
  verdict.device_kind = pair.head.device_kind;
  verdict.device_name = pair.head.device_name;
  verdict.plant = pair.head.plant;
  verdict.fallback = pair.head.fallback;
  for (const Rule& rule : rules) {
    for (Finding& finding : JudgeRule(rule, facts)) {
      if (finding.status != Status::kSkipped) NoteDoubtfulLimits(rule, verdict.notes);
      verdict.findings.push_back(std::move(finding));
    }
  }
  NoteUnjudgedOutputs(rules, pair, verdict.notes);
  if (auto vanished = CheckVanished(facts)) {
    if (policy.bare_diff) {
      AddNote(vanished->message, verdict.notes);
    } else {
      verdict.findings.push_back(*std::move(vanished));
    }
  }
  verdict.status = pair.head.Complete() ? Status::kSkipped : Status::kError;
  for (const Finding& finding : verdict.findings) {
    if (Weight(finding.status) > Weight(verdict.status)) verdict.status = finding.status;
  }
  return verdict;
}

// What must not be taken for a pass although no finding says so.
std::vector<std::string> Problems(std::span<const Rule> rules, const Verdict& verdict) {
  std::vector<std::string> problems;
  if (verdict.cases.empty()) problems.push_back("no case was judged; check --case and the suite");
  if (rules.empty()) {
    problems.push_back(
        "there are no rules, so nothing was judged; name packs or files under 'rules', "
        "for example perfgate:structure");
  }
  return problems;
}

}  // namespace

std::string NotForThisCase(const Rule& rule, const CasePair& pair) {
  if (rule.severity == Severity::kOff) return "switched off";
  if (!MatchesGlob(rule.cases, pair.declared.name)) {
    return fmt::format("for other cases ({})", rule.cases);
  }
  // What never ran has no device; and what ran on half of the way may have been for another.
  if (!pair.head.Complete()) return "";
  if (pair.declared.profiler == Profiler::kInstructions && NeedsMoreThanCounts(rule, pair.head)) {
    return std::string(kInstructionsOnly);
  }
  if (!IsForDevice(rule, pair.head.device_kind)) {
    return fmt::format("for {} only; this case ran on {}", ToString(rule.device),
                       pair.head.device_kind);
  }
  return "";
}

void Settle(Verdict& verdict) {
  verdict.exit_code = verdict.problems.empty() ? 0 : 3;
  bool only_inconclusive = true;
  const auto add = [&](Status status) {
    verdict.exit_code = WorseExit(verdict.exit_code, ExitCode(status));
    const bool baseless = status == Status::kMissing || status == Status::kNotComparable;
    only_inconclusive = only_inconclusive && !baseless;
  };
  for (const CaseVerdict& item : verdict.cases) {
    for (const Finding& finding : item.findings) add(finding.status);
    add(item.status);
  }
  verdict.result = ResultOf(verdict.exit_code, only_inconclusive);
}

Verdict Judge(std::span<const Rule> rules, std::span<const CasePair> cases, const Policy& policy) {
  Verdict verdict;
  verdict.no_baseline_warns = policy.no_baseline_warns;
  verdict.rules = static_cast<int>(rules.size());
  const TimeFamily family(rules, cases);
  Pairs pairs;
  for (const CasePair& pair : cases) {
    if (pair.declared.reference_only) continue;
    pairs.push_back(&pair);
    verdict.cases.push_back(JudgeCase(rules, pair, policy, family));
  }
  for (size_t i = 0; i < pairs.size(); ++i) CheckJudged(rules, pairs, i, verdict);
  verdict.problems = Problems(rules, verdict);
  Settle(verdict);
  return verdict;
}

}  // namespace perfgate
