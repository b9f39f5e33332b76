#include "cupti/buffer_pool.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace perfgate::cupti {

uint8_t* BufferPool::Allocate() {
  constexpr size_t kAlignment = 4096;
  if (allocated_ >= kMostBuffers) return nullptr;
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  if (data == nullptr) return nullptr;
  ++allocated_;
  std::memset(data, 0, kBufferBytes);
  return data;
}

void BufferPool::Reserve(int count) {
  const std::lock_guard lock(mutex_);
  free_.reserve(kMostBuffers);
  filled_.reserve(kMostBuffers);
  while (static_cast<int>(free_.size()) < count) {
    uint8_t* data = Allocate();
    if (data == nullptr) return;
    free_.push_back(data);
  }
}

uint8_t* BufferPool::Request() {
  const std::lock_guard lock(mutex_);
  uint8_t* data = nullptr;
  if (free_.empty()) {
    data = Allocate();
  } else {
    data = free_.back();
    free_.pop_back();
  }
  if (data != nullptr) requested_.fetch_add(1);
  return data;
}

size_t BufferPool::Complete(uint8_t* data, size_t used_bytes) {
  const std::lock_guard lock(mutex_);
  completed_.fetch_add(1);
  filled_.push_back({data, used_bytes});
  return filled_.size();
}

std::vector<FilledBuffer> BufferPool::Take() {
  std::vector<FilledBuffer> taken;
  taken.reserve(kMostBuffers);
  const std::lock_guard lock(mutex_);
  std::swap(taken, filled_);
  return taken;
}

void BufferPool::Return(const FilledBuffer& buffer) {
  std::memset(buffer.data, 0, kBufferBytes);
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer.data);
}

}  // namespace perfgate::cupti
