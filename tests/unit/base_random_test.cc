#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace perfgate {
namespace {

TEST(RandomBits, AreOthersEachTime) {
  std::set<uint64_t> seen;
  uint64_t ever_set = 0, ever_clear = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t bits = RandomBits();
    seen.insert(bits);
    ever_set |= bits;
    ever_clear |= ~bits;
  }
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(ever_set & ever_clear, ~uint64_t{0}) << "a bit never changes";
}

}  // namespace
}  // namespace perfgate
