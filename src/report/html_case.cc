// What was judged of a case, and what changed.
#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/html.h"
#include "report/html_sections.h"

namespace perfgate::html {
namespace {

constexpr size_t kMostChanges = 200;

std::string Value(const std::optional<double>& value, const Finding& finding) {
  if (!value) return "";
  return Text(FormatValue(*value, finding.metric ? Info(*finding.metric).unit : Unit::kCount));
}

std::string Item(std::string_view name, const std::string& markup) {
  return markup.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, markup);
}

// Its message has the numbers and the limit.
std::string FindingInFull(const RuleNames& names, const Finding& finding) {
  std::string text = fmt::format(
      "<article class=\"finding {}\">\n<h4>{} {}</h4>\n<p>{}</p>\n<dl>\n", ClassOf(finding.status),
      Code(names.Of(finding)), StatusMark(finding.status, Words(finding)), Text(finding.message));
  if (!finding.operators.empty()) text += Item("operator", Code(Join(finding.operators, ", ")));
  if (!finding.kernels.empty()) text += Item("kernel", Code(Join(finding.kernels, ", ")));
  text += Item("why", Text(finding.why));
  const std::string_view next = AcceptsFailure(finding.next) ? "if meant" : "next";
  if (!finding.next.empty()) text += Item(next, Code(finding.next));
  return text + "</dl>\n</article>\n";
}

// Steps of several findings, those that one command does together.
std::string NextOfAll(const std::vector<const Finding*>& findings) {
  const std::vector<std::string> steps = NextSteps(findings);
  if (findings.size() < 2 || steps.empty()) return "";
  std::string text = "<h4>For all of them together</h4>\n<ul>\n";
  for (const std::string& step : steps) {
    text += fmt::format("<li>{}{}</li>\n", AcceptsFailure(step) ? "if meant: " : "", Code(step));
  }
  return text + "</ul>\n";
}

std::string FindingTable(const RuleNames& names, std::string_view caption,
                         const std::vector<const Finding*>& findings) {
  Table table(caption,
              {{"rule"}, {"status"}, {"what"}, {"base", true}, {"head", true}, {"expected"}});
  for (const Finding* finding : findings) {
    std::string what = Text(finding->message);
    if (ClassOf(finding->status) == "look" && !finding->why.empty()) {
      what += "<br><small>" + Text(finding->why) + "</small>";
    }
    table.Add({{Code(names.Of(*finding))},
               {StatusMark(finding->status, Words(*finding))},
               {what},
               {Value(finding->base, *finding)},
               {Value(finding->head, *finding)},
               {Text(finding->limit)}},
              ClassOf(finding->status));
  }
  return table.Take();
}

// One side of a change, a line a kernel.
std::string KernelLines(const std::vector<ChangedKernel>& kernels) {
  std::string text;
  for (const ChangedKernel& kernel : kernels) {
    if (!text.empty()) text += "<br>";
    // A copy or a wait is no kernel: the text of its change has its count.
    const bool counted = kernel.count != 0 || kernel.time_ns != 0;
    if (counted) text += fmt::format("<span class=\"n\">{}&nbsp;×&nbsp;</span>", kernel.count);
    text += Code(kernel.short_name);
    if (counted) {
      text +=
          fmt::format(" <span class=\"n\">{}</span>", Time(static_cast<double>(kernel.time_ns)));
    }
  }
  return text;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "<br>") + Code(line);
  return text;
}

void AddDrift(const Drift& drift, Table* table) {
  table->Add({{"slower, the same kernel"},
              {KernelLines({drift.base})},
              {KernelLines({drift.head})},
              {Code(Innermost(drift.head.op_path))},
              {""},
              {"0"},
              {Text(SignedTime(drift.Rise()))},
              {""}});
}

}  // namespace

std::string_view ClassOf(Status status) {
  if (status == Status::kPass || status == Status::kImproved) return "good";
  return IsTrouble(status) ? "bad" : "look";
}

std::string StatusMark(Status status, std::string_view words) {
  return fmt::format("<span class=\"status {}\">{}</span>", ClassOf(status), words);
}

std::string Circumstances(const CaseVerdict& item) {
  std::string text;
  const auto say = [&](std::string_view label, const std::string& what) {
    text += fmt::format("<li><strong>{}</strong>: {}</li>\n", label, Text(what));
  };
  for (const std::string& reason : item.incomplete_because) say("incomplete", reason);
  if (!item.plant.empty()) say("planted defect", item.plant);
  for (const Fallback& fallback : item.fallback) {
    say("fallback", fallback.what + ": " + fallback.why);
  }
  for (const std::string& difference : item.key_differences) {
    say("other key (baseline / head)", difference);
  }
  for (const std::string& note : item.notes) say("note", note);
  return text.empty() ? "" : "<ul>\n" + text + "</ul>\n";
}

std::string Findings(const RuleNames& names, const CaseVerdict& item) {
  std::string text;
  const auto troubled =
      FindingsInOrder(item, [](const Finding& finding) { return IsTrouble(finding.status); });
  for (const Finding* finding : troubled) text += FindingInFull(names, *finding);
  text += NextOfAll(troubled);
  const auto let_through = FindingsInOrder(item, [](const Finding& finding) {
    return finding.status == Status::kWarn || finding.status == Status::kWaived ||
           finding.status == Status::kImproved;
  });
  text += FindingTable(names, "Warnings, waivers and improvements", let_through);
  for (const auto& [status, title] :
       {std::pair{Status::kPass, "passed"}, std::pair{Status::kSkipped, "skipped"}}) {
    const auto findings = FindingsInOrder(
        item, [wanted = status](const Finding& finding) { return finding.status == wanted; });
    const std::string count = fmt::format("{} {}", findings.size(), title);
    text += Folded(count, FindingTable(names, count, findings));
  }
  return text.empty() ? "" : "<h3>What was judged</h3>\n" + text;
}

std::string Answers(const Diff& diff) {
  std::string text;
  for (const Answer& answer : diff.answers) {
    if (!answer.question.empty()) text += Item(Text(answer.question), Text(answer.answer));
  }
  text += Item("Kernel time", Text(TimeBalance(diff)));
  text += Item("Copy time", Text(CopyTimeBalance(diff)));
  if (diff.base_bound == diff.head_bound) {
    text += Item("Bound by", Text(diff.head_bound));
  } else {
    text += Item("Bound before by", Text(diff.base_bound));
    text += Item("Bound now by", Text(diff.head_bound));
  }
  return text.empty() ? ""
                      : "<h3>The four questions</h3>\n<dl class=\"answers\">\n" + text + "</dl>\n";
}

std::string Changes(const Diff& diff) {
  std::string text = "<h3>What changed</h3>\n";
  if (!diff.different_shapes.empty()) text += "<p>" + Text(diff.different_shapes) + "</p>\n";
  if (diff.changes.empty()) text += "<p>No change in kernels, copies or syncs.</p>\n";
  Table table("Changes from base to head, a step", {{"change"},
                                                    {"base"},
                                                    {"head"},
                                                    {"called by"},
                                                    {"where"},
                                                    {"launches", true},
                                                    {"kernel time", true},
                                                    {"copy time", true}});
  for (size_t i = 0; i < diff.changes.size() && i < kMostChanges; ++i) {
    const Change& change = diff.changes[i];
    table.Add({{Text(change.text)},
               {KernelLines(change.base)},
               {KernelLines(change.head)},
               {Lines(change.operators)},
               {Lines(change.places)},
               {fmt::format("{:+}", change.count)},
               {change.time_ns == 0 ? "" : Text(SignedTime(change.time_ns))},
               {change.transfers.time_ns == 0 ? "" : Text(SignedTime(change.transfers.time_ns))}},
              IsRegression(change.kind) ? "bad" : "");
  }
  for (const Drift& drift : diff.slower) AddDrift(drift, &table);
  text += table.Take();
  if (diff.changes.size() > kMostChanges) {
    text += fmt::format("<p>{} more changes are left out here: the JSON report has them.</p>\n",
                        diff.changes.size() - kMostChanges);
  }
  return text;
}

}  // namespace perfgate::html
