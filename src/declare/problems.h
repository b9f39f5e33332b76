// The mistakes of the files that are being read, so that all are said in one go.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perfgate {

// A place in one of the files of a Problems. Lines and columns count from 1; 0 means the whole
// file.
struct Spot {
  int file = 0;
  int line = 0;
  int column = 0;
};

class Problems {
 public:
  // Registers a file under the name that messages show; returns its number.
  int AddFile(std::string name);
  // `path` is the key path ("workloads[0].torch"), "" for the whole file.
  void Add(Spot spot, std::string_view path, std::string_view text);
  bool Empty() const { return list_.empty(); }
  size_t Count() const { return list_.size(); }
  // So many that further suggestions are not worth their time.
  bool Many() const { return list_.size() > kShown; }
  Where At(Spot spot) const;
  // Throws Error(kConfig) with one problem a line, by file, line and column, if there is any.
  void ThrowIfAny() const;

 private:
  static constexpr size_t kShown = 200;
  struct Problem {
    Spot spot;
    std::string text;
  };
  static constexpr size_t kKept = 10'000;
  std::vector<std::string> files_;
  std::vector<Problem> list_;
  std::set<std::string> seen_;  // the cases of a matrix read the same text again and again
};

// 'text' in quotes for a message: control characters escaped, cut after `longest` bytes.
std::string Quoted(std::string_view text, size_t longest = 80);

// "; did you mean 'hidden'?" or, if nothing is near, "; known NAMES: a, b, c".
std::string Suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view names);

}  // namespace perfgate
