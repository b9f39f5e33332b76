#include "harness/spec_file.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace perfgate::spec {
namespace {

constexpr std::string_view kPick = "| pick ";

// Blanks part words; single and double quotes hold them together.
std::vector<std::string> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c != ' ') {
      word += c;
      open = true;
    } else if (open) {
      words.push_back(std::exchange(word, ""));
      open = false;
    }
  }
  if (open) words.push_back(word);
  return words;
}

class Parser {
 public:
  explicit Parser(SpecFile& spec) : spec_(spec) {}

  void Run() {
    spec_.title = spec_.lines.empty() ? "" : spec_.lines[0];
    if (Trim(spec_.title).empty()) Fail("the first line must be the title");
    ++at_;
    while (at_ < spec_.lines.size() && !IsStart(spec_.lines[at_])) ++at_;  // prose
    while (at_ < spec_.lines.size()) {
      const std::string& line = spec_.lines[at_];
      if (line.starts_with("--- ")) {
        TakeSection();
      } else if (line.starts_with("$ ")) {
        TakeCommand();
      } else if (Trim(line).empty() || line.starts_with("#")) {
        ++at_;
      } else {
        Fail("expected `--- `, `$ `, `# ` or an empty line");
      }
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", spec_.path.string(), at_ + 1, what));
  }
  static bool IsStart(const std::string& line) {
    return line.starts_with("--- ") || line.starts_with("$ ");
  }

  void TakeSection() {
    Section section;
    section.line = static_cast<int>(at_) + 1;
    const std::string_view head = std::string_view(spec_.lines[at_]).substr(4);
    const size_t space = head.find(' ');
    section.kind = head.substr(0, space);
    if (space != std::string_view::npos) section.rest = Trim(head.substr(space));
    for (++at_; at_ < spec_.lines.size() && !IsStart(spec_.lines[at_]); ++at_) {
      section.text += spec_.lines[at_] + "\n";
    }
    while (section.text.ends_with("\n\n")) section.text.pop_back();
    if (section.text == "\n") section.text.clear();
    spec_.steps.emplace_back(std::move(section));
  }

  void TakeCommand() {
    Command command;
    command.line = static_cast<int>(at_) + 1;
    std::string_view text = std::string_view(spec_.lines[at_]).substr(2);
    if (const size_t pick = text.find(kPick); pick != std::string_view::npos) {
      command.pick = Trim(text.substr(pick + kPick.size()));
      text = Trim(text.substr(0, pick));
    }
    command.words = ShellWords(text);
    if (command.words.empty()) Fail("a command is missing");
    for (++at_; at_ < spec_.lines.size() && TakeExpected(command); ++at_) {
    }
    if (command.words[0] == "perfgate" && !command.exit) {
      Fail("the command above needs a line `exit N`");
    }
    spec_.steps.emplace_back(std::move(command));
  }

  bool TakeExpected(Command& command) const {
    const std::string& line = spec_.lines[at_];
    const int number = static_cast<int>(at_) + 1;
    if (line == ">" || line.starts_with("> ")) {
      command.out.push_back(line.substr(std::min<size_t>(2, line.size())));
      command.out_lines.push_back(number);
    } else if (line == "!>" || line.starts_with("!> ")) {
      command.err.push_back(line.substr(std::min<size_t>(3, line.size())));
      command.err_lines.push_back(number);
      command.checks_err = true;
    } else if (line.starts_with("exit ")) {
      command.exit = std::stoi(line.substr(5));
    } else {
      return false;
    }
    return true;
  }

  SpecFile& spec_;
  size_t at_ = 0;
};

bool MatchFrom(const std::vector<std::string>& expected, size_t e,
               const std::vector<std::string>& found, size_t f) {
  for (; e < expected.size(); ++e, ++f) {
    if (expected[e] == "...") {
      for (size_t skip = f; skip <= found.size(); ++skip) {
        if (MatchFrom(expected, e + 1, found, skip)) return true;
      }
      return false;
    }
    if (f >= found.size() || found[f] != expected[e]) return false;
  }
  return f == found.size();
}

void AddLines(std::string& text, std::string_view mark, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    text += line.empty() ? fmt::format("{}\n", mark) : fmt::format("{} {}\n", mark, line);
  }
}

}  // namespace

SpecFile ReadSpec(const std::filesystem::path& path) {
  SpecFile spec;
  spec.path = path;
  spec.lines = Split(ReadFile(path), '\n');
  if (!spec.lines.empty() && spec.lines.back().empty()) spec.lines.pop_back();
  Parser(spec).Run();
  return spec;
}

bool LinesMatch(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  return MatchFrom(expected, 0, found, 0);
}

void UpdateSpec(const SpecFile& spec, const std::vector<Printed>& printed) {
  std::map<int, std::string> after;  // line number -> text that follows it
  std::map<int, bool> dropped;
  for (const Printed& one : printed) {
    std::string& text = after[one.command->line];
    AddLines(text, ">", one.out);
    for (const int line : one.command->out_lines) dropped[line] = true;
    if (!one.command->checks_err) continue;
    AddLines(text, "!>", one.err);
    for (const int line : one.command->err_lines) dropped[line] = true;
  }
  std::string text;
  for (size_t i = 0; i < spec.lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (!dropped.contains(number)) text += spec.lines[i] + "\n";
    if (const auto added = after.find(number); added != after.end()) text += added->second;
  }
  WriteFileAtomically(spec.path, text);
}

}  // namespace perfgate::spec
