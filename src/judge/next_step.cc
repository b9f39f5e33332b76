#include "judge/next_step.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfgate {
namespace {

// As YAML's double-quoted text, in which the escapes of Printable are the characters again.
std::string YamlQuoted(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fmt::format("\"{}\"", Printable(escaped));
}

}  // namespace

std::string AcceptRule(std::string_view case_name, std::string_view rule) {
  return fmt::format("perfgate baseline accept --case {} --rule {} --reason '…'",
                     ShellQuoted(case_name), ShellQuoted(rule));
}

std::string AcceptFirst(std::string_view case_name) {
  return fmt::format("perfgate baseline accept --case {} --reason '…'", ShellQuoted(case_name));
}

std::string EditRule(const Rule& rule, std::string_view what) {
  if (rule.from_pack && rule.where.file.starts_with("perfgate:")) {
    return fmt::format("set {} with 'override: {}' in a rule file of your own", what, rule.full_id);
  }
  return fmt::format("set {} in {}", what, ToString(rule.where));
}

std::string CoversText(std::string_view kernel, const std::vector<std::string>& ops) {
  return fmt::format("{{{}: [{}]}}", YamlQuoted(kernel), Join(ops, ", "));
}

std::string JudgeLargestStep() {
  return "let every step do the same work, or set 'aggregate: max' in these rules, to judge the "
         "largest step ('override: RULE' in a file of your own for a pack's)";
}

}  // namespace perfgate
