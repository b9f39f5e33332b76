// The buffers that CUPTI fills. They belong to CUPTI from the request to the completion, and are
// never freed: CUPTI may still write into one when all else is over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace perfgate::cupti {

struct FilledBuffer {
  uint8_t* data = nullptr;
  size_t used_bytes = 0;
};

class BufferPool {
 public:
  static constexpr size_t kBufferBytes = size_t{2} << 20;
  static constexpr int kMostBuffers = 128;  // CUPTI holds one a launching thread
  // Ready before a window: one of so many records is not read before its end.
  static constexpr int kReadyBuffers = 32;

  // Makes buffers ready, their memory touched: a launch must not wait for that.
  void Reserve(int count);
  // All zero. nullptr if the bound is reached: CUPTI then drops the records and counts them.
  uint8_t* Request();
  // True if few are ready: it is time to take what is filled.
  bool Complete(uint8_t* data, size_t used_bytes);
  bool FewReady();
  std::vector<FilledBuffer> Take();
  void Return(const FilledBuffer& buffer);

  bool ever_requested() const { return requested_.load(); }
  // How many CUPTI holds that it has written to.
  int HeldWithRecords();

 private:
  static constexpr size_t kFewReady = 8;

  uint8_t* Allocate();

  std::mutex mutex_;  // nothing of CUPTI is called under it
  std::vector<uint8_t*> free_, held_;
  std::vector<FilledBuffer> filled_;
  int allocated_ = 0;
  std::atomic<bool> requested_{false};
};

}  // namespace perfgate::cupti
