#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "judge/case_facts.h"
#include "judge/checks.h"
#include "judge/next_step.h"
#include "judge/status.h"
#include "judge/waiver.h"

namespace perfgate {
namespace {

bool OtherDevice(DeviceFilter filter, const std::string& kind) {
  return (filter == DeviceFilter::kCpu && kind == "cuda") ||
         (filter == DeviceFilter::kCuda && kind == "cpu");
}

// Why the rule says nothing about the case at all; "" if it does.
std::string NotForThisCase(const Rule& rule, const CasePair& pair) {
  if (rule.severity == Severity::kOff) return "switched off";
  if (!MatchesGlob(rule.cases, pair.declared.name)) {
    return fmt::format("for other cases ({})", rule.cases);
  }
  if (OtherDevice(rule.device, pair.head.device_kind)) {
    return fmt::format("for {} only; this case ran on {}", ToString(rule.device),
                       pair.head.device_kind);
  }
  return "";
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

CaseVerdict JudgeCase(std::span<const Rule> rules, const CasePair& pair, const Policy& policy) {
  const CaseFacts facts(pair, policy);
  CaseVerdict verdict;
  verdict.case_name = pair.declared.name;
  verdict.key_differences = pair.key_differences;
  verdict.notes = pair.head.notes;
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
  if (verdict.status == Status::kSkipped) AddNote("no rule judged this case", verdict.notes);
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
  const bool all_skipped =
      !rules.empty() && !verdict.cases.empty() &&
      std::all_of(verdict.cases.begin(), verdict.cases.end(),
                  [](const CaseVerdict& each) { return each.status == Status::kSkipped; });
  if (all_skipped) problems.push_back("every rule was skipped, so nothing was judged");
  return problems;
}

}  // namespace

Verdict Judge(std::span<const Rule> rules, std::span<const CasePair> cases, const Policy& policy) {
  Verdict verdict;
  verdict.no_baseline_warns = policy.no_baseline_warns;
  verdict.rules = static_cast<int>(rules.size());
  bool only_inconclusive = true;
  for (const CasePair& pair : cases) {
    if (pair.declared.reference_only) continue;
    verdict.cases.push_back(JudgeCase(rules, pair, policy));
    for (const Finding& finding : verdict.cases.back().findings) {
      verdict.exit_code = WorseExit(verdict.exit_code, ExitCode(finding.status));
      const bool baseless =
          finding.status == Status::kMissing || finding.status == Status::kNotComparable;
      only_inconclusive = only_inconclusive && !baseless;
    }
    verdict.exit_code = WorseExit(verdict.exit_code, ExitCode(verdict.cases.back().status));
  }
  verdict.problems = Problems(rules, verdict);
  if (!verdict.problems.empty()) verdict.exit_code = WorseExit(verdict.exit_code, 3);
  verdict.result = ResultOf(verdict.exit_code, only_inconclusive);
  return verdict;
}

}  // namespace perfgate
