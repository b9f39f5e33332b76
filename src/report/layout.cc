#include "report/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/text.h"
#include "base/units.h"
#include "report/counts.h"

namespace perfgate {
namespace {

// Bidirectional controls: U+200E, U+200F, U+202A..U+202E, U+2066..U+2069; all are E2 80/81 xx.
bool IsDirectionControl(std::string_view text, size_t at) {
  if (at + 2 >= text.size() || text[at] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const auto third = static_cast<unsigned char>(text[at + 2]);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

std::string InCases(int troubled, size_t all) {
  if (all <= 1) return "";
  return fmt::format(", in {} of {} cases", troubled, all);
}

std::string CaseCount(int some, size_t all) {
  if (all == 1) return "the case";
  return fmt::format("{} of {} cases", some, all);
}

std::string FailSentence(const Counts& counts, size_t cases) {
  return fmt::format("{} of {} failed{}", counts.failed_rules, Plural(counts.rules, "rule"),
                     InCases(counts.troubled_cases, cases));
}

void SayError(const Verdict& verdict, const Counts& counts, Headline* headline) {
  headline->word = "ERROR";
  headline->bad = true;
  const size_t cases = verdict.cases.size();
  headline->sentence = counts.unjudged_cases == 0 && !verdict.problems.empty()
                           ? "nothing can be said about this run"
                           : CaseCount(counts.unjudged_cases, cases) + " could not be judged";
  if (counts.failed_rules > 0) headline->sentence += "; " + FailSentence(counts, cases);
}

std::string_view NameOf(const std::set<Lack>& lacks) {
  if (lacks.size() > 1) return "nothing to compare with";
  switch (lacks.empty() ? Lack::kBaseline : *lacks.begin()) {
    case Lack::kBaseline:
      return "no comparable baseline";
    case Lack::kPairs:
      return "no pairs with a base";
    case Lack::kSameWork:
      return "no base of the same work";
    case Lack::kHistory:
      return "not enough history";
    case Lack::kSince:
      return "no stored run of a rule's 'since'";
  }
  return "";
}

void SayNotComparable(const Verdict& verdict, const Counts& counts, Headline* headline) {
  headline->bad = true;
  const bool missing_only = counts.not_comparable == 0 && !counts.lacks.contains(Lack::kPairs);
  headline->word = missing_only ? "NO BASELINE" : "NOT COMPARABLE";
  const std::string_view what = missing_only ? "no baseline" : NameOf(counts.lacks);
  const std::string cases =
      CaseCount(counts.without_baseline + counts.not_comparable, verdict.cases.size());
  headline->sentence = verdict.cases.size() > 1 ? fmt::format("{} for {}", what, cases)
                                                : fmt::format("{} has {}", cases, what);
}

void SayPass(const Verdict& verdict, const Counts& counts, Headline* headline) {
  if (counts.judged == 0) {
    const bool baseless = counts.without_baseline > 0;
    headline->word = baseless ? "NO BASELINE" : "NOTHING JUDGED";
    headline->sentence = fmt::format("nothing was judged in {}",
                                     Plural(static_cast<int64_t>(verdict.cases.size()), "case"));
    return;
  }
  // What was let through, or only said, did not pass.
  headline->good = counts.passed + counts.improved > 0;
  headline->word = headline->good ? "PASS" : counts.waived > 0 ? "WAIVED" : "WARNING";
  headline->sentence =
      fmt::format("{} in {}", RestOf(counts), Plural(verdict.cases.size(), "case"));
}

// " (1 of 2 declared cases, quick)"; "" where all was run as declared.
std::string CoverageOf(const Verdict& verdict) {
  const auto run = std::count_if(verdict.cases.begin(), verdict.cases.end(),
                                 [&](const CaseVerdict& item) { return item.declared; });
  std::vector<std::string> parts;
  if (run < verdict.declared_cases) {
    parts.push_back(fmt::format("{} of {} declared cases", run, verdict.declared_cases));
  }
  if (verdict.quick) parts.emplace_back("quick");
  return parts.empty() ? "" : fmt::format(" ({})", Join(parts, ", "));
}

// Of a suite, a device or a side: a verdict may come from anyone.
constexpr size_t kContextWidth = 120;

std::string ContextOf(const Verdict& verdict) {
  const auto named = [](const std::string& text) { return Shorten(Safe(text), kContextWidth); };
  std::vector<std::string> parts;
  if (!verdict.suite.empty()) parts.push_back("suite " + named(verdict.suite));
  if (!verdict.device.empty()) parts.push_back(named(verdict.device));
  if (!verdict.stack.empty()) parts.push_back(named(verdict.stack));
  std::string sides;
  if (!verdict.head_label.empty()) sides = "head " + named(verdict.head_label);
  if (!verdict.base_label.empty()) {
    if (!sides.empty()) sides += " ";
    sides += fmt::format("against {}{}", verdict.suite.empty() ? "" : "baseline of ",
                         named(verdict.base_label));
  }
  if (!verdict.measured_base.empty()) {
    sides += fmt::format("{} base {}", verdict.base_label.empty() ? " against" : " and",
                         named(verdict.measured_base));
  }
  if (!sides.empty()) parts.push_back(std::string(Trim(sides)));
  return Join(parts, " · ");
}

// Several rules of a case are accepted by one command: the --rule flags of `more` go into `step`.
// False if the two are not such commands of the same case.
bool MergeRules(std::string_view more, std::string* step) {
  constexpr std::string_view kAccept = "perfgate baseline accept", kRule = " --rule ",
                             kReason = " --reason ";
  const size_t begin = more.find(kRule), end = more.rfind(kReason);
  const size_t step_begin = step->find(kRule), step_end = step->rfind(kReason);
  if (!more.starts_with(kAccept) || begin == std::string::npos || end == std::string::npos ||
      end < begin || step_begin == std::string::npos || step_end == std::string::npos ||
      step->compare(0, step_begin, more.substr(0, begin)) != 0 ||
      step->compare(step_end, std::string::npos, more.substr(end)) != 0) {
    return false;
  }
  const std::string_view flags = more.substr(begin, end - begin);
  if (step->find(flags) == std::string::npos) step->insert(step_end, flags);
  return true;
}

std::string ShortId(const std::string& id) { return id.substr(id.rfind('/') + 1); }

}  // namespace

std::string Safe(std::string_view text) {
  const std::string printable = Printable(text);
  std::string safe;
  for (size_t i = 0; i < printable.size();) {
    if (IsDirectionControl(printable, i)) {
      i += 3;
    } else {
      safe += printable[i++];
    }
  }
  return safe;
}

std::string Wrap(std::string_view text, size_t width, size_t indent) {
  const size_t room = width > indent + 20 ? width - indent : 20;
  std::string wrapped, line;
  for (const std::string& word : Split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > room) {
      while (line.ends_with(' ')) line.pop_back();
      wrapped += line + "\n" + std::string(indent, ' ');
      line.clear();
    } else if (!line.empty()) {
      line += ' ';
    }
    line += word;
  }
  return wrapped + line;
}

std::string WithoutLogCommands(std::string_view text) {
  std::string safe;
  bool line_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (line_start && text.substr(i, 2) == "::") safe += "> ";
    safe += text[i];
    if (text.substr(i, 3) == "##[") safe += ' ';
    // Who reads logs for commands skips blanks first, those beyond ASCII too.
    const auto byte = static_cast<unsigned char>(text[i]);
    line_start = text[i] == '\n' || (line_start && (byte >= 0x80 || std::isspace(byte) != 0));
  }
  return safe;
}

Headline HeadlineOf(const Verdict& verdict) {
  Headline headline;
  const Counts counts = CountOf(verdict);
  headline.context = ContextOf(verdict);
  if (verdict.no_baseline_warns && counts.without_baseline > 0) {
    headline.banner = fmt::format(
        "NO BASELINE: {} {} compared with nothing. The suite says `no_baseline: warn`, so this "
        "does "
        "not fail. Accept a first baseline: perfgate baseline accept --reason 'first baseline'",
        CaseCount(counts.without_baseline, verdict.cases.size()),
        counts.without_baseline == 1 ? "was" : "were");
  }
  switch (verdict.result) {
    case Result::kPass:
      SayPass(verdict, counts, &headline);
      break;
    case Result::kFail:
      headline.word = "FAIL";
      headline.bad = true;
      headline.sentence = FailSentence(counts, verdict.cases.size());
      break;
    case Result::kError:
      SayError(verdict, counts, &headline);
      break;
    case Result::kNotComparable:
      SayNotComparable(verdict, counts, &headline);
      break;
    case Result::kInconclusive:
      headline.word = "INCONCLUSIVE";
      headline.sentence = "the measurements decide neither way";
      break;
  }
  headline.sentence += CoverageOf(verdict);
  return headline;
}

bool SaysLack(Status status) {
  return status == Status::kMissing || status == Status::kNotComparable;
}

bool IsTrouble(Status status) { return Weight(status) > Weight(Status::kWarn); }

std::string_view Words(Status status) {
  switch (status) {
    case Status::kPass:
      return "passed";
    case Status::kImproved:
      return "improved";
    case Status::kWarn:
      return "warning";
    case Status::kFail:
      return "failed";
    case Status::kInconclusive:
      return "inconclusive";
    case Status::kError:
      return "could not be judged";
    case Status::kMissing:
      return "no baseline";
    case Status::kNotComparable:
      return "not comparable";
    case Status::kSuspicious:
      return "suspicious";
    case Status::kSkipped:
      return "skipped";
    case Status::kWaived:
      return "waived";
  }
  return "";
}

std::string_view Words(const Finding& finding) {
  const bool pairs = finding.status == Status::kMissing && finding.lacks == Lack::kPairs;
  return pairs ? "no pairs" : Words(finding.status);
}

std::string_view Words(const CaseVerdict& item) {
  const auto worst =
      std::find_if(item.findings.begin(), item.findings.end(),
                   [&](const Finding& finding) { return finding.status == item.status; });
  return worst == item.findings.end() ? Words(item.status) : Words(*worst);
}

std::vector<const CaseVerdict*> CasesInOrder(const Verdict& verdict) {
  std::vector<const CaseVerdict*> cases;
  for (const CaseVerdict& item : verdict.cases) cases.push_back(&item);
  const auto rank = [](const CaseVerdict* item) {
    return item->incomplete_because.empty() ? -Weight(item->status) : -Weight(Status::kError) - 1;
  };
  std::stable_sort(cases.begin(), cases.end(),
                   [&](const CaseVerdict* a, const CaseVerdict* b) { return rank(a) < rank(b); });
  return cases;
}

std::vector<const Finding*> FindingsInOrder(const CaseVerdict& verdict,
                                            const std::function<bool(const Finding&)>& wanted) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : verdict.findings) {
    if (wanted(finding)) findings.push_back(&finding);
  }
  // What happened to kernels tells more than a number that rose because of it.
  const auto key = [](const Finding* finding) {
    return std::pair(-Weight(finding->status), finding->metric.has_value());
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding* a, const Finding* b) { return key(a) < key(b); });
  return findings;
}

RuleNames::RuleNames(const Verdict& verdict) {
  for (const CaseVerdict& item : verdict.cases) {
    for (const Finding& finding : item.findings) {
      const std::string short_id = ShortId(finding.rule);
      const auto [known, first] = rules_.try_emplace(short_id, finding.rule);
      if (!first && known->second != finding.rule) ambiguous_.insert(short_id);
    }
  }
}

std::string RuleNames::Of(const Finding& finding) const {
  const std::string short_id = ShortId(finding.rule);
  return Safe(ambiguous_.contains(short_id) ? finding.rule : short_id);
}

std::vector<std::string> NextSteps(const std::vector<const Finding*>& findings) {
  std::vector<std::string> steps;
  for (const Finding* finding : findings) {
    if (finding->next.empty()) continue;
    const auto same = std::find_if(steps.begin(), steps.end(), [&](std::string& step) {
      return step == finding->next || MergeRules(finding->next, &step);
    });
    if (same == steps.end()) steps.push_back(finding->next);
  }
  return steps;
}

bool AcceptsFailure(std::string_view step) {
  return step.starts_with("perfgate baseline accept") &&
         step.find(" --rule ") != std::string_view::npos;
}

std::string CountAndTime(const ChangedKernel& kernel) {
  return fmt::format("{} x {:>8}", kernel.count,
                     FormatValue(static_cast<double>(kernel.time_ns), Unit::kNanoseconds));
}

std::string SignedTime(int64_t ns) {
  const std::string time = FormatValue(std::abs(static_cast<double>(ns)), Unit::kNanoseconds);
  return (ns < 0 ? "-" : "+") + time;
}

std::string TimeBalance(const Diff& diff) {
  const bool changed =
      std::any_of(diff.changes.begin(), diff.changes.end(),
                  [](const auto& change) { return change.count != 0 || change.time_ns != 0; });
  if (!changed) return "";
  return fmt::format(
      "{} a step: the changes {}, kernels without a change {}", SignedTime(diff.kernel_time_ns),
      SignedTime(diff.kernel_time_ns - diff.unchanged_time_ns), SignedTime(diff.unchanged_time_ns));
}

std::string CopyTimeBalance(const Diff& diff) {
  const TransferDelta changed = diff.transfers - diff.unchanged_transfers;
  if (changed == TransferDelta{}) return "";
  return fmt::format("{} a step: the changes {}, copies and fills without a change {}",
                     SignedTime(diff.transfers.time_ns), SignedTime(changed.time_ns),
                     SignedTime(diff.unchanged_transfers.time_ns));
}

std::string DriftLine(const Drift& drift, size_t name_width) {
  std::string line =
      fmt::format("{:<{}}  {} -> {}", Shorten(Safe(drift.head.short_name), name_width), name_width,
                  CountAndTime(drift.base),
                  FormatValue(static_cast<double>(drift.head.time_ns), Unit::kNanoseconds));
  const std::string_view op = Innermost(drift.head.op_path);
  if (!op.empty()) line += "   " + Shorten(Safe(op), 60);
  return line;
}

std::vector<std::pair<std::string, int>> NotesOf(const Verdict& verdict) {
  std::vector<std::pair<std::string, int>> notes;
  std::unordered_map<std::string_view, size_t> index;
  for (const CaseVerdict& item : verdict.cases) {
    if (IsTrouble(item.status) || !item.incomplete_because.empty()) continue;
    for (const std::string& note : item.notes) {
      const auto [known, first] = index.try_emplace(note, notes.size());
      if (first) notes.emplace_back(note, 0);
      ++notes[known->second].second;
    }
  }
  return notes;
}

}  // namespace perfgate
