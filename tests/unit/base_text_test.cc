#include "base/text.h"

#include <gtest/gtest.h>

#include <set>

namespace perfgate {
namespace {

TEST(Glob, KnowsOnlyStarAndQuestionMark) {
  EXPECT_TRUE(MatchesGlob("geglu[*mode=aoti*", "geglu[mode=aoti,tokens=64]"));
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("a?c", "abc"));
  EXPECT_TRUE(MatchesGlob("[x]", "[x]"));
  EXPECT_FALSE(MatchesGlob("[x]", "x"));
}

TEST(Glob, MatchesTheWholeText) {
  EXPECT_FALSE(MatchesGlob("geglu", "geglu[mode=aoti]"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("a?", "a"));
}

TEST(Glob, ManyStarsCostNoExponentialTime) {
  const std::string text(20000, 'a');
  EXPECT_FALSE(MatchesGlob("*a*a*a*a*a*a*a*a*a*a*b", text));
}

TEST(NearestWord, FindsTypingMistakesAndNothingFarAway) {
  const std::vector<std::string> keys = {"hidden", "intermediate", "bias", "mode"};
  EXPECT_EQ(Nearest("hiden", keys), "hidden");
  EXPECT_EQ(Nearest("intermidiate", keys), "intermediate");
  EXPECT_EQ(Nearest("zebra", keys), std::nullopt);
  EXPECT_EQ(Nearest("xy", keys), std::nullopt);
  EXPECT_EQ(Nearest(std::string(100000, 'x'), keys), std::nullopt);
}

TEST(Words, SplitKeepsEmptyParts) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(Join(Split("a,b", ','), " + "), "a + b");
  EXPECT_EQ(Trim(" \t x y \n"), "x y");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(PrintableText, NeutralisesControlCharactersAndBadBytes) {
  EXPECT_EQ(Printable("gelu µs ✓"), "gelu µs ✓");
  EXPECT_EQ(Printable("a\x1b[31mb\nc"), "a\\x1b[31mb\\x0ac");
  EXPECT_EQ(Printable("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(Printable("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");       // overlong
  EXPECT_EQ(Printable("\xED\xA0\x80").substr(0, 3), "\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(Printable("\xC2\x9B"), "\\x9b");                          // CSI as a C1 control
  EXPECT_EQ(Printable("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");       // cut short
}

TEST(SlugOfAName, NeverCollidesOrEscapes) {
  const std::vector<std::string> names = {"Gemm",
                                          "gemm",
                                          "a/b",
                                          "a-b",
                                          "../x",
                                          "",
                                          ".",
                                          "..",
                                          "a b",
                                          std::string(300, 'x'),
                                          std::string(301, 'x')};
  std::set<std::string> folded;
  for (const std::string& name : names) {
    const std::string slug = Slug(name);
    EXPECT_EQ(slug.find('/'), std::string::npos) << slug;
    EXPECT_NE(slug[0], '.') << slug;
    EXPECT_LE(slug.size(), 80u);
    std::string lower;
    for (const char c : slug) lower += static_cast<char>(std::tolower(c));
    EXPECT_TRUE(folded.insert(lower).second) << slug;
  }
}

TEST(Hash, IsFnv1a) {
  EXPECT_EQ(Hash16(""), "cbf29ce484222325");
  EXPECT_EQ(Hash16("a"), "af63dc4c8601ec8c");  // published test vector of FNV-1a, 64 bit
  EXPECT_EQ(Hash16("foobar"), "85944171f73967e8");
}

TEST(Shortened, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(Shorten("0123456789", 10), "0123456789");
  EXPECT_EQ(Shorten("0123456789abcdef", 12), "012345...def");
  EXPECT_EQ(Shorten("\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5", 8),
            "\xC2\xB5...\xC2\xB5");
}

TEST(PluralWords, AreRight) {
  EXPECT_EQ(Plural(0, "kernel"), "0 kernels");
  EXPECT_EQ(Plural(1, "kernel"), "1 kernel");
  EXPECT_EQ(Plural(2, "copy", "copies"), "2 copies");
}

}  // namespace
}  // namespace perfgate
