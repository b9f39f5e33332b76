// Where a string of JSON ends when a writer forgot to escape the quotes inside it.
#pragma once

#include <cstdint>
#include <string_view>

namespace perfgate {

// What a string is in the object or list around it.
enum class StringRole : uint8_t { kRoot, kKey, kMember, kElement };

enum class QuoteSense : uint8_t {
  kCloses,
  kInside,    // a quote of the text itself: what follows cannot follow a string
  kForgotten  // it opens the next key: the quote that ends this string is missing
};

// How many bytes behind a quote are looked at. Beyond that a quote closes, as it always does in
// JSON.
inline constexpr size_t kQuoteLookahead = 512;

// True if the quote between the two, which is no end of its string, ends a key that only events
// have: the string goes on where its event did not.
bool EndsKeyOfEvent(std::string_view before, std::string_view after);

// What a quote inside a string means. Keys are always taken at their word: what is broken there is
// not mended. `outermost`: the object or list around is the document, and whatever follows that is
// none of it. `before`: the text of the string so far, at least its last
// bytes; `after`: what follows the quote, kQuoteLookahead bytes or up to the end of the data.
// In valid JSON the answer is always kCloses.
QuoteSense SenseOfQuote(StringRole role, bool outermost, std::string_view before,
                        std::string_view after);

}  // namespace perfgate
