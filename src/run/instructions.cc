#include "run/instructions.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/ask.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kAnswerWithinNs = 10'000'000'000;

// "" if the counter of this machine counts.
std::string WhyNoPerf(World& world) {
  const Response response =
      Ask({"perf", "stat", "-x,", "-e", "instructions:u", "--log-fd", "1", "--", "true"},
          kAnswerWithinNs, world);
  if (!response.started()) return "perf is not on PATH";
  if (CountOfPerfStat(response.text)) return "";
  const std::string_view said =
      Trim(response.text.empty() ? response.result.stderr_tail : response.text);
  return fmt::format("this machine counts no instructions for perf ({})",
                     Printable(said.substr(0, said.find('\n'))));
}

}  // namespace

InstructionCounter FindInstructionCounter(World& world) {
  InstructionCounter counter;
  counter.why = WhyNoPerf(world);
  if (counter.why.empty()) return counter;
  counter.tool = InstructionCounter::Tool::kCallgrind;
  const Response response = Ask({"valgrind", "--version"}, kAnswerWithinNs, world);
  if (!response.started()) {
    counter.fault = fmt::format("{}, and valgrind is not on PATH", counter.why);
  } else if (!response.result.fault.empty()) {
    counter.fault =
        fmt::format("{}, and valgrind --version: {}", counter.why, response.result.fault);
  }
  return counter;
}

std::vector<std::string> CountingCommand(const InstructionCounter& counter,
                                         const std::vector<std::string>& argv,
                                         const fs::path& dir) {
  std::vector<std::string> command;
  if (counter.tool == InstructionCounter::Tool::kPerf) {
    command = {"perf", "stat", "-x,", "-e", "instructions:u", "-o", (dir / kPerfStatFile).string(),
               "--"};
  } else {
    // valgrind takes %p for the process' number, and %% for a percent sign.
    std::string file;
    for (const char c : (dir / kCallgrindFile).string())
      file += c == '%' ? "%%" : std::string(1, c);
    command = {"valgrind", "-q", "--tool=callgrind", "--trace-children=yes",
               fmt::format("--callgrind-out-file={}.%p", file)};
  }
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

}  // namespace perfgate
