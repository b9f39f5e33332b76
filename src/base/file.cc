#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace perfgate {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { Close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  int Close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

[[noreturn]] void ThrowErrno(Fault fault, std::string_view what,
                             const std::filesystem::path& path) {
  const int code = errno;
  throw Error(fault, fmt::format("{}: {}: {}", path.string(), what, std::strerror(code)));
}

bool WriteAll(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::string ReadFile(const std::filesystem::path& path, int64_t at_most_bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) ThrowErrno(Fault::kInput, "cannot open", path);
  std::string contents;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowErrno(Fault::kInput, "cannot read", path);
    if (got == 0) return contents;
    contents.append(buffer, static_cast<size_t>(got));
    if (static_cast<int64_t>(contents.size()) > at_most_bytes) {
      throw Error(Fault::kInput,
                  fmt::format("{}: larger than {} bytes, refused", path.string(), at_most_bytes));
    }
  }
}

std::string WhyNotInside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return error == std::errc::no_such_file_or_directory ? "is missing" : error.message();
  const std::filesystem::path root = std::filesystem::canonical(folder, error);
  if (error) return error.message();
  const auto [left, right] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (left != root.end() || right == real.end()) return "is a link that leads out of the folder";
  return std::filesystem::is_regular_file(real, error) ? "" : "is not a regular file";
}

void WriteFileAtomically(const std::filesystem::path& path, std::string_view contents) {
  const std::filesystem::path temporary =
      path.string() + fmt::format(".tmp-{}", static_cast<long>(::getpid()));
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) ThrowErrno(Fault::kEnvironment, "cannot write", path);
  const bool written =
      WriteAll(file.get(), contents) && ::fsync(file.get()) == 0 && file.Close() == 0;
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    errno = code;
    ThrowErrno(Fault::kEnvironment, "cannot write", path);
  }
}

}  // namespace perfgate
