// Lists that were read before. Traces repeat the same shapes and types a million times: a list
// whose bytes were seen and found valid once needs no second look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

class ListMemo {
 public:
  static constexpr size_t kLongest = 1024;  // bytes of a list that is remembered

  struct Entry {
    uint64_t hash = 0;
    uint32_t id = 0;   // of this list, never given again; 0: nothing is remembered
    std::string raw;   // as it stands in the file: valid JSON
    std::string text;  // in the handler's spelling, where that matters
  };

  // Where this list is remembered, or (id 0) where it may be.
  Entry& At(std::string_view list);
  void Remember(Entry& entry, std::string_view list, std::string_view text);

 private:
  static constexpr size_t kEntries = 1024;  // a later list takes an earlier one's place
  std::vector<Entry> entries_;              // none before the first list, then all
  uint32_t last_id_ = 0;
};

// Behind the bracket that closes the list or object at `at`. nullptr if it is longer than
// ListMemo::kLongest or holds escapes or control bytes in strings.
const char* FindListEnd(const char* at);

}  // namespace perfgate
