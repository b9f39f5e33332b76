// The verdict as JUnit XML: a suite for each case, a test case for each of its rules. There is no
// official schema; this is the part on which Jenkins, GitLab and the common readers agree.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/counts.h"
#include "report/diff_text.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/rule_results.h"

namespace perfgate {
namespace {

// Readers show it in one line of a table.
constexpr size_t kLongestXmlMessage = 500;
constexpr size_t kMostXmlChanges = 25;

// As an attribute's value or as text: printable, without markup, and without the two characters
// that UTF-8 has and XML 1.0 forbids (U+FFFE, U+FFFF).
std::string XmlEscaped(std::string_view text) {
  std::string escaped;
  const std::string safe = Safe(text);
  for (size_t i = 0; i < safe.size(); ++i) {
    const std::string_view three = std::string_view(safe).substr(i, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      escaped += "\xEF\xBF\xBD";
      i += 2;
    } else if (safe[i] == '<') {
      escaped += "&lt;";
    } else if (safe[i] == '>') {
      escaped += "&gt;";
    } else if (safe[i] == '&') {
      escaped += "&amp;";
    } else if (safe[i] == '"') {
      escaped += "&quot;";
    } else if (safe[i] == '\'') {
      escaped += "&apos;";
    } else {
      escaped += safe[i];
    }
  }
  return escaped;
}

std::string XmlLine(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("{}{}\n", label, XmlEscaped(text));
}

// What fails the build is a failure where a rule failed and an error where nothing could be said;
// what is let through is no pass either.
std::string_view JunitOutcome(Status status) {
  if (status == Status::kFail) return "failure";
  if (IsTrouble(status)) return "error";
  return IsLetThrough(status) || status == Status::kSkipped ? "skipped" : "";
}

struct JunitCounts {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  void Add(std::string_view outcome) {
    ++tests;
    failures += outcome == "failure";
    errors += outcome == "error";
    skipped += outcome == "skipped";
  }
};

std::string XmlChanges(const CaseVerdict& item, const RuleResult& result) {
  if (!item.diff) return "";
  std::vector<int> shown;
  std::string text;
  for (const Finding* finding : result.findings) {
    for (const int index : finding->changes) {
      const bool there = index >= 0 && index < static_cast<int>(item.diff->changes.size());
      if (!there || std::find(shown.begin(), shown.end(), index) != shown.end()) continue;
      shown.push_back(index);
      if (shown.size() > kMostXmlChanges) continue;
      const Change& change = item.diff->changes[static_cast<size_t>(index)];
      const bool said = std::any_of(result.messages.begin(), result.messages.end(),
                                    [&](const std::string& message) {
                                      return message.find(change.text) != std::string::npos;
                                    });
      if (!said) text += XmlLine("", Shorten(change.text, kLongestXmlMessage));
      for (const std::string& line : Split(ChangeLines(change, 2, {}), '\n')) {
        text += XmlLine("", line);
      }
    }
  }
  if (shown.size() > kMostXmlChanges) {
    text +=
        fmt::format("and {} more changes: see the JSON report\n", shown.size() - kMostXmlChanges);
  }
  return text;
}

std::string XmlDetails(const CaseVerdict& item, const RuleResult& result) {
  std::string text;
  for (const std::string& message : result.messages) text += XmlLine("", message);
  text += XmlChanges(item, result);
  if (!result.findings.empty()) text += XmlLine("why: ", result.findings.front()->why);
  for (const std::string& step : NextSteps(result.findings)) text += XmlLine("next: ", step);
  return text + XmlLine("rule: ", ToString(result.where));
}

std::string JunitTestCase(const CaseVerdict& item, const RuleResult& result) {
  const std::string_view outcome = JunitOutcome(result.status);
  const std::string names = fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                                        XmlEscaped(item.case_name), XmlEscaped(result.rule));
  if (outcome.empty()) return names + "/>\n";
  std::string message = Shorten(Join(result.messages, "; "), kLongestXmlMessage);
  std::string details = "\n" + XmlDetails(item, result);
  if (outcome == "skipped") {  // the message is all that many readers show of it
    message = fmt::format("{}: {}", Words(result), message);
    if (result.status == Status::kSkipped) details.clear();
  }
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", names,
                     outcome, ToString(result.status), XmlEscaped(message), details, outcome);
}

std::string JunitProperty(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, XmlEscaped(value));
}

std::string JunitProperties(const Verdict& verdict, const CaseVerdict& item) {
  return "    <properties>\n" + JunitProperty("status", ToString(item.status)) +
         JunitProperty("device", item.device_name) + JunitProperty("stack", verdict.stack) +
         JunitProperty("base", verdict.base_label) + JunitProperty("head", verdict.head_label) +
         JunitProperty("run", verdict.run_id) +
         JunitProperty("quick", verdict.quick ? "true" : "") + "    </properties>\n";
}

// What must be seen whatever the verdict.
std::string JunitSystemOut(const CaseVerdict& item) {
  std::string text;
  for (const std::string& reason : item.incomplete_because) text += XmlLine("incomplete: ", reason);
  text += XmlLine("planted defect: ", item.plant);
  for (const Fallback& fallback : item.fallback) {
    text += XmlLine("fallback: ", fallback.what + ": " + fallback.why);
  }
  for (const std::string& difference : item.key_differences) {
    text += XmlLine("other key (baseline / head): ", difference);
  }
  for (const std::string& note : item.notes) text += XmlLine("note: ", note);
  return text.empty() ? "" : "    <system-out>" + text + "</system-out>\n";
}

std::string JunitSuite(std::string_view name, const JunitCounts& counts, std::string_view body) {
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}"
      "  </testsuite>\n",
      XmlEscaped(name), counts.tests, counts.failures, counts.errors, counts.skipped, body);
}

// Problems of the whole run, as a case of their own.
CaseVerdict WholeRun(const Verdict& verdict) {
  CaseVerdict run;
  run.case_name = "perfgate:run";
  run.status = Status::kError;
  for (const std::string& problem : verdict.problems) {
    for (std::string& line : Split(problem, '\n')) {
      run.incomplete_because.push_back(std::move(line));
    }
  }
  return run;
}

std::string JunitSuiteOf(const Verdict& verdict, const CaseVerdict& item, std::string_view rest,
                         JunitCounts* total) {
  JunitCounts counts;
  std::string body = JunitProperties(verdict, item);
  for (const RuleResult& result : RuleResults(item)) {
    counts.Add(JunitOutcome(result.status));
    total->Add(JunitOutcome(result.status));
    body += JunitTestCase(item, result);
  }
  return JunitSuite(item.case_name, counts, body.append(rest));
}

}  // namespace

std::string VerdictAsJunit(const Verdict& verdict) {
  JunitCounts total;
  std::string suites;
  if (!verdict.problems.empty()) suites += JunitSuiteOf(verdict, WholeRun(verdict), "", &total);
  for (const CaseVerdict& item : verdict.cases) {
    suites += JunitSuiteOf(verdict, item, JunitSystemOut(item), &total);
  }
  return WithoutLogCommands(fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      XmlEscaped(verdict.suite.empty() ? "perfgate" : "perfgate " + verdict.suite), total.tests,
      total.failures, total.errors, suites));
}

}  // namespace perfgate
