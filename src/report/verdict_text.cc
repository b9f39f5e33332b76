// The verdict for a terminal or a log.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/counts.h"
#include "report/diff_text.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/review_words.h"

namespace perfgate {
namespace {

constexpr size_t kMostInformativeChanges = 12;
constexpr size_t kMostNotes = 12;

// "needs a trace taken with profile_memory" of "allocations is unavailable: needs ... (optional)":
// rules on several metrics miss the same thing.
std::string WithoutMetric(std::string_view message) {
  constexpr std::string_view kBefore = " is unavailable: ", kAfter = " (optional)";
  const size_t at = message.find(kBefore);
  if (at != std::string_view::npos) message.remove_prefix(at + kBefore.size());
  if (message.ends_with(kAfter)) message.remove_suffix(kAfter.size());
  return std::string(message);
}

class Writer {
 public:
  Writer(const Verdict& verdict, const TextStyle& style)
      : verdict_(verdict),
        rule_names_(verdict),
        style_(style),
        width_(static_cast<size_t>(std::max(style.width, 40))) {}

  std::string Write() {
    WriteHeadline();
    if (verdict_.review && HasNews(*verdict_.review)) {
      out_ += "\n" + ReviewAsText(*verdict_.review, style_);
    }
    for (const CaseVerdict* item : CasesInOrder(verdict_)) {
      if (IsTrouble(item->status) || !item->incomplete_because.empty()) WriteTroubled(*item);
    }
    WriteOthers();
    WriteWarnings();
    WriteBareDiff();
    WriteRest();
    return WithoutLogCommands(out_);
  }

 private:
  void WriteHeadline() {
    const Headline headline = HeadlineOf(verdict_);
    if (!headline.banner.empty()) {
      out_ += Paint(Wrap(headline.banner, width_, 0), Ink::kYellow, style_) + "\n\n";
    }
    const Ink ink = headline.good ? Ink::kGreen : headline.bad ? Ink::kRed : Ink::kYellow;
    out_ += Paint(headline.word, ink, style_) + "  " + headline.sentence;
    const size_t used = headline.word.size() + 2 + headline.sentence.size();
    const bool fits = used + 6 + headline.context.size() <= width_;
    if (!headline.context.empty()) out_ += (fits ? "      " : "\n      ") + headline.context;
    out_ += "\n";
    for (const std::string& problem : verdict_.problems) {
      out_ += "\n" + Paint("problem", Ink::kRed, style_) + "  ";
      std::string separator;
      for (const std::string& line : Split(problem, '\n')) {
        out_ += separator + Wrap(Safe(line), width_, 9);
        separator = "\n         ";
      }
      out_ += "\n";
    }
  }

  void WriteCaseName(const CaseVerdict& item) {
    out_ += "\n" + Paint(Safe(item.case_name), Ink::kBold, style_) + "\n";
  }

  void Line(std::string_view label, std::string_view text, Ink ink) {
    out_ += "  " + Paint(fmt::format("{:<14}", label), ink, style_) + "  " +
            Wrap(Safe(text), width_, 18) + "\n";
  }

  // What must be seen whatever the verdict: planted defects, fallbacks, other keys.
  void WriteCircumstances(const CaseVerdict& item) {
    for (const std::string& reason : item.incomplete_because) {
      Line("incomplete", reason, Ink::kRed);
    }
    if (!item.plant.empty()) Line("planted defect", item.plant, Ink::kYellow);
    for (const Fallback& fallback : item.fallback) {
      Line("fallback", fallback.what + ": " + fallback.why, Ink::kYellow);
    }
    if (!item.key_differences.empty()) {
      Line("other key", Join(item.key_differences, "; ") + "  (baseline / head)", Ink::kYellow);
    }
  }

  void WriteTroubled(const CaseVerdict& item) {
    WriteCaseName(item);
    WriteCircumstances(item);
    const std::vector<const Finding*> findings = FindingsInOrder(item, [&](const Finding& finding) {
      // What is incomplete is said above, once, and not again for each rule.
      const bool said = !item.incomplete_because.empty() && finding.status == Status::kError;
      return IsTrouble(finding.status) && (!said || style_.all_passes);
    });
    WriteFindings(item, findings, &shown_[&item]);
    WriteOtherChanges(item, &shown_[&item]);
    WriteAnswers(item);
    WriteNotes(item);
    WriteNext(findings);
  }

  void WriteNotes(const CaseVerdict& item) {
    for (const std::string& note : item.notes) Line("note", note, Ink::kDim);
  }

  // Commands are never broken over lines, so that they can be copied.
  void WriteNext(const std::vector<const Finding*>& findings) {
    for (const std::string& step : NextSteps(findings)) {
      const std::string_view label = AcceptsFailure(step) ? "if meant" : "next    ";
      out_ += "  " + Paint(label, Ink::kBold, style_) + "  " + Safe(step) + "\n";
    }
  }

  // Findings that say the same (a missing baseline says it once a rule) stand together.
  void WriteFindings(const CaseVerdict& item, const std::vector<const Finding*>& findings,
                     std::set<int>* shown) {
    std::vector<const Finding*> left = findings;
    while (!left.empty()) {
      const Finding& first = *left.front();
      std::vector<std::string> rules, whys;
      std::vector<const Finding*> rest;
      for (const Finding* finding : left) {
        const bool same = finding->status == first.status && finding->message == first.message;
        if (!same) {
          rest.push_back(finding);
          continue;
        }
        // A rule on two metrics is one rule.
        const std::string rule = rule_names_.Of(*finding);
        if (std::find(rules.begin(), rules.end(), rule) != rules.end()) continue;
        rules.push_back(rule);
        if (!finding->why.empty()) whys.push_back(finding->why);
      }
      left = rest;
      WriteFinding(item, first, rules, whys, shown);
    }
  }

  void WriteFinding(const CaseVerdict& item, const Finding& finding,
                    const std::vector<std::string>& rules, const std::vector<std::string>& whys,
                    std::set<int>* shown) {
    const Ink ink = IsTrouble(finding.status) ? Ink::kRed : Ink::kYellow;
    const bool one = rules.size() == 1;
    const std::string name = one ? rules.front() : Plural(rules.size(), "rule");
    out_ += "  " + Paint(fmt::format("{:<18}", name), ink, style_) + " ";
    if (finding.status != Status::kFail && finding.status != Status::kWarn) {
      out_ += std::string(Words(finding)) + ": ";
    }
    out_ += Wrap(Safe(finding.message), width_, 21) + "\n";
    // Without a baseline it is every rule that compares: which ones is no news.
    const bool no_news = finding.status == Status::kMissing ||
                         finding.status == Status::kNotComparable ||
                         (finding.status == Status::kWarn && !item.diff);
    if (!one && (!no_news || style_.all_passes)) {
      out_ += "      rules " + Wrap(Join(rules, ", "), width_, 12) + "\n";
    }
    WriteChanges(item, finding, shown);
    WriteSlower(item, finding);
    // A gain needs no reason.
    const bool explain = one && !whys.empty() && finding.status != Status::kImproved;
    if (explain) out_ += "      why   " + Wrap(Safe(whys.front()), width_, 12) + "\n";
  }

  // A change that several rules point at is shown under the first of them.
  void WriteChanges(const CaseVerdict& item, const Finding& finding, std::set<int>* shown) {
    if (!item.diff) return;
    int again = 0;
    for (const int index : finding.changes) {
      if (index < 0 || index >= static_cast<int>(item.diff->changes.size())) continue;
      if (!shown->insert(index).second) {
        ++again;
        continue;
      }
      const Change& change = item.diff->changes[index];
      if (finding.changes.size() > 1 || finding.message.find(change.text) == std::string::npos) {
        out_ += "      " + Wrap(Safe(change.text), width_, 6) + "\n";
      }
      out_ += ChangeLines(change, 6, style_);
    }
    if (again > 0) {
      out_ += fmt::format("      same {} as above\n", again == 1 ? "change" : "changes");
    }
  }

  void WriteSlower(const CaseVerdict& item, const Finding& finding) {
    if (!item.diff || finding.slower.empty()) return;
    out_ += "      slower, the same kernel:\n";
    for (const int index : finding.slower) {
      if (index < 0 || index >= static_cast<int>(item.diff->slower.size())) continue;
      out_ +=
          "      " +
          Paint("~ " + DriftLine(item.diff->slower[index], kTextNameWidth), Ink::kYellow, style_) +
          "\n";
    }
  }

  void WriteOtherChanges(const CaseVerdict& item, std::set<int>* shown) {
    if (!item.diff) return;
    size_t left = 0;
    for (size_t i = 0; i < item.diff->changes.size(); ++i) {
      if (!shown->insert(static_cast<int>(i)).second) continue;
      if (left++ == 0) {
        out_ += item.status == Status::kNotComparable ? "  for information, the changes:\n"
                                                      : "  also changed, without a failing rule:\n";
      }
      if (left > kMostInformativeChanges) continue;
      const Change& change = item.diff->changes[i];
      out_ += "      " + Wrap(Safe(change.text), width_, 6) + "\n" + ChangeLines(change, 6, style_);
    }
    if (left > kMostInformativeChanges) {
      out_ += fmt::format("      and {} more: see --format json\n", left - kMostInformativeChanges);
    }
  }

  void WriteAnswers(const CaseVerdict& item) {
    if (item.diff) out_ += "\n" + AnswerLines(*item.diff, width_);
  }

  // Cases that are well, but with something that must be seen.
  void WriteOthers() {
    for (const CaseVerdict* item : CasesInOrder(verdict_)) {
      if (IsTrouble(item->status) || !item->incomplete_because.empty()) continue;
      if (item->plant.empty() && item->fallback.empty() && item->key_differences.empty()) continue;
      WriteCaseName(*item);
      WriteCircumstances(*item);
    }
  }

  void WriteWarnings() {
    for (const CaseVerdict* item : CasesInOrder(verdict_)) {
      std::set<std::string> said;  // a missing baseline, above
      for (const Finding& finding : item->findings) {
        if (IsTrouble(finding.status)) said.insert(finding.message);
      }
      const auto lesser = FindingsInOrder(*item, [&said](const Finding& finding) {
        if (said.contains(finding.message)) return false;
        return finding.status == Status::kWarn || finding.status == Status::kWaived ||
               finding.status == Status::kImproved;
      });
      if (lesser.empty()) continue;
      WriteCaseName(*item);
      WriteFindings(*item, lesser, &shown_[item]);
      // Of a case that fails, the steps above come first: an improvement cannot be kept alone.
      if (!IsTrouble(item->status)) WriteNext(lesser);
    }
  }

  // Who compares two traces at a desk wants to see what changed, also where no rule failed.
  void WriteBareDiff() {
    if (!verdict_.suite.empty()) return;
    for (const CaseVerdict& item : verdict_.cases) {
      if (IsTrouble(item.status) || !item.diff) continue;
      if (shown_[&item].empty()) WriteCaseName(item);
      WriteOtherChanges(item, &shown_[&item]);
      WriteAnswers(item);
    }
  }

  void WriteRest() {
    const Counts counts = CountOf(verdict_);
    const std::string rest = RestOf(counts);
    const bool said = verdict_.result == Result::kPass;
    if (!rest.empty() && !said) out_ += "\n" + rest + "\n";
    WriteOtherNotes();
    WriteNeverJudged();
    if (!style_.all_passes) return;
    for (const CaseVerdict& item : verdict_.cases) {
      const auto passes = FindingsInOrder(
          item, [](const Finding& finding) { return finding.status == Status::kPass; });
      if (passes.empty()) continue;
      WriteCaseName(item);
      for (const Finding* finding : passes) {
        Line("passed", rule_names_.Of(*finding) + ": " + finding->message, Ink::kGreen);
      }
    }
  }

  // Of cases that are well, once for all: what was measured otherwise than it was asked for.
  void WriteOtherNotes() {
    const auto notes = NotesOf(verdict_);
    if (!notes.empty()) out_ += "\n";
    for (size_t i = 0; i < notes.size() && i < kMostNotes; ++i) {
      const auto& [note, cases] = notes[i];
      Line("note",
           verdict_.cases.size() == 1 ? note : fmt::format("{} ({})", note, Plural(cases, "case")),
           Ink::kDim);
    }
    if (notes.size() > kMostNotes) {
      Line("", fmt::format("and {} more: see --format json", notes.size() - kMostNotes), Ink::kDim);
    }
  }

  // Rules that judged nothing in any case, a line for each reason: what a reader may believe to be
  // watched and is not.
  void WriteNeverJudged() {
    std::set<std::string> judged;
    for (const CaseVerdict& item : verdict_.cases) {
      for (const Finding& finding : item.findings) {
        if (finding.status != Status::kSkipped) judged.insert(finding.rule);
      }
    }
    std::vector<std::string> reasons;
    std::set<std::string> said;  // rules: the first reason of each is enough
    std::map<std::string, std::set<std::string>> rules;
    for (const CaseVerdict& item : verdict_.cases) {
      for (const Finding& finding : item.findings) {
        if (judged.contains(finding.rule) || !said.insert(finding.rule).second) continue;
        const std::string reason = WithoutMetric(finding.message);
        if (!rules.contains(reason)) reasons.push_back(reason);
        rules[reason].insert(rule_names_.Of(finding));
      }
    }
    for (const std::string& reason : reasons) {
      const std::set<std::string>& names = rules[reason];
      const std::vector<std::string> list(names.begin(), names.end());
      out_ += Wrap(fmt::format("never judged here: {}  ({})", Join(list, ", "), Safe(reason)),
                   width_, 6) +
              "\n";
    }
  }

  const Verdict& verdict_;
  const RuleNames rule_names_;
  const TextStyle& style_;
  const size_t width_;
  std::map<const CaseVerdict*, std::set<int>> shown_;  // changes: each once a case
  std::string out_;
};

}  // namespace

std::string VerdictAsText(const Verdict& verdict, const TextStyle& style) {
  return Writer(verdict, style).Write();
}

}  // namespace perfgate
