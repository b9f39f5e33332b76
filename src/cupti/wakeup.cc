#include "cupti/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace perfgate::cupti {

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Wakeup::Wake(int fd) {
  const int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
  errno = saved;
}

void Wakeup::Wait(int milliseconds) const {
  pollfd waiting{fd_, POLLIN, 0};
  if (::poll(&waiting, 1, milliseconds) <= 0) return;
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(fd_, &count, sizeof count);
}

}  // namespace perfgate::cupti
