// Wakes one waiting thread, also from a signal handler.
#pragma once

namespace perfgate::cupti {

class Wakeup {
 public:
  Wakeup();  // fd() is -1 if the process has no descriptor left
  int fd() const { return fd_; }
  // Async-signal-safe.
  static void Wake(int fd);
  void Wake() const { Wake(fd_); }
  // Until woken, or for this long at most.
  void Wait(int milliseconds) const;

 private:
  int fd_;
};

}  // namespace perfgate::cupti
