// `profiler: instructions`: the tool that counts what a command executes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/run.h"

namespace perfgate {

// What mends it where nothing counts.
inline constexpr const char* kInstallCounter = "sudo apt-get install valgrind";

struct InstructionCounter {
  enum class Tool { kPerf, kCallgrind } tool = Tool::kPerf;
  std::string why;    // there is no better one; "" for perf
  std::string fault;  // why there is none; "" if there is
};

// perf, where the machine's counter works (a container or a virtual machine may have none), else
// valgrind. Throws Error(kEnvironment) if the folder for temporary files cannot be written.
InstructionCounter FindInstructionCounter(World& world);

// The command under the tool, whose file in `dir` CollectAttempt reads.
std::vector<std::string> CountingCommand(const InstructionCounter& counter,
                                         const std::vector<std::string>& argv,
                                         const std::filesystem::path& dir);

}  // namespace perfgate
