#include "run/instructions.h"

#include <fmt/format.h>

#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kAnswerWithinNs = 10'000'000'000;

struct Reaction {
  AttemptResult result;
  std::string text;  // of standard output
};

Reaction Ask(std::vector<std::string> argv, const fs::path& folder, World& world) {
  Process process;
  process.argv = std::move(argv);
  process.cwd = folder;
  process.timeout_ns = kAnswerWithinNs;
  process.stdout_file = folder / "stdout.txt";
  std::error_code error;
  fs::remove(process.stdout_file, error);
  Reaction answer;
  answer.result = world.RunProcess(process);
  if (fs::exists(process.stdout_file, error)) answer.text = ReadFile(process.stdout_file);
  return answer;
}

// "" if the counter of this machine counts.
std::string WhyNoPerf(const fs::path& folder, World& world) {
  const Reaction answer =
      Ask({"perf", "stat", "-x,", "-e", "instructions:u", "--log-fd", "1", "--", "true"}, folder,
          world);
  if (answer.result.outcome == Outcome::kNotStarted) return "perf is not on PATH";
  if (CountOfPerfStat(answer.text)) return "";
  const std::string_view said = Trim(answer.text.empty() ? answer.result.stderr_tail : answer.text);
  return fmt::format("this machine counts no instructions for perf ({})",
                     Printable(said.substr(0, said.find('\n'))));
}

}  // namespace

InstructionCounter FindInstructionCounter(const fs::path& folder, World& world) {
  InstructionCounter counter;
  counter.why = WhyNoPerf(folder, world);
  if (counter.why.empty()) return counter;
  counter.tool = InstructionCounter::Tool::kCallgrind;
  const Reaction answer = Ask({"valgrind", "--version"}, folder, world);
  if (answer.result.outcome == Outcome::kNotStarted) {
    counter.fault = fmt::format("{}, and valgrind is not on PATH", counter.why);
  } else if (!answer.result.fault.empty()) {
    counter.fault = fmt::format("{}, and valgrind --version: {}", counter.why, answer.result.fault);
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
