#include <algorithm>
#include <cstring>

#include "trace/bytes.h"
#include "trace/hash.h"
#include "trace/trace.h"

namespace perfgate {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 16;

}  // namespace

void EventList::StartBlock() {
  if (size_ / kBlock < blocks_.size()) return;
  blocks_.push_back({{}, std::make_unique_for_overwrite<EventKind[]>(kBlock)});
  blocks_.back().events.reserve(kBlock);
}

void EventList::Clear() {
  for (Block& block : blocks_) block.events.clear();
  size_ = 0;
}

int64_t EventList::Bytes() const {
  return static_cast<int64_t>(size_ * (sizeof(TraceEvent) + sizeof(EventKind)));
}

TextTable::TextTable() : views_{std::string_view()}, slots_(1024, 0) {}

// Where this text stands, or an empty slot where it would.
uint32_t TextTable::Slot(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t at = HashBytes(text) & mask;
  while (slots_[at] != 0 && !SameText(views_[slots_[at]], text)) at = (at + 1) & mask;
  return static_cast<uint32_t>(at);
}

std::optional<uint32_t> TextTable::Find(std::string_view text) const {
  if (text.empty()) return 0;
  const uint32_t index = slots_[Slot(text)];
  return index != 0 ? std::optional(index) : std::nullopt;
}

uint32_t TextTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  uint32_t& slot = slots_[Slot(text)];
  if (slot != 0) return slot;
  const auto index = static_cast<uint32_t>(views_.size());
  views_.push_back(Keep(text));
  slot = index;
  if (views_.size() * 2 > slots_.size()) Grow();
  return index;
}

void TextTable::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t index = 1; index < views_.size(); ++index) {
    size_t at = HashBytes(views_[index]) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = index;
  }
}

std::string_view TextTable::Keep(std::string_view text) {
  if (chunk_used_ + text.size() > chunk_size_) {
    chunk_size_ = std::max(kChunkBytes, text.size());
    chunk_used_ = 0;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_size_));
  }
  char* place = chunks_.back().get() + chunk_used_;
  std::memcpy(place, text.data(), text.size());
  chunk_used_ += text.size();
  kept_bytes_ += static_cast<int64_t>(text.size());
  return {place, text.size()};
}

int64_t TextTable::Bytes() const {
  return kept_bytes_ + static_cast<int64_t>(views_.size() * sizeof(std::string_view) +
                                            slots_.size() * sizeof(uint32_t));
}

int64_t TraceData::RecordBytes() const {
  return events.Bytes() + texts.Bytes() +
         static_cast<int64_t>(shapes.size() * sizeof(LaunchShape) +
                              messages.size() * sizeof(Message) +
                              signatures.size() * sizeof(OperatorSignature));
}

}  // namespace perfgate
