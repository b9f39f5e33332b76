#include "run/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsExecutable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

FoundProgram FindByPath(const std::string& name, const fs::path& cwd) {
  const fs::path path = cwd / name;
  std::error_code error;
  if (!fs::exists(path, error)) return {"", "program not found: " + name};
  if (!IsFile(path)) return {"", "not a program: " + name};
  if (!IsExecutable(path)) return {"", fmt::format("not executable: {0} (chmod +x {0})", name)};
  return {path.string(), ""};
}

// "/usr/bin/env" of a script that begins with "#!/usr/bin/env python3"; "" if it is no script.
std::string Interpreter(const std::string& path) {
  std::string line(256, '\0');
  std::ifstream file(path);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  const std::string first(Trim(line.substr(2, line.find('\n') - 2)));
  return first.substr(0, first.find(' '));
}

}  // namespace

FoundProgram FindProgram(const std::string& name, const fs::path& cwd,
                         const std::string& search_path) {
  if (name.empty()) return {"", "program not found: the command is empty"};
  if (name.find('/') != std::string::npos) return FindByPath(name, cwd);
  bool seen = false;
  for (const std::string& folder : Split(search_path, ':')) {
    const fs::path path = cwd / folder / name;
    if (!IsFile(path)) continue;
    if (IsExecutable(path)) return {path.string(), ""};
    seen = true;
  }
  if (seen) return {"", fmt::format("not executable: {} (found on PATH)", name)};
  const bool here = IsFile(cwd / name);
  return {"", fmt::format("program not found: {}{}", name,
                          here ? fmt::format(" (not on PATH; did you mean ./{}?)", name)
                               : " (not on PATH)")};
}

std::string WhyNotRun(const std::string& path, int error) {
  const std::string interpreter = Interpreter(path);
  if (error == ENOENT && !interpreter.empty()) {
    return fmt::format("bad interpreter: {} asks for {}, which is missing", path, interpreter);
  }
  if (error == ENOENT) return fmt::format("bad interpreter: the loader of {} is missing", path);
  if (error == ENOEXEC) {
    return fmt::format("not a program of this machine: {} (a script begins with #!)", path);
  }
  if (error == EACCES && !interpreter.empty()) {
    return fmt::format("not executable: {} or its interpreter {}", path, interpreter);
  }
  return fmt::format("cannot run {}: {}", path, std::strerror(error));
}

}  // namespace perfgate
