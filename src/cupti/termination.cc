#include "cupti/termination.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cupti/wakeup.h"

namespace perfgate::cupti {
namespace {

// What the handler may touch.
std::atomic<int> watching_fd{-1};
std::atomic<pid_t> watching_pid{0};
std::atomic<bool> asked{false};

void EndByDefault() {
  struct sigaction ours {};
  ours.sa_handler = SIG_DFL;
  ::sigaction(SIGTERM, &ours, nullptr);
  ::kill(::getpid(), SIGTERM);
}

// A forked child has the handler, but nobody who would answer it.
void OnTermination(int) {
  if (::getpid() != watching_pid.load()) return EndByDefault();
  asked.store(true);
  Wakeup::Wake(watching_fd.load());
}

}  // namespace

void WatchTermination(int wake_fd) {
  struct sigaction found {};
  if (::sigaction(SIGTERM, nullptr, &found) != 0 || found.sa_handler != SIG_DFL) return;
  watching_fd.store(wake_fd);
  watching_pid.store(::getpid());
  struct sigaction ours {};
  ours.sa_handler = OnTermination;
  ours.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &ours, nullptr);
}

bool TerminationAsked() { return asked.load(); }

void UnwatchTermination() {
  struct sigaction found {};
  if (::sigaction(SIGTERM, nullptr, &found) != 0 || found.sa_handler != OnTermination) return;
  found = {};
  found.sa_handler = SIG_DFL;
  ::sigaction(SIGTERM, &found, nullptr);
}

void Terminate() { EndByDefault(); }

}  // namespace perfgate::cupti
