#include "cupti/buffer_pool.h"

#include <algorithm>
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
  held_.reserve(kMostBuffers);
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
  if (data == nullptr) return nullptr;
  held_.push_back(data);
  requested_.store(true);
  return data;
}

bool BufferPool::Complete(uint8_t* data, size_t used_bytes) {
  const std::lock_guard lock(mutex_);
  std::erase(held_, data);
  filled_.push_back({data, used_bytes});
  return free_.size() < kFewReady;
}

bool BufferPool::FewReady() {
  const std::lock_guard lock(mutex_);
  return free_.size() < kFewReady;
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

// A record begins with its kind, which is never 0.
int BufferPool::HeldWithRecords() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(held_.begin(), held_.end(), [](const uint8_t* data) {
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(data), __ATOMIC_RELAXED) != 0;
  }));
}

}  // namespace perfgate::cupti
