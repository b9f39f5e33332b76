// Kernels of libraries by what they compute. Private to this folder.
#pragma once

#include <string_view>
#include <vector>

namespace perfgate {

// What one kernel computes that several could. A kernel is known to have come apart only if a word
// of `telling` shows up on the other side.
struct Composite {
  std::string_view whole;
  std::vector<std::string_view> telling;
  std::vector<std::string_view> others;
};

const std::vector<Composite>& Composites();

}  // namespace perfgate
