// Nobody can choose texts that fall on one place of a table.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "trace/hash.h"

namespace perfgate {
namespace {

constexpr uint64_t kMask = 0xFFF;  // the places of a table

// What somebody finds who knows the seed.
std::vector<std::string> TextsOnOnePlace(const HashSeed& seed, size_t count) {
  std::vector<std::string> texts;
  for (uint64_t number = 0; texts.size() < count; ++number) {
    std::string text = "void a_kernel_of_a_hostile_file<" + std::to_string(number) + ">()";
    if ((HashBytes(text, seed) & kMask) == 0) texts.push_back(std::move(text));
  }
  return texts;
}

size_t PlacesOf(const std::vector<std::string>& texts, const HashSeed& seed) {
  std::set<uint64_t> places;
  for (const std::string& text : texts) places.insert(HashBytes(text, seed) & kMask);
  return places.size();
}

TEST(Hash, TextsThatCollideUnderOneSeedDoNotUnderAnother) {
  const HashSeed known{0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93}, other{1, 0xD6E8FEB86659FD95};
  const std::vector<std::string> texts = TextsOnOnePlace(known, 200);
  EXPECT_EQ(PlacesOf(texts, known), 1U);
  EXPECT_GT(PlacesOf(texts, other), 150U);
  EXPECT_GT(PlacesOf(texts, kProcessSeed), 150U);
}

// A word equal to half of the seed makes a product of 0, whatever stands beside it.
TEST(Hash, ATextThatHoldsAHalfOfAnotherSeedHashesLikeAnyOther) {
  const HashSeed known{0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93};
  std::set<uint64_t> hashes, of_known;
  for (uint64_t number = 0; number < 100; ++number) {
    std::string text(16, '\0');
    std::memcpy(text.data(), &number, sizeof(number));
    std::memcpy(text.data() + 8, &known.second, sizeof(known.second));
    of_known.insert(HashBytes(text, known));
    hashes.insert(HashBytes(text));
  }
  EXPECT_EQ(of_known.size(), 1U);
  EXPECT_EQ(hashes.size(), 100U);
}

TEST(Hash, EverySeedIsAnotherOne) {
  std::set<uint64_t> words{kProcessSeed.first, kProcessSeed.second};
  for (int i = 0; i < 100; ++i) {
    const HashSeed seed = RandomSeed();
    words.insert(seed.first);
    words.insert(seed.second);
  }
  EXPECT_EQ(words.size(), 202U);
}

TEST(Hash, OneTextHasOneHashWhereverItStands) {
  for (size_t size = 0; size < 80; ++size) {
    const std::string text(size, 'x');
    const std::string longer = "yy" + text + "zz";
    EXPECT_EQ(HashBytes(text), HashBytes(std::string_view(longer).substr(2, size)));
    EXPECT_NE(HashBytes(text), HashBytes(text + 'x'));
  }
}

}  // namespace
}  // namespace perfgate
