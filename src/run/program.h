// Finding a program as the shell would, and saying why it cannot be run.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate {

struct FoundProgram {
  std::string path;   // "" if there is none
  std::string fault;  // why: "program not found: bench/decode.py"
};

// A name with a slash is relative to `cwd`; without one it is looked for in `search_path`, folders
// with colons between them.
FoundProgram FindProgram(const std::string& name, const std::filesystem::path& cwd,
                         const std::string& search_path);

// Why execve failed on a program that FindProgram found.
std::string WhyNotRun(const std::string& path, int error);

}  // namespace perfgate
