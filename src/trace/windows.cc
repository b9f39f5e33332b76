#include "trace/windows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/bytes.h"
#include "trace/event_scanner.h"

namespace perfgate {
namespace {

// The first key of an event, in whatever order its writer puts them.
bool StartsEvent(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kKeys = {R"("ph")",  R"("name")", R"("cat")",
                                                            R"("pid")", R"("tid")",  R"("ts")",
                                                            R"("dur")", R"("args")"};
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [text](std::string_view key) { return text.starts_with(key); });
}

size_t SkipBlanksIn(std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}

// Behind the last comma between two events; 0 if there seems to be none.
size_t FindCut(std::string_view text) {
  for (size_t brace = text.rfind('}'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('}', brace - 1)) {
    const size_t comma = SkipBlanksIn(text, brace + 1);
    if (comma >= text.size() || text[comma] != ',') continue;
    const size_t next = SkipBlanksIn(text, comma + 1);
    if (next >= text.size() || text[next] != '{') continue;
    if (StartsEvent(text.substr(SkipBlanksIn(text, next + 1)))) return comma + 1;
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
