#include "trace/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perfgate {
namespace {

constexpr size_t kInputBytes = size_t{1} << 16;

std::string CannotOpen(int code) {
  return fmt::format("cannot be opened: {}", std::strerror(code));
}

std::string_view InflateFault(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
      return "incorrect header";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect checksum";
    default:
      return "bad data";
  }
}

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& path) : store_(kInputBytes) {
  input_ = store_.data();
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    fault_ = CannotOpen(errno);
    return;
  }
  struct stat status {};
  const bool known = ::fstat(fd_, &status) == 0;
  if (!known || S_ISDIR(status.st_mode)) {
    fault_ = known ? "a folder, not a file" : CannotOpen(errno);
    ::close(fd_);
    fd_ = -1;
    return;
  }
  opened_ = true;
  regular_ = S_ISREG(status.st_mode);
  // Opened without blocking, so that a named pipe without a writer is an empty file and no hang.
  ::fcntl(fd_, F_SETFL, 0);
  FillInput();
  LookAtStart();
}

ByteSource::ByteSource(std::string_view contents)
    : opened_(true),
      regular_(true),
      input_(reinterpret_cast<const unsigned char*>(contents.data())),
      input_end_(contents.size()),
      file_bytes_(static_cast<int64_t>(contents.size())),
      end_of_file_(true) {
  LookAtStart();
}

ByteSource::~ByteSource() {
  if (fd_ >= 0) ::close(fd_);
}

void ByteSource::LookAtStart() {
  compressed_ = input_end_ >= 2 && input_[0] == 0x1F && input_[1] == 0x8B;
}

// Bytes read; 0 at the end, and after a fault.
size_t ByteSource::ReadFile(void* buffer, size_t size) {
  while (!end_of_file_) {
    const ssize_t got = ::read(fd_, buffer, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fault_ = fmt::format("cannot read: {}", std::strerror(errno));
    if (got > 0) {
      file_bytes_ += got;
      return static_cast<size_t>(got);
    }
    end_of_file_ = true;
  }
  return 0;
}

void ByteSource::FillInput() {
  if (end_of_file_) return;
  input_at_ = 0;
  input_end_ = ReadFile(store_.data(), store_.size());
}

size_t ByteSource::Read(char* buffer, size_t size) {
  size_t filled = 0;
  while (filled < size && fault_.empty()) {
    if (compressed_) {
      if (input_at_ == input_end_) FillInput();
      const size_t got = Inflate(buffer + filled, size - filled);
      if (got == 0 && (end_of_file_ || trailing_bytes_)) break;
      filled += got;
    } else if (input_at_ < input_end_) {
      const size_t got = std::min(size - filled, input_end_ - input_at_);
      std::memcpy(buffer + filled, input_ + input_at_, got);
      input_at_ += got;
      filled += got;
    } else {
      const size_t got = ReadFile(buffer + filled, size - filled);
      if (got == 0) break;
      filled += got;
    }
  }
  return filled;
}

// A further member, or padding behind the last one.
bool ByteSource::StartMember() {
  if (input_at_ == input_end_) return false;
  if (inflater_ && input_[input_at_] != 0x1F) {
    trailing_bytes_ = true;
    return false;
  }
  if (!inflater_) {
    inflater_ = std::make_unique<inflate_state>();
    isal_inflate_init(inflater_.get());
  } else {
    isal_inflate_reset(inflater_.get());
  }
  inflater_->crc_flag = ISAL_GZIP;
  in_member_ = true;
  return true;
}

size_t ByteSource::Inflate(char* buffer, size_t size) {
  if (!in_member_ && !StartMember()) return 0;
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // ISA-L counts in 32 bits
  const size_t given = std::min(input_end_ - input_at_, kMostAtOnce);
  const size_t room = std::min(size, kMostAtOnce);
  inflater_->next_in = const_cast<uint8_t*>(input_ + input_at_);
  inflater_->avail_in = static_cast<uint32_t>(given);
  inflater_->next_out = reinterpret_cast<uint8_t*>(buffer);
  inflater_->avail_out = static_cast<uint32_t>(room);
  const int result = isal_inflate(inflater_.get());
  input_at_ += given - inflater_->avail_in;
  const size_t got = room - inflater_->avail_out;
  if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW) {
    fault_ = fmt::format("the gzip data is corrupt near byte {} of the file ({})",
                         file_bytes_ - static_cast<int64_t>(input_end_ - input_at_),
                         InflateFault(result));
  } else if (inflater_->block_state == ISAL_BLOCK_FINISH) {
    in_member_ = false;
  } else if (got == 0 && end_of_file_ && input_at_ == input_end_) {
    fault_ = fmt::format("the gzip data is cut off after {} bytes of the file", file_bytes_);
  }
  return got;
}

}  // namespace perfgate
