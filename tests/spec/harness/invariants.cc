#include "harness/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace perfgate::spec {
namespace {

using Words = std::vector<std::string>;
using Problems = std::vector<std::string>;

bool Has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsPure(const Words& words) {
  static const std::set<std::string, std::less<>> kPure = {"diff",  "judge",  "review",  "inspect",
                                                           "rules", "schema", "history", "doctor"};
  if (words.size() < 2) return true;
  if (words[1] == "baseline")
    return words.size() > 2 && words[2] != "accept" && !Has(words, "--mend");
  return kPure.contains(words[1]) && !Has(words, "--report");
}

bool PrintsVerdict(const Words& words) {
  if (words.size() < 2 || Has(words, "--dry-run") || Has(words, "--help")) return false;
  return words[1] == "run" || words[1] == "judge" || words[1] == "diff";
}

// `run` becomes `judge` of what it has just stored; `--format X` becomes `--format json`.
Words JsonForm(const Words& words) {
  static const std::set<std::string, std::less<>> kKept = {"--db", "--baselines", "--case",
                                                           "--base"};
  Words json = {"perfgate", words[1] == "run" ? "judge" : words[1]};
  for (size_t i = 2; i < words.size(); ++i) {
    const bool has_value = words[i].starts_with("--") && i + 1 < words.size();
    if (words[1] != "run") {
      if (words[i] == "--format") {
        ++i;
      } else {
        json.push_back(words[i]);
      }
    } else if (kKept.contains(words[i]) && has_value) {
      json.push_back(words[i]);
      json.push_back(words[++i]);
    } else if (words[i].ends_with(".yaml")) {
      json.push_back("--suite");
      json.push_back(words[i]);
    } else if (has_value && !words[i + 1].starts_with("--")) {
      ++i;
    }
  }
  json.push_back("--format");
  json.push_back("json");
  return json;
}

void CheckText(std::string_view name, std::string_view text, Problems& problems) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte == 0x7f || (byte < 0x20 && byte != '\n')) {
      problems.push_back(fmt::format("{} holds the raw byte 0x{:02x} at {}", name, byte, at));
      return;
    }
    at += length;
  }
}

// Every number that the JSON holds, those inside its texts as they stand there, and the counts that
// a heading may make of it.
struct Numbers {
  std::set<std::string> whole;
  std::vector<double> values;
};

// The end of the number that starts at `at`: digits, and a fraction if one follows.
size_t NumberEnd(std::string_view text, size_t at) {
  const auto digit = [&](size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
  };
  while (digit(at) || (at < text.size() && text[at] == '.' && digit(at + 1))) ++at;
  return at;
}

void AddText(std::string_view text, Numbers& numbers) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = NumberEnd(text, at);
    if (end > at) numbers.whole.insert(std::string(text.substr(at, end - at)));
    at = end + 1;
  }
}

void AddJson(const Json& json, Numbers& numbers) {
  if (json.IsArray()) {
    numbers.whole.insert(std::to_string(json.AsArray().size()));
    for (const Json& item : json.AsArray()) AddJson(item, numbers);
  } else if (json.IsObject()) {
    for (const auto& [key, value] : json.AsObject()) AddJson(value, numbers);
  } else if (json.IsString()) {
    AddText(json.AsString(), numbers);
  } else if (json.IsNumber()) {
    const double value = json.AsNumber();
    numbers.values.push_back(std::fabs(value));
    if (value == std::floor(value)) numbers.whole.insert(fmt::format("{:.0f}", std::fabs(value)));
  }
}

void AddCounts(const Json& verdict, Numbers& numbers) {
  std::map<std::string, int> findings, cases;
  std::set<std::string> rules;
  int all = 0;
  for (const Json& one : verdict.At("cases").AsArray()) {
    ++cases[one.At("status").AsString()];
    std::map<std::string, std::set<std::string>> of_case;  // status -> rules
    for (const Json& finding : one.At("findings").AsArray()) {
      ++findings[finding.At("status").AsString()];
      of_case[finding.At("status").AsString()].insert(finding.At("rule").AsString());
      rules.insert(finding.At("rule").AsString());
      ++all;
    }
    for (const auto& [status, ids] : of_case) numbers.whole.insert(std::to_string(ids.size()));
  }
  for (const auto& [status, count] : findings) numbers.whole.insert(std::to_string(count));
  for (const auto& [status, count] : cases) numbers.whole.insert(std::to_string(count));
  numbers.whole.insert(std::to_string(rules.size()));
  numbers.whole.insert(std::to_string(all));
}

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_.-:#/[]=<>,").find(c) != std::string_view::npos;
}

// The scale of the unit that follows a number in a report; 0: no unit.
double ScaleOf(std::string_view after) {
  static constexpr std::array<std::pair<std::string_view, double>, 7> kScales = {
      {{" ns", 1},
       {" us", 1e3},
       {" ms", 1e6},
       {" s", 1e9},
       {" KiB", 1024},
       {" MiB", 1048576},
       {" GiB", 1073741824}}};
  for (const auto& [unit, scale] : kScales) {
    if (!after.starts_with(unit)) continue;
    if (after.size() == unit.size() ||
        !std::isalnum(static_cast<unsigned char>(after[unit.size()]))) {
      return scale;
    }
  }
  return 0;
}

// Plain whole numbers and quantities with a unit must come from the JSON. Percentages and numbers
// inside names are left alone.
void CheckNumbers(std::string_view text, const Numbers& numbers, Problems& problems) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (!std::isdigit(static_cast<unsigned char>(text[at]))) continue;
    const bool inside = at > 0 && IsWordByte(text[at - 1]) && text[at - 1] != '-';
    const size_t end = NumberEnd(text, at);
    const std::string number(text.substr(at, end - at));
    const std::string_view after = text.substr(end);
    const bool word = inside || (!after.empty() && IsWordByte(after[0]) && after[0] != '.' &&
                                 after[0] != ',' && after[0] != ':');
    at = end;
    if (word || after.starts_with(" %")) continue;
    if (const double scale = ScaleOf(after); scale != 0) {
      const double value = std::stod(number) * scale;
      const bool found = std::any_of(numbers.values.begin(), numbers.values.end(), [&](double v) {
        return std::fabs(v - value) <= std::max(0.01 * std::fabs(v), 0.006 * scale);
      });
      if (found || numbers.whole.contains(number)) continue;
    } else if (number.find('.') != std::string::npos || numbers.whole.contains(number)) {
      continue;
    }
    const size_t line = text.rfind('\n', at - 1) + 1;
    problems.push_back(fmt::format("{} of the report is not in the JSON: {}", number,
                                   text.substr(line, text.find('\n', at) - line)));
  }
}

void CheckFindings(const Json& verdict, Problems& problems) {
  std::set<std::string> all;
  for (const Json& one : verdict.At("cases").AsArray()) {
    for (const Json& finding : one.At("findings").AsArray()) {
      all.insert(finding.At("rule").AsString());
    }
  }
  for (const Json& one : verdict.At("cases").AsArray()) {
    std::set<std::string> rules;
    for (const Json& finding : one.At("findings").AsArray()) {
      rules.insert(finding.At("rule").AsString());
    }
    for (const std::string& rule : all) {
      // What is found without a rule ("perfgate:vanished-work") is no rule of the others.
      const bool built_in = rule.starts_with("perfgate:") && rule.find('/') == std::string::npos;
      if (built_in || rules.contains(rule)) continue;
      problems.push_back(
          fmt::format("rule {} has no finding for {}", rule, one.At("case").AsString()));
    }
  }
  if (const Json* rules = verdict.Find("rules"); rules != nullptr && rules->IsInt()) {
    // What is found without a rule (work that vanished) stands under an id of its own.
    const bool fewer = static_cast<int64_t>(all.size()) < rules->AsInt();
    if (fewer && !verdict.At("cases").AsArray().empty()) {
      problems.push_back(
          fmt::format("{} rules are declared, {} have findings", rules->AsInt(), all.size()));
    }
  }
}

void CheckVerdict(const Words& words, const CommandResult& result, const Rerun& rerun,
                  Problems& problems) {
  const Words form = JsonForm(words);
  const CommandResult json = rerun(form);
  if (json.exit != result.exit) {
    problems.push_back(fmt::format("`{}` exits with {}, not {}: {}", Join(form, " "), json.exit,
                                   result.exit, json.err));
    return;
  }
  const Json verdict = ParseJson(json.out, "the verdict");
  if (verdict.At("schema").AsString() != "perfgate.verdict/1") problems.push_back("another schema");
  if (verdict.At("exit_code").AsInt() != result.exit) {
    problems.push_back(fmt::format("exit_code is {} in the JSON", verdict.At("exit_code").AsInt()));
  }
  CheckFindings(verdict, problems);
  if (Has(words, "--format")) return;
  Numbers numbers;
  AddJson(verdict, numbers);
  AddCounts(verdict, numbers);
  CheckNumbers(result.out, numbers, problems);
}

}  // namespace

Problems BrokenInvariants(const Words& words, const CommandResult& result, const Rerun& rerun) {
  static const std::set<int> kExits = {0, 1, 2, 3, 4, 130, 143};
  Problems problems;
  if (!kExits.contains(result.exit)) {
    problems.push_back(fmt::format("exit code {} is not documented", result.exit));
  }
  CheckText("stdout", result.out, problems);
  CheckText("stderr", result.err, problems);
  if (result.exit != 0 && result.out.empty() && result.err.empty()) {
    problems.push_back("it fails without a word");
  }
  try {
    if (result.out.starts_with("{")) ParseJson(result.out, "stdout");
    if (IsPure(words)) {
      const CommandResult again = rerun(words);
      if (again.exit != result.exit || again.out != result.out || again.err != result.err) {
        problems.push_back("run again, it does not print the same bytes");
      }
    }
    if (PrintsVerdict(words) && !result.out.empty() && result.exit < 128) {
      CheckVerdict(words, result, rerun, problems);
    }
  } catch (const std::exception& error) {
    problems.push_back(error.what());
  }
  return problems;
}

}  // namespace perfgate::spec
