#include "cupti/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cupti/json_line.h"

namespace perfgate::cupti {
namespace {

constexpr size_t kFlushBytes = size_t{256} << 10;

int CreateNew(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

std::string Pid() { return std::to_string(::getpid()); }

// Writes all of it; errno on failure, else 0.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

TraceFile::~TraceFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::string TraceFile::Create(const Config& config) {
  const std::string stem =
      config.folder + "/trace" + (config.rank < 0 ? "" : "-rank" + std::to_string(config.rank));
  path_ = stem + ".json";
  fd_ = CreateNew(path_);
  if (fd_ < 0 && errno == EEXIST) {
    path_ = stem + "-pid" + Pid() + ".json";
    fd_ = CreateNew(path_);
  }
  if (fd_ < 0) error_ = "cannot create " + path_ + ": " + std::strerror(errno);
  return error_;
}

void TraceFile::Begin(std::string_view keys) {
  Put("{\"schemaVersion\":1,\n");
  Put(keys);
  Put("\"traceEvents\":[\n");
  Flush();
}

void TraceFile::Event(std::string_view object) {
  if (events_++ > 0) Put(",\n");
  Put(object);
}

void TraceFile::End(std::string_view keys, const Ending& ending) {
  Flush();
  if (fd_ >= 0) events_end_ = ::lseek(fd_, 0, SEEK_CUR);
  JsonLine footer;
  footer.Raw("\n],\n").Raw(keys).Raw("\"perfgate_footer\":{\"records\":").Number(events_);
  footer.Raw(",\"dropped\":").Number(ending.dropped);
  footer.Raw(",\"drain_ns\":").Number(ending.drain_ns);
  if (!ending.fault.empty()) footer.Raw(",\"fault\":").Raw(Quoted(ending.fault));
  footer.Raw("}}\n");
  Put(footer.text());
  Flush();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void TraceFile::EndAnew(std::string_view keys, const Ending& ending) {
  if (path_.empty() || events_end_ <= 0) return;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0 || ::ftruncate(fd_, events_end_) != 0 || ::lseek(fd_, 0, SEEK_END) < 0) {
    error_ = "cannot write " + path_ + ": " + std::strerror(errno);
    return Remove();
  }
  End(keys, ending);
}

void TraceFile::Remove() { ::unlink(path_.c_str()); }

void TraceFile::Put(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kFlushBytes) Flush();
}

void TraceFile::Flush() {
  const int error = fd_ < 0 || !error_.empty() ? 0 : WriteAll(fd_, buffer_);
  if (error != 0) error_ = "cannot write " + path_ + ": " + std::strerror(error);
  buffer_.clear();
}

void WriteNoTrace(const Config& config, std::string_view reason) {
  const int fd = CreateNew(config.folder + "/no-trace-pid" + Pid() + ".txt");
  if (fd < 0) return;
  WriteAll(fd, std::string(reason) + "\n");
  ::close(fd);
}

}  // namespace perfgate::cupti
