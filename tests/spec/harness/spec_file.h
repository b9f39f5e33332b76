// One .test file: a title, sections that put files and programs in place, and commands with what
// they are expected to print and to exit with (docs/testing.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace perfgate::spec {

// `--- file perfgate.yaml` and the lines below it.
struct Section {
  std::string kind;  // "file", "trace", "program", "use", "clock", ...
  std::string rest;  // what follows the kind on its line
  std::string text;  // the lines below, each ended; blank lines at the end are dropped
  int line = 0;
};

struct Command {
  std::vector<std::string> words;     // "perfgate", "diff", ...
  std::string pick;                   // after `| pick `; "" if there is none
  std::vector<std::string> out, err;  // expected lines
  bool checks_err = false;
  std::optional<int> exit;
  int line = 0;                           // from 1
  std::vector<int> out_lines, err_lines;  // where the expected lines stand
};

struct SpecFile {
  std::filesystem::path path;
  std::string title;
  std::vector<std::string> lines;
  std::vector<std::variant<Section, Command>> steps;
};

// Throws std::runtime_error with file and line for what is no spec.
SpecFile ReadSpec(const std::filesystem::path& path);

// True if `found` is what `expected` says; a line `...` stands for any number of lines.
bool LinesMatch(const std::vector<std::string>& expected, const std::vector<std::string>& found);

// What a command printed, for UpdateSpec.
struct Printed {
  const Command* command = nullptr;
  std::vector<std::string> out, err;
};

// Rewrites the expected lines of these commands in the file; everything else stays, `exit` too.
void UpdateSpec(const SpecFile& spec, const std::vector<Printed>& printed);

}  // namespace perfgate::spec
