// What must hold for any input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace perfgate {

// Ends the fuzzer with what does not hold.
inline void Must(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace perfgate
