// The bytes of a file, decompressed where its first bytes are gzip's, whatever it is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct inflate_state;  // ISA-L's

namespace perfgate {

class ByteSource {
 public:
  // A file that cannot be opened is `fault`.
  explicit ByteSource(const std::filesystem::path& path);
  // The contents of a file. They are not copied.
  explicit ByteSource(std::string_view contents);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills up to `size` bytes; less only at the end of the data. 0: the end, or `fault` says why
  // not.
  size_t Read(char* buffer, size_t size);

  bool opened() const { return opened_; }
  // A file that reads the same when it is opened again; false for pipes and devices.
  bool can_be_read_again() const { return regular_; }
  // What is wrong with the data: cut off or corrupt compression, a read error. Empty: nothing yet.
  const std::string& fault() const { return fault_; }
  // Bytes after the last gzip member that are no member (padding).
  bool trailing_bytes() const { return trailing_bytes_; }
  bool compressed() const { return compressed_; }
  int64_t file_bytes() const { return file_bytes_; }  // read so far, as they lie on the disk

 private:
  void LookAtStart();
  size_t ReadFile(void* buffer, size_t size);
  void FillInput();
  size_t Inflate(char* buffer, size_t size);
  bool StartMember();

  int fd_ = -1;
  bool opened_ = false, regular_ = false;
  std::string_view contents_;         // what is left of them; no file then
  std::vector<unsigned char> store_;  // of a file
  const unsigned char* input_ = nullptr;
  size_t input_at_ = 0, input_end_ = 0;
  int64_t file_bytes_ = 0;
  bool compressed_ = false, end_of_file_ = false, in_member_ = false, trailing_bytes_ = false;
  std::unique_ptr<inflate_state> inflater_;
  std::string fault_;
};

}  // namespace perfgate
