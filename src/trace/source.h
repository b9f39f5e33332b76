// The bytes of a file, decompressed where its first bytes are gzip's, whatever it is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct z_stream_s;  // zlib's

namespace perfgate {

class ByteSource {
 public:
  // A file that cannot be opened is `fault`.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills up to `size` bytes; less only at the end of the data. 0: the end, or `fault` says why
  // not.
  size_t Read(char* buffer, size_t size);

  bool opened() const { return fd_ >= 0; }
  // What is wrong with the data: cut off or corrupt compression, a read error. Empty: nothing yet.
  const std::string& fault() const { return fault_; }
  // Bytes after the last gzip member that are no member (padding).
  bool trailing_bytes() const { return trailing_bytes_; }
  bool compressed() const { return compressed_; }
  int64_t file_bytes() const { return file_bytes_; }  // read so far, as they lie on the disk

 private:
  void FillInput();
  size_t Inflate(char* buffer, size_t size);
  bool StartMember();

  int fd_ = -1;
  std::vector<unsigned char> input_;
  size_t input_at_ = 0, input_end_ = 0;
  int64_t file_bytes_ = 0;
  bool compressed_ = false, end_of_file_ = false, in_member_ = false, trailing_bytes_ = false;
  std::unique_ptr<z_stream_s> zlib_;
  std::string fault_;
};

}  // namespace perfgate
