// Cuts the list of events into windows that can be read independently of each other.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "trace/source.h"

namespace perfgate {

// A piece of the decompressed file.
struct FileWindow {
  std::vector<char> buffer;  // kPaddingBytes zero bytes follow `size`
  size_t size = 0;
  int64_t number = -1;  // counted from 0 in the order of the file
  bool last = false;    // the file ends here

  std::string_view Text() const { return {buffer.data(), size}; }
};

// Hands out windows to several threads. A window ends where an event seems to end: what reads the
// window proves it by coming out even, from the first window on.
class WindowQueue {
 public:
  WindowQueue(ByteSource& source, size_t window_bytes)
      : source_(source), window_bytes_(window_bytes) {}

  // Reads the start of the file. False if no list of events begins within kLongestPart.
  bool Open();
  // The document up to the bracket that opens the list, with it.
  const std::string& header() const { return header_; }
  // Fills the next window. False: there is none, or its event is longer than kLongestPart; failed()
  // tells.
  bool Next(FileWindow& window);
  // Nobody shall get another window.
  void Fail();
  bool failed();
  int64_t bytes_read() const { return bytes_read_; }
  // The data was read to its end.
  bool at_end() const { return at_end_; }

  static constexpr size_t kLongestPart = size_t{4} << 20;

 private:
  bool Fill(FileWindow& window);
  void Extend(FileWindow& window, size_t bytes);

  ByteSource& source_;
  const size_t window_bytes_;
  std::mutex mutex_;
  std::string header_;
  std::string rest_;  // read, but not handed out yet
  int64_t handed_out_ = 0, bytes_read_ = 0;
  bool at_end_ = false, finished_ = false, failed_ = false;
};

}  // namespace perfgate
