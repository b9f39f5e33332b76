#include "trace/hash.h"

#include <random>

namespace perfgate {

HashSeed RandomSeed() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  const uint64_t first = word();
  return {first, word()};
}

}  // namespace perfgate
