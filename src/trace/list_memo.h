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
  static constexpr size_t kLongest = 2048;  // bytes of a list that is remembered

  struct Entry {
    uint64_t hash = 0;
    std::string raw;  // as it stands in the file, valid JSON; empty: nothing remembered
    bool has_text = false;
    std::string text;  // in the reader's spelling
  };

  // Where this list is remembered, or is to be: then `raw` is not the list.
  Entry& At(std::string_view list);

 private:
  static constexpr size_t kEntries = 4096;  // a later list takes an earlier one's place
  std::vector<Entry> entries_{kEntries};
};

// Behind the bracket that closes the list or object at `at`. nullptr if it is longer than
// ListMemo::kLongest or holds escapes or control bytes in strings.
const char* FindListEnd(const char* at);

}  // namespace perfgate
