// The verdict as a comment of a pull request or a job summary.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/counts.h"
#include "report/diff_text.h"
#include "report/layout.h"
#include "report/markdown.h"
#include "report/report.h"
#include "report/review_words.h"

namespace perfgate {
namespace {

using markdown::Code;
using markdown::Fenced;
using markdown::Prose;

// GitHub refuses a comment above 65,536 characters; bytes are the safe reading of that. What stands
// around the verdict in a comment has its place too: 60,000 bytes in all.
constexpr size_t kMostBytes = 58'000;
constexpr size_t kMostChangesACase = 25;
constexpr size_t kCommentNameWidth = 60;
// What stands in a fence is not wrapped: beyond this a reader has to scroll.
constexpr size_t kFenceWidth = 92;
// Of all problems together: with what Prose adds they leave room for the headline.
constexpr size_t kMostProblemLines = 20, kProblemWidth = 500;

std::string KernelLine(char sign, const ChangedKernel& kernel) {
  const std::string name = Fenced(Shorten(kernel.short_name, kCommentNameWidth));
  // A copy or a wait is no kernel: the text of its change has its count.
  if (kernel.count == 0 && kernel.time_ns == 0) return fmt::format("{} {}\n", sign, name);
  std::string line =
      fmt::format("{} {:<{}}  {}", sign, name, kCommentNameWidth / 2, CountAndTime(kernel));
  if (!kernel.ops.empty()) line += "   " + Fenced(Shorten(Join(kernel.ops, ", "), 60));
  return line + "\n";
}

std::string ChangeLines(const Change& change) {
  std::string text = "  " + Wrap(Fenced(change.text), kFenceWidth, 2) + "\n";
  for (const ChangedKernel& kernel : change.base) text += KernelLine('-', kernel);
  for (const ChangedKernel& kernel : change.head) text += KernelLine('+', kernel);
  if (!change.operators.empty()) {
    text += "  called by " + Fenced(JoinShort(change.operators, 90)) + "\n";
  }
  return text;
}

// A message has the numbers and the limit. Findings that say the same (a missing baseline says it
// once a rule) are one row.
std::string FindingTable(const RuleNames& names, const std::vector<const Finding*>& findings) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (const Finding* finding : findings) {
    const std::string said = fmt::format("{} | {}", Words(*finding), Prose(finding->message));
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const auto& other) { return other.first == said; });
    if (row == rows.end()) row = rows.insert(rows.end(), {said, {}});
    const std::string rule = Code(names.Of(*finding));
    auto& rules = row->second;
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  }
  std::string text;
  for (const auto& [said, rules] : rows) {
    text += fmt::format("| {} | {} |\n", Join(rules, ", "), said);
  }
  return text.empty() ? "" : "\n| rule | status | what |\n| --- | --- | --- |\n" + text;
}

// Changes that a failing rule points at first, then the others; each once.
std::string DiffBlock(const CaseVerdict& item, const std::vector<const Finding*>& findings) {
  if (!item.diff) return "";
  const auto size = static_cast<int>(item.diff->changes.size());
  std::vector<int> order;
  std::set<int> seen, slower;
  for (const Finding* finding : findings) {
    slower.insert(finding->slower.begin(), finding->slower.end());
    for (const int index : finding->changes) {
      if (index >= 0 && index < size && seen.insert(index).second) order.push_back(index);
    }
  }
  for (int index = 0; index < size; ++index) {
    if (seen.insert(index).second) order.push_back(index);
  }
  if (order.empty() && slower.empty()) return "";
  std::string text = "\n```diff\n";
  for (size_t i = 0; i < order.size() && i < kMostChangesACase; ++i) {
    text += ChangeLines(item.diff->changes[order[i]]);
  }
  if (order.size() > kMostChangesACase) {
    text += fmt::format("  and {} more changes: see the JSON report\n",
                        order.size() - kMostChangesACase);
  }
  if (!slower.empty()) text += "  slower, the same kernel:\n";
  for (const int index : slower) {
    if (index < 0 || index >= static_cast<int>(item.diff->slower.size())) continue;
    text += "! " + Fenced(DriftLine(item.diff->slower[index], kCommentNameWidth / 2)) + "\n";
  }
  return text + "```\n";
}

std::string Answers(const Diff& diff) {
  std::string text;
  if (const std::string balance = TimeBalance(diff); !balance.empty()) {
    text += "- Kernel time: " + Prose(balance) + "\n";
  }
  if (const std::string balance = CopyTimeBalance(diff); !balance.empty()) {
    text += "- Copy time: " + Prose(balance) + "\n";
  }
  for (const Answer& answer : diff.answers) {
    if (!answer.question.empty()) {
      text += fmt::format("- {} **{}**\n", Prose(answer.question), Prose(answer.answer));
    }
  }
  if (!diff.head_bound.empty()) text += "- Bound by: " + Prose(diff.head_bound) + "\n";
  return text.empty() ? "" : "\n" + text;
}

std::string Circumstances(const CaseVerdict& item) {
  std::string text;
  for (const std::string& reason : item.incomplete_because) {
    text += "- **incomplete**: " + Prose(reason) + "\n";
  }
  if (!item.plant.empty()) text += "- **planted defect**: " + Code(item.plant) + "\n";
  for (const Fallback& fallback : item.fallback) {
    text += fmt::format("- **fallback**: {}: {}\n", Prose(fallback.what), Prose(fallback.why));
  }
  for (const std::string& difference : item.key_differences) {
    text += "- **other key** (baseline / head): " + Prose(difference) + "\n";
  }
  return text.empty() ? "" : "\n" + text;
}

std::string Whys(const RuleNames& names, const std::vector<const Finding*>& findings) {
  std::string text;
  std::set<std::string> said;
  for (const Finding* finding : findings) {
    if (!finding->why.empty() && said.insert(finding->why).second) {
      text += fmt::format("- {}: {}\n", Code(names.Of(*finding)), Prose(finding->why));
    }
  }
  return text.empty() ? "" : "\nWhy it matters:\n" + text;
}

// A command as a shell takes it over several lines: broken before options, never inside quotes.
std::string CommandLines(std::string_view command) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'') quoted = !quoted;
    if (!quoted && command[i] == '\\') {
      parts.back() += command.substr(i++, 2);  // an apostrophe between quotes: '\''
    } else if (!quoted && command.substr(i, 3) == " --") {
      parts.emplace_back();
    } else {
      parts.back() += command[i];
    }
  }
  std::string text, line = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    if (line.size() + 1 + parts[i].size() > kFenceWidth) {
      text += line + " \\\n";
      line = "  " + parts[i];
    } else {
      line += " " + parts[i];
    }
  }
  return text + line;
}

std::string NextBlock(const std::vector<const Finding*>& findings) {
  std::string steps, acceptance;
  for (const std::string& step : NextSteps(findings)) {
    if (AcceptsFailure(step)) {
      acceptance += CommandLines(Fenced(step)) + "\n";
    } else {
      steps += Fenced(step) + "\n";
    }
  }
  std::string text;
  if (!steps.empty()) text += "\nNext:\n```sh\n" + steps + "```\n";
  if (!acceptance.empty()) text += "\nIf it is meant:\n```sh\n" + acceptance + "```\n";
  return text;
}

std::string Notes(const CaseVerdict& item) {
  std::string text;
  for (const std::string& note : item.notes) text += "\n_note:_ " + Prose(note) + "\n";
  return text;
}

std::string TroubledSection(const RuleNames& names, const CaseVerdict& item) {
  const auto findings =
      FindingsInOrder(item, [](const Finding& finding) { return IsTrouble(finding.status); });
  std::string text = fmt::format("\n### {} {}\n", Code(item.case_name), Words(item));
  text += Circumstances(item);
  text += FindingTable(names, findings);
  text += DiffBlock(item, findings);
  if (item.diff) text += Answers(*item.diff);
  text += Whys(names, findings);
  return text + Notes(item) + NextBlock(findings);
}

std::string Folded(const std::string& title, const std::string& body) {
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", title, body);
}

std::string FoldedFindings(const Verdict& verdict, const RuleNames& names, const std::string& title,
                           const std::function<bool(const Finding&)>& wanted) {
  std::string body;
  for (const CaseVerdict& item : verdict.cases) {
    const auto findings = FindingsInOrder(item, wanted);
    if (findings.empty()) continue;
    body += fmt::format("\n{}\n{}", Code(item.case_name), FindingTable(names, findings));
  }
  return body.empty() ? "" : Folded(title, body);
}

// Of cases that are well, once for all: what was measured otherwise than it was asked for.
std::string OtherNotes(const Verdict& verdict) {
  std::string body;
  const auto notes = NotesOf(verdict);
  for (const auto& [note, cases] : notes) {
    body += fmt::format("\n- {}", Prose(note));
    if (verdict.cases.size() > 1) body += fmt::format(" ({})", Plural(cases, "case"));
  }
  return body.empty() ? "" : Folded(Plural(static_cast<int64_t>(notes.size()), "note"), body);
}

std::string Problems(const Verdict& verdict) {
  std::string text;
  size_t lines = 0;
  for (const std::string& problem : verdict.problems) {
    std::string separator = "\n- **problem**: ";
    std::string item;
    for (const std::string& line : Split(problem, '\n')) {
      if (lines++ >= kMostProblemLines) continue;
      item += separator + Prose(Shorten(Safe(line), kProblemWidth));
      separator = "<br>";
    }
    if (!item.empty()) text += item + "\n";
  }
  if (lines <= kMostProblemLines) return text;
  return text + fmt::format("\n- and {} more: see the JSON report\n",
                            Plural(static_cast<int64_t>(lines - kMostProblemLines), "line"));
}

// Never left out: what it takes of a verdict is bounded.
std::string Top(const Verdict& verdict) {
  const Headline headline = HeadlineOf(verdict);
  const std::string_view mark = headline.good ? "✅" : headline.bad ? "❌" : "⚠️";
  std::string text;
  if (!headline.banner.empty()) text += "> [!WARNING]\n> " + Prose(headline.banner) + "\n\n";
  text += fmt::format("## {} perfgate: {}, {}\n", mark, headline.word, headline.sentence);
  if (!headline.context.empty()) text += "\n" + Prose(headline.context) + "\n";
  return text + Problems(verdict);
}

// Sections are kept whole or left out whole, the telling ones first.
std::string WithinLimit(const std::vector<std::string>& sections) {
  std::string text;
  size_t left_out = 0;
  for (const std::string& section : sections) {
    if (left_out > 0 || text.size() + section.size() > kMostBytes) {
      left_out += !section.empty();
    } else {
      text += section;
    }
  }
  if (left_out > 0) {
    text +=
        fmt::format("\n{} left out, because a comment may not be longer: see the JSON report.\n",
                    Plural(static_cast<int64_t>(left_out), "section"));
  }
  return text;
}

}  // namespace

std::string VerdictAsMarkdown(const Verdict& verdict) {
  const RuleNames names(verdict);
  std::vector<std::string> sections = {Top(verdict)};
  if (verdict.review && HasNews(*verdict.review)) {
    sections.push_back(ReviewAsMarkdown(*verdict.review));
  }
  for (const CaseVerdict* item : CasesInOrder(verdict)) {
    const bool troubled = IsTrouble(item->status) || !item->incomplete_because.empty();
    if (troubled) sections.push_back(TroubledSection(names, *item));
  }
  for (const CaseVerdict& item : verdict.cases) {
    if (IsTrouble(item.status) || !item.incomplete_because.empty()) continue;
    const std::string circumstances = Circumstances(item);
    if (!circumstances.empty()) {
      sections.push_back(fmt::format("\n### {}\n{}", Code(item.case_name), circumstances));
    }
  }
  sections.push_back(OtherNotes(verdict));
  const Counts counts = CountOf(verdict);
  sections.push_back(
      FoldedFindings(verdict, names, "Warnings, waivers and improvements", [](const Finding& f) {
        return f.status == Status::kWarn || f.status == Status::kWaived ||
               f.status == Status::kImproved;
      }));
  sections.push_back(FoldedFindings(verdict, names, fmt::format("{} passed", counts.passed),
                                    [](const Finding& f) { return f.status == Status::kPass; }));
  sections.push_back(FoldedFindings(verdict, names, fmt::format("{} skipped", counts.skipped),
                                    [](const Finding& f) { return f.status == Status::kSkipped; }));
  return WithoutLogCommands(WithinLimit(sections));
}

}  // namespace perfgate
