#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.h"
#include "run/run.h"

namespace perfgate {
namespace {

Attempt AttemptOf(const Case& declared, int process) {
  Attempt attempt;
  attempt.case_name = declared.name;
  attempt.process = process;
  attempt.phase = PhaseOfFirst(declared);
  attempt.dir = std::filesystem::path("attempts") / Slug(declared.name) /
                fmt::format("{}-{}", ToString(attempt.phase), process);
  return attempt;
}

}  // namespace

int ProcessesOf(const Case& declared) {
  if (!declared.trace.empty()) return 1;
  const int processes = std::max(1, declared.windows.traced_processes);
  return declared.profiler == Profiler::kInstructions ? 2 * processes : processes;
}

Phase PhaseOfFirst(const Case& declared) {
  return declared.profiler == Profiler::kInstructions ? Phase::kTimed : Phase::kTraced;
}

std::vector<Attempt> Plan(const std::vector<Case>& cases, uint64_t /*seed*/) {
  int rounds = 0;
  for (const Case& declared : cases) rounds = std::max(rounds, ProcessesOf(declared));
  std::vector<Attempt> attempts;
  for (int round = 0; round < rounds; ++round) {
    for (const Case& declared : cases) {
      if (round < ProcessesOf(declared)) attempts.push_back(AttemptOf(declared, round));
    }
  }
  return attempts;
}

std::map<std::string, std::string> AttemptEnvironment(const Case& declared, const Attempt& attempt,
                                                      const std::filesystem::path& out_dir) {
  const Windows& windows = declared.windows;
  // How long a warm-up goes on until times are steady is another number each time.
  const bool until_steady =
      windows.warmup_until_steady && declared.profiler != Profiler::kInstructions;
  const std::filesystem::path folder = std::filesystem::absolute(out_dir) / attempt.dir;
  return {
      {"PERFGATE_ATTEMPT_DIR", folder.lexically_normal().string()},
      {"PERFGATE_PHASE", std::string(ToString(attempt.phase))},
      {"PERFGATE_SIDE", std::string(ToString(attempt.side))},
      {"PERFGATE_WARMUP", fmt::format("{}", windows.warmup_iterations)},
      {"PERFGATE_WARMUP_UNTIL_STEADY", until_steady ? "1" : "0"},
      {"PERFGATE_WARMUP_AT_MOST_NS", fmt::format("{}", windows.warmup_at_most_ns)},
      {"PERFGATE_ITERATIONS", fmt::format("{}", TimedIterationsOf(declared, attempt))},
      {"PERFGATE_TRACED_ITERATIONS", fmt::format("{}", windows.traced_iterations)},
      {"PERFGATE_DEVICE", declared.device},
      {"PERFGATE_THREADS", fmt::format("{}", declared.threads)},
      // Always set: one that perfgate itself was started with must not reach a workload.
      // The base stays as it is.
      {"PERFGATE_PLANT", attempt.side == Side::kHead ? declared.plant : ""},
  };
}

}  // namespace perfgate
