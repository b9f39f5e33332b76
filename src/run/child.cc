#include "run/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "run/keeper.h"
#include "run/program.h"

extern char** environ;

namespace perfgate {
namespace {

constexpr size_t kKeptBytes = size_t{64} << 10;  // of each stream
constexpr size_t kTailBytes = size_t{4} << 10;   // of stderr, in the result
constexpr int64_t kGraceNs = 2'000'000'000;      // from SIGTERM to SIGKILL
constexpr int64_t kGiveUpNs = 10'000'000'000;    // from SIGKILL on
constexpr int64_t kNever = INT64_MAX;

class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  ~OwnedFd() { Close(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

[[noreturn]] void ThrowErrno(std::string_view what) {
  throw Error(Fault::kEnvironment,
              fmt::format("cannot start a process: {}: {}", what, std::strerror(errno)));
}

// Keeps the last kKeptBytes of what comes out of a pipe, however much that is.
class Tail {
 public:
  explicit Tail(OwnedFd fd) : fd_(std::move(fd)) { ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK); }

  int fd() const { return fd_.get(); }

  // Reads what is there now. Bounded, so that a flood does not keep perfgate from its clock.
  void Read() {
    std::array<char, 1 << 16> buffer;
    for (int i = 0; i < 16 && fd_.get() >= 0; ++i) {
      const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
      if (got < 0) return;
      if (got == 0) return fd_.Close();
      text_.append(buffer.data(), static_cast<size_t>(got));
      if (text_.size() > 2 * kKeptBytes) Trim();
    }
  }

  std::string Take() {
    Trim();
    if (left_out_ == 0) return std::move(text_);
    return fmt::format("[perfgate: {} bytes before this were not kept]\n", left_out_) + text_;
  }

 private:
  void Trim() {
    if (text_.size() <= kKeptBytes) return;
    left_out_ += text_.size() - kKeptBytes;
    text_.erase(0, text_.size() - kKeptBytes);
  }

  OwnedFd fd_;
  std::string text_;
  size_t left_out_ = 0;
};

std::pair<OwnedFd, OwnedFd> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) ThrowErrno("pipe");
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

// The parent's environment with `added` over it, as NAME=VALUE.
std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

std::string SearchPath(const std::map<std::string, std::string>& added) {
  const auto found = added.find("PATH");
  if (found != added.end()) return found->second;
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

ChildEnd NotStarted(std::string fault) {
  ChildEnd end;
  end.result.outcome = Outcome::kNotStarted;
  end.result.fault = std::move(fault);
  return end;
}

// The last lines of at most kTailBytes, from the start of a line where there is one.
std::string LastLines(const std::string& text) {
  if (text.size() <= kTailBytes) return text;
  const std::string tail = text.substr(text.size() - kTailBytes);
  const size_t line = tail.find('\n');
  return line == std::string::npos || line + 1 == tail.size() ? tail : tail.substr(line + 1);
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

// Talks with the keeper of one program until that program has ended.
class Watch {
 public:
  Watch(const Process& process, OwnedFd socket, OwnedFd out, OwnedFd err)
      : timeout_ns_(process.timeout_ns),
        socket_(std::move(socket)),
        out_(std::move(out)),
        err_(std::move(err)) {}

  // False if the keeper never said how it ended.
  bool UntilEnd(int wake_fd, const std::function<int()>& interrupted) {
    next_step_ns_ = timeout_ns_ > 0 ? NowNs() + timeout_ns_ : kNever;
    while (true) {
      std::array<pollfd, 4> fds{{{socket_.get(), POLLIN, 0},
                                 {out_.fd(), POLLIN, 0},
                                 {err_.fd(), POLLIN, 0},
                                 {ending_ == Outcome::kExited ? wake_fd : -1, POLLIN, 0}}};
      ::poll(fds.data(), fds.size(), MillisecondsToStep());
      out_.Read();
      err_.Read();
      if (fds[0].revents != 0) return ReadReport();
      if (fds[3].revents != 0 && interrupted() != 0) End(Outcome::kInterrupted);
      if (NowNs() >= next_step_ns_ && !Step()) return false;
    }
  }

  Outcome ending() const { return ending_; }
  const KeeperReport& report() const { return report_; }
  std::string TakeOut() { return out_.Take(); }
  std::string TakeErr() { return err_.Take(); }

 private:
  bool ReadReport() {
    const ssize_t got = ::recv(socket_.get(), &report_, sizeof report_, MSG_WAITALL);
    out_.Read();
    err_.Read();
    return got == sizeof report_;
  }

  void End(Outcome why) {
    ending_ = why;
    Say(kAskToEnd);
    next_step_ns_ = NowNs() + kGraceNs;
  }

  // Time is up: the next harder word. False if nothing helps.
  bool Step() {
    if (ending_ == Outcome::kExited) {
      End(Outcome::kTimedOut);
    } else if (!killed_) {
      killed_ = true;
      Say(kEndNow);
      next_step_ns_ = NowNs() + kGiveUpNs;
    } else {
      return false;
    }
    return true;
  }

  void Say(char word) { ::send(socket_.get(), &word, 1, MSG_NOSIGNAL); }

  int MillisecondsToStep() const {
    if (next_step_ns_ == kNever) return -1;
    const int64_t left_ns = std::max<int64_t>(0, next_step_ns_ - NowNs());
    return static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, INT_MAX));
  }

  int64_t timeout_ns_;
  OwnedFd socket_;
  Tail out_, err_;
  Outcome ending_ = Outcome::kExited;  // why perfgate ends it; kExited: it does not
  bool killed_ = false;
  int64_t next_step_ns_ = kNever;
  KeeperReport report_;
};

std::string ExitFault(int exit_code) {
  return exit_code == 0 ? "" : fmt::format("exit code {}", exit_code);
}

std::string SignalFault(int signal) {
  return fmt::format("killed by {}{}", SignalName(signal),
                     signal == SIGKILL ? " (by the system, if memory ran out)" : "");
}

AttemptResult ResultOf(const Process& process, const Watch& watch, const std::string& program) {
  const KeeperReport& report = watch.report();
  AttemptResult result;
  result.wall_ns = report.wall_ns;
  result.peak_rss_bytes = report.peak_rss_bytes;
  result.outcome = watch.ending();
  if (watch.ending() == Outcome::kTimedOut) {
    result.fault =
        fmt::format("timed out after {}",
                    FormatValue(static_cast<double>(process.timeout_ns), Unit::kNanoseconds));
  } else if (watch.ending() == Outcome::kInterrupted) {
    result.fault = "interrupted";
  } else if (report.failed != ExecStage::kRan) {
    result.outcome = Outcome::kNotStarted;
    result.fault = report.failed == ExecStage::kProgram
                       ? WhyNotRun(program, report.error)
                       : fmt::format("cannot start {} in {}: {}", program, process.cwd.string(),
                                     std::strerror(report.error));
  } else if (WIFSIGNALED(report.wait_status)) {
    result.outcome = Outcome::kSignalled;
    result.signal = WTERMSIG(report.wait_status);
    result.fault = SignalFault(result.signal);
  } else {
    result.exit_code = WEXITSTATUS(report.wait_status);
    result.fault = ExitFault(result.exit_code);
  }
  return result;
}

// Forks the keeper; the returned watch holds perfgate's ends of all pipes.
std::pair<pid_t, Watch> StartKeeper(const Process& process, const std::string& program,
                                    const std::string& cwd) {
  std::vector<std::string> argv = process.argv;
  std::vector<std::string> environment = Environment(process.environment);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> environment_pointers = Pointers(environment);
  auto [out, out_write] = MakePipe();
  auto [err, err_write] = MakePipe();
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) ThrowErrno("socketpair");
  OwnedFd socket(sockets[0]), keeper_socket(sockets[1]);
  const OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.get() < 0) ThrowErrno("/dev/null");
  const ExecPlan plan{program.c_str(),
                      argv_pointers.data(),
                      environment_pointers.data(),
                      cwd.c_str(),
                      null.get(),
                      out_write.get(),
                      err_write.get(),
                      {out.get(), err.get(), socket.get()}};
  const pid_t keeper = ::fork();
  if (keeper < 0) ThrowErrno("fork");
  if (keeper == 0) Keep(plan, keeper_socket.get());
  return {keeper, Watch(process, std::move(socket), std::move(out), std::move(err))};
}

}  // namespace

ChildEnd RunChild(const Process& process, int wake_fd, const std::function<int()>& interrupted) {
  if (process.argv.empty()) return NotStarted("program not found: the command is empty");
  const std::string cwd = process.cwd.empty() ? "." : process.cwd.string();
  std::error_code error;
  if (!std::filesystem::is_directory(cwd, error)) return NotStarted("folder not found: " + cwd);
  const FoundProgram program = FindProgram(process.argv[0], std::filesystem::absolute(cwd, error),
                                           SearchPath(process.environment));
  if (!program.fault.empty()) return NotStarted(program.fault);

  auto [keeper, watch] = StartKeeper(process, program.path, cwd);
  const bool said = watch.UntilEnd(wake_fd, interrupted);
  ChildEnd end;
  if (said) {
    end.result = ResultOf(process, watch, program.path);
    while (::waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
    }
  } else {
    // Killed by someone else, or the program is in the kernel and does not die.
    ::kill(keeper, SIGKILL);
    ::waitpid(keeper, nullptr, 0);
    end.result.outcome = watch.ending() == Outcome::kExited ? Outcome::kSignalled : watch.ending();
    end.result.signal = SIGKILL;
    end.result.fault = "lost: its keeper process did not say how it ended";
  }
  end.stdout_text = watch.TakeOut();
  end.stderr_text = watch.TakeErr();
  end.result.stderr_tail = LastLines(end.stderr_text);
  return end;
}

}  // namespace perfgate
