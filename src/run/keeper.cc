#include "run/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace perfgate {

int64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

namespace {

struct ExecFailure {
  ExecStage stage;
  int32_t error;
};

void OnChildSignal(int) {}  // its delivery ends ppoll

[[noreturn]] void FailExec(ExecStage stage, int error_fd) {
  const ExecFailure failure{stage, errno};
  // If this cannot be written the keeper sees exit code 127 instead.
  [[maybe_unused]] const ssize_t written = ::write(error_fd, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void Exec(const ExecPlan& plan, pid_t keeper, int error_fd) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(plan.stdin_fd, 0) < 0 || ::dup2(plan.stdout_fd, 1) < 0 ||
      ::dup2(plan.stderr_fd, 2) < 0) {
    FailExec(ExecStage::kStreams, error_fd);
  }
  if (::chdir(plan.cwd) != 0) FailExec(ExecStage::kFolder, error_fd);
  ::execve(plan.program, plan.argv, plan.environment);
  FailExec(ExecStage::kProgram, error_fd);
}

// SIGKILL to each process whose parent is this one. False if the system does not list them.
bool KillChildren() {
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char buffer[4096];
  pid_t pid = 0;
  ssize_t got = 0;
  while ((got = ::read(file, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        pid = pid * 10 + (buffer[i] - '0');
      } else if (pid > 1) {
        ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  ::close(file);
  return true;
}

// Ends what the program left behind. Orphans arrive here one generation after the other. Gives up
// after five seconds on what the kernel does not let die.
void EndOrphans() {
  for (int round = 0; round < 500; ++round) {
    const bool listed = KillChildren();
    pid_t pid = 0;
    while ((pid = ::wait4(-1, nullptr, WNOHANG, nullptr)) > 0) {
    }
    if (pid < 0 || !listed) return;
    ::poll(nullptr, 0, round < 20 ? 1 : 10);
  }
}

class Keeper {
 public:
  Keeper(const ExecPlan& plan, int socket) : plan_(plan), socket_(socket) {}

  KeeperReport Run() {
    KeeperReport report;
    int error_pipe[2];
    const pid_t self = ::getpid();
    const int64_t start_ns = NowNs();
    if (::pipe2(error_pipe, O_CLOEXEC) != 0 || (child_ = ::fork()) < 0) {
      report.failed = ExecStage::kFork;
      report.error = errno;
      return report;
    }
    if (child_ == 0) Exec(plan_, self, error_pipe[1]);
    ::setpgid(child_, child_);  // here too: whoever comes first
    for (const int fd : {error_pipe[1], plan_.stdin_fd, plan_.stdout_fd, plan_.stderr_fd}) {
      ::close(fd);
    }
    ExecFailure failure{};
    if (::read(error_pipe[0], &failure, sizeof failure) == sizeof failure) {
      report.failed = failure.stage;
      report.error = failure.error;
    }
    WaitForEnd();
    report.wall_ns = NowNs() - start_ns;
    // The program is dead but not yet collected, so its group's number cannot belong to others.
    ::kill(-child_, SIGKILL);
    rusage usage{};
    ::wait4(child_, &report.wait_status, 0, &usage);
    report.peak_rss_bytes = int64_t{usage.ru_maxrss} * 1024;
    EndOrphans();
    return report;
  }

 private:
  bool HasEnded() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child_;
  }

  // SIGCHLD is blocked but within ppoll, so that none is missed between the question and the wait.
  void WaitForEnd() const {
    sigset_t none;
    ::sigemptyset(&none);
    pollfd control{socket_, POLLIN, 0};
    while (!HasEnded()) {
      if (::ppoll(&control, 1, nullptr, &none) <= 0) continue;
      char order = kEndNow;
      if (::read(socket_, &order, 1) <= 0) order = kEndNow;
      ::kill(-child_, order == kAskToEnd ? SIGTERM : SIGKILL);
      if (order == kAskToEnd) continue;
      ::kill(child_, SIGKILL);
      control.fd = -1;  // all is said
    }
  }

  const ExecPlan& plan_;
  int socket_;
  pid_t child_ = -1;
};

}  // namespace

void Keep(const ExecPlan& plan, int socket) {
  for (const int fd : plan.perfgate_fds) ::close(fd);
  ::setpgid(0, 0);  // Ctrl-C at the terminal is for perfgate alone, which then tells this process
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = OnChildSignal;
  ::sigaction(SIGCHLD, &action, nullptr);
  sigset_t child_signal;
  ::sigemptyset(&child_signal);
  ::sigaddset(&child_signal, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child_signal, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const KeeperReport report = Keeper(plan, socket).Run();
  ::send(socket, &report, sizeof report, MSG_NOSIGNAL);
  ::_exit(0);
}

}  // namespace perfgate
