#include "trace/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perfgate {
namespace {

constexpr size_t kInputBytes = size_t{1} << 16;

std::string CannotOpen(int code) {
  return fmt::format("cannot be opened: {}", std::strerror(code));
}

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& path) : input_(kInputBytes) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    fault_ = CannotOpen(errno);
    return;
  }
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || S_ISDIR(status.st_mode)) {
    ::close(fd_);
    fd_ = -1;
    fault_ = CannotOpen(EISDIR);
    return;
  }
  // Opened without blocking, so that a named pipe without a writer is an empty file and no hang.
  ::fcntl(fd_, F_SETFL, 0);
  FillInput();
  compressed_ = input_end_ >= 2 && input_[0] == 0x1F && input_[1] == 0x8B;
}

ByteSource::~ByteSource() {
  if (in_member_) inflateEnd(zlib_.get());
  if (fd_ >= 0) ::close(fd_);
}

void ByteSource::FillInput() {
  input_at_ = input_end_ = 0;
  while (!end_of_file_ && input_end_ == 0) {
    const ssize_t got = ::read(fd_, input_.data(), input_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fault_ = fmt::format("cannot read: {}", std::strerror(errno));
    if (got <= 0) {
      end_of_file_ = true;
      return;
    }
    input_end_ = static_cast<size_t>(got);
    file_bytes_ += got;
  }
}

size_t ByteSource::Read(char* buffer, size_t size) {
  size_t filled = 0;
  while (filled < size && fault_.empty()) {
    if (input_at_ == input_end_) FillInput();
    if (compressed_) {
      const size_t got = Inflate(buffer + filled, size - filled);
      if (got == 0 && (end_of_file_ || trailing_bytes_)) break;
      filled += got;
      continue;
    }
    if (input_at_ == input_end_) break;
    const size_t got = std::min(size - filled, input_end_ - input_at_);
    std::memcpy(buffer + filled, input_.data() + input_at_, got);
    input_at_ += got;
    filled += got;
  }
  return filled;
}

// A further member, or padding behind the last one.
bool ByteSource::StartMember() {
  if (input_at_ == input_end_) return false;
  if (file_bytes_ > static_cast<int64_t>(input_end_ - input_at_) && input_[input_at_] != 0x1F) {
    trailing_bytes_ = true;
    return false;
  }
  zlib_ = std::make_unique<z_stream>();
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(zlib_.get(), kGzipOnly) != Z_OK) {
    fault_ = "no memory for decompression";
    return false;
  }
  in_member_ = true;
  return true;
}

size_t ByteSource::Inflate(char* buffer, size_t size) {
  if (!in_member_ && !StartMember()) return 0;
  zlib_->next_in = input_.data() + input_at_;
  zlib_->avail_in = static_cast<uInt>(input_end_ - input_at_);
  zlib_->next_out = reinterpret_cast<Bytef*>(buffer);
  zlib_->avail_out = static_cast<uInt>(size);
  const int result = inflate(zlib_.get(), Z_NO_FLUSH);
  input_at_ = input_end_ - zlib_->avail_in;
  const size_t got = size - zlib_->avail_out;
  if (result == Z_STREAM_END) {
    inflateEnd(zlib_.get());
    in_member_ = false;
  } else if (result == Z_BUF_ERROR || (got == 0 && end_of_file_)) {
    if (fault_.empty() && end_of_file_) {
      fault_ = fmt::format("the gzip data is cut off after {} bytes of the file", file_bytes_);
    }
  } else if (result != Z_OK) {
    fault_ = fmt::format("the gzip data is corrupt near byte {} of the file ({})",
                         file_bytes_ - static_cast<int64_t>(zlib_->avail_in),
                         zlib_->msg != nullptr ? zlib_->msg : "bad data");
  }
  return got;
}

}  // namespace perfgate
