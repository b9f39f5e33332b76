#include "trace/windows.h"

#include <algorithm>
#include <cstring>

#include "trace/bytes.h"
#include "trace/event_fields.h"
#include "trace/event_scanner.h"

namespace perfgate {
namespace {

// `at` is where a key of an object would begin.
bool StartsEvent(const char* at, const char* end) {
  if (*at != '"') return false;
  const std::string_view text(at + 1, static_cast<size_t>(end - at - 1));
  const size_t length = text.substr(0, kLongestEventKey + 1).find('"');
  return length != std::string_view::npos && IsEventKey(text.substr(0, length));
}

// Behind the last comma between two events of a window; 0 if there seems to be none.
size_t FindCut(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (size_t brace = text.rfind('}'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('}', brace - 1)) {
    const char* const comma = SkipBlanks(text.data() + brace + 1);
    if (*comma != ',') continue;
    const char* const next = SkipBlanks(comma + 1);
    if (*next == '{' && StartsEvent(SkipBlanks(next + 1), end)) {
      return static_cast<size_t>(comma + 1 - text.data());
    }
  }
  return 0;
}

}  // namespace

void WindowQueue::Extend(FileWindow& window, size_t bytes) {
  const size_t needed = window.size + bytes + kPaddingBytes;
  if (window.buffer.size() < needed) window.buffer.resize(needed);
  const size_t got = source_.Read(window.buffer.data() + window.size, bytes);
  at_end_ = got < bytes;
  bytes_read_ += static_cast<int64_t>(got);
  window.size += got;
  std::memset(window.buffer.data() + window.size, 0, kPaddingBytes);
}

bool WindowQueue::Open() {
  FileWindow window;
  const char* events = nullptr;
  while (events == nullptr) {
    if (at_end_ || window.size >= kLongestPart) return false;
    Extend(window, window_bytes_ + window.size);
    events = FindEvents(window.Text());
  }
  const auto length = static_cast<size_t>(events - window.buffer.data());
  header_ = window.Text().substr(0, length);
  rest_ = window.Text().substr(length);
  return true;
}

bool WindowQueue::Next(FileWindow& window) {
  const std::lock_guard lock(mutex_);
  if (finished_ || failed_) return false;
  if (!Fill(window)) failed_ = true;
  return !failed_;
}

bool WindowQueue::Fill(FileWindow& window) {
  window.buffer.resize(std::max(window.buffer.size(), rest_.size() + kPaddingBytes));
  window.size = rest_.size();
  std::memcpy(window.buffer.data(), rest_.data(), rest_.size());
  std::memset(window.buffer.data() + window.size, 0, kPaddingBytes);
  size_t cut = 0;
  while (cut == 0) {
    if (!at_end_) Extend(window, window_bytes_);
    if (!source_.fault().empty()) return false;
    if (at_end_) break;
    cut = FindCut(window.Text());
    if (cut == 0 && window.size >= kLongestPart) return false;
  }
  window.number = handed_out_++;
  window.last = at_end_;
  finished_ = at_end_;
  rest_ = at_end_ ? std::string_view() : window.Text().substr(cut);
  if (!at_end_) {
    window.size = cut;
    std::memset(window.buffer.data() + cut, 0, kPaddingBytes);
  }
  return true;
}

void WindowQueue::Fail() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
}

bool WindowQueue::failed() {
  const std::lock_guard lock(mutex_);
  return failed_;
}

}  // namespace perfgate
