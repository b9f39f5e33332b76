// The process that stands between perfgate and a program. See child.h.
#pragma once

#include <array>
#include <cstdint>

namespace perfgate {

// All that the forked processes need, made before the fork: after it no memory may be allocated.
struct ExecPlan {
  const char* program;  // path
  char* const* argv;
  char* const* environment;
  const char* cwd;
  int stdin_fd, stdout_fd, stderr_fd;
  std::array<int, 3> perfgate_fds;  // perfgate's ends, closed in the keeper: else it would never
                                    // see perfgate's end
};

enum class ExecStage : int32_t { kRan, kFork, kStreams, kFolder, kProgram };

// What the keeper says in the end, over its socket.
struct KeeperReport {
  ExecStage failed = ExecStage::kRan;  // where the start failed
  int32_t error = 0;                   // errno then
  int32_t wait_status = 0;
  int64_t wall_ns = 0;
  int64_t peak_rss_bytes = 0;
};

// What perfgate may say to the keeper: one byte each. The end of the stream (perfgate is gone)
// means kEndNow.
inline constexpr char kAskToEnd = 'T';  // SIGTERM to the program's process group
inline constexpr char kEndNow = 'K';    // SIGKILL to all

// The monotonic clock. Safe after a fork.
int64_t NowNs();

// Called in the forked process. Calls only what is safe after a fork.
[[noreturn]] void Keep(const ExecPlan& plan, int socket);

}  // namespace perfgate
