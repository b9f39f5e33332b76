// The world as it is.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "run/child.h"
#include "run/keeper.h"
#include "run/machine.h"
#include "run/run.h"

namespace perfgate {
namespace {

constexpr int64_t kGitTimeoutNs = 20'000'000'000;

// What the signal handler may touch.
std::atomic<int> caught_signal{0};
int wake_pipe[2] = {-1, -1};  // becomes readable at a signal, for good

void OnSignal(int signal) {
  const int saved = errno;
  caught_signal.store(signal);
  [[maybe_unused]] const ssize_t written = ::write(wake_pipe[1], "", 1);
  errno = saved;
}

// The first signal asks to finish; a second one of the same kind ends perfgate as ever. What is
// ignored from outside (nohup) stays so.
void CatchSignal(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// Pipes must not get the numbers of streams that were closed from outside.
void OpenStandardStreams() {
  int fd = 0;
  while ((fd = ::open("/dev/null", O_RDWR)) >= 0 && fd <= 2) {
  }
  if (fd > 2) ::close(fd);
}

class TheRealWorld : public World {
 public:
  TheRealWorld() {
    OpenStandardStreams();
    if (::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
      throw Error(Fault::kEnvironment, "cannot make a pipe: too many open files");
    }
    CatchSignal(SIGINT);
    CatchSignal(SIGTERM);
    ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of write, to be said, not death
  }

  std::string UtcNow() override {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
  }

  int64_t MonotonicNs() override { return NowNs(); }

  uint64_t RandomSeed() override { return RandomBits(); }

  std::map<std::string, std::string> Machine() override { return MachineFacts(); }

  AttemptResult RunProcess(const Process& process) override {
    ChildEnd end = Run(process);
    if (!process.stdout_file.empty()) WriteFileAtomically(process.stdout_file, end.stdout_text);
    if (!process.stderr_file.empty()) WriteFileAtomically(process.stderr_file, end.stderr_text);
    return std::move(end.result);
  }

  int Interrupted() override { return caught_signal.load(); }

  void SleepFor(int64_t ns) override {
    const int64_t end_ns = NowNs() + ns;
    for (int64_t left_ns = ns; left_ns > 0 && Interrupted() == 0; left_ns = end_ns - NowNs()) {
      pollfd wake{wake_pipe[0], POLLIN, 0};
      ::poll(&wake, 1, static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, 60'000)));
    }
  }

  std::string Getenv(const std::string& name) override {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
  }

  std::string SystemFile(const std::string& path) override {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::vector<std::string> SystemFolder(const std::string& path) override {
    std::vector<std::string> names;
    std::error_code error;  // a folder that is not there has no names
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::ostream& Out() override { return std::cout; }
  std::ostream& Err() override { return std::cerr; }
  bool OutIsTerminal() override { return ::isatty(1) == 1; }
  bool ErrIsTerminal() override { return ::isatty(2) == 1; }

  std::pair<std::string, bool> GitCommit(const std::filesystem::path& folder) override {
    const std::string commit = Git(folder, {"rev-parse", "--verify", "-q", "HEAD"});
    if (commit.empty()) return {"", false};
    // Files that git does not know are no change: the out folder is one.
    const std::string changes = Git(folder, {"status", "--porcelain", "--untracked-files=no"});
    return {commit, !changes.empty()};
  }

  std::string GitBranch(const std::filesystem::path& folder) override {
    return Git(folder, {"symbolic-ref", "-q", "--short", "HEAD"});
  }

 private:
  static ChildEnd Run(const Process& process) {
    if (caught_signal.load() == 0) {
      return RunChild(process, wake_pipe[0], [] { return caught_signal.load(); });
    }
    ChildEnd end;
    end.result.outcome = Outcome::kInterrupted;
    end.result.fault = "interrupted";
    return end;
  }

  // What git prints, "" if there is no git or no repository.
  static std::string Git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    Process git;
    git.argv = {"git"};
    git.argv.insert(git.argv.end(), arguments.begin(), arguments.end());
    git.cwd = folder;
    git.environment = {{"GIT_OPTIONAL_LOCKS", "0"}};
    git.timeout_ns = kGitTimeoutNs;
    const ChildEnd end = Run(git);
    return end.result.fault.empty() ? std::string(Trim(end.stdout_text)) : "";
  }
};

}  // namespace

World& RealWorld() {
  static TheRealWorld world;
  return world;
}

}  // namespace perfgate
