#include "trace/list_memo.h"

#include "trace/bytes.h"
#include "trace/hash.h"

namespace perfgate {

ListMemo::Entry& ListMemo::At(std::string_view list) {
  if (entries_.empty()) entries_.resize(kEntries);
  const uint64_t hash = HashBytes(list);
  Entry& entry = entries_[hash % kEntries];
  if (entry.hash != hash || !SameText(entry.raw, list)) {
    entry.hash = hash;
    entry.id = 0;
  }
  return entry;
}

void ListMemo::Remember(Entry& entry, std::string_view list, std::string_view text) {
  entry.raw = list;
  entry.text = text;
  entry.id = ++last_id_;
}

const char* FindListEnd(const char* at) {
  uint64_t in_string = 0;  // all ones: the last block ended inside a string
  int depth = 0;
  for (size_t done = 0; done < ListMemo::kLongest; done += 64) {
    const Marks marks = MarksOf(at + done);
    const uint64_t inside = PrefixXor(marks.quotes) ^ in_string;
    const uint64_t odd = (marks.odd & inside) | marks.zeros;
    for (uint64_t left = (marks.opening | marks.closing) & ~inside; left != 0; left &= left - 1) {
      const uint64_t bit = left & (~left + 1);
      if ((marks.opening & bit) != 0) {
        ++depth;
      } else if (--depth == 0) {
        return (odd & (bit - 1)) != 0 ? nullptr : at + done + std::countr_zero(bit) + 1;
      }
    }
    if (odd != 0) return nullptr;
    in_string = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
  }
  return nullptr;
}

}  // namespace perfgate
