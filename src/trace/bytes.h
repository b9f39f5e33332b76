// Looking at many bytes at once. All functions read up to 64 bytes beyond what they are asked for:
// buffers end with kPaddingBytes zero bytes, and a zero byte stops every search.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace perfgate {

inline constexpr size_t kPaddingBytes = 128;

inline uint64_t LoadWord(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// As a == b, without a call; reads nothing beyond the texts.
inline bool SameText(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const char* left = a.data();
  const char* right = b.data();
  const size_t size = a.size();
  if (size < 8) return size == 0 || std::memcmp(left, right, size) == 0;
  uint64_t other = LoadWord(left + size - 8) ^ LoadWord(right + size - 8);
  for (size_t at = 0; at + 8 < size; at += 8) other |= LoadWord(left + at) ^ LoadWord(right + at);
  return other == 0;
}

// Of 16 bytes one bit each: quotes, backslashes and control bytes.
inline uint32_t StringStops(const char* at) {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  return static_cast<uint32_t>(
      _mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, backslashes))));
#else
  uint32_t stops = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    stops |= static_cast<uint32_t>(byte == '"' || byte == '\\' || byte < 0x20) << i;
  }
  return stops;
#endif
}

// The next quote, backslash or control byte.
inline const char* FindStringStop(const char* at) {
  while (true) {
    const uint32_t stops = StringStops(at);
    if (stops != 0) return at + std::countr_zero(stops);
    at += 16;
  }
}

// Whether the first `length` bytes are the same, at most 32; reads 32 bytes of both.
inline bool SameBytes32(const char* a, const char* b, size_t length) {
#if defined(__SSE2__)
  const auto same = [a, b](size_t at) {
    const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + at));
    const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + at));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)));
  };
  const uint32_t all = same(0) | same(16) << 16;
  return static_cast<size_t>(std::countr_one(all)) >= length;
#else
  return std::memcmp(a, b, length) == 0;
#endif
}

// Of 64 bytes one bit each.
struct Marks {
  uint64_t quotes = 0, opening = 0, closing = 0;  // brackets of both kinds
  uint64_t odd = 0;                               // backslashes and control bytes
  uint64_t zeros = 0;
};

inline Marks MarksOf(const char* at) {
  Marks marks;
#if defined(__SSE2__)
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * part));
    const auto bits = [part](__m128i found) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(found))) << (16 * part);
    };
    // With this bit set, `[` is `{` and `]` is `}`; no other byte becomes one of them.
    const __m128i curly = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    marks.quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    marks.opening |= bits(_mm_cmpeq_epi8(curly, _mm_set1_epi8('{')));
    marks.closing |= bits(_mm_cmpeq_epi8(curly, _mm_set1_epi8('}')));
    marks.zeros |= bits(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    marks.odd |=
        bits(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')),
                          _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes)));
  }
#else
  for (unsigned i = 0; i < 64; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    const uint64_t bit = uint64_t{1} << i;
    if (byte == '"') marks.quotes |= bit;
    if (byte == '[' || byte == '{') marks.opening |= bit;
    if (byte == ']' || byte == '}') marks.closing |= bit;
    if (byte == 0) marks.zeros |= bit;
    if (byte == '\\' || byte < 0x20) marks.odd |= bit;
  }
#endif
  return marks;
}

// Bit i: an odd number of bits is set up to and including bit i.
inline uint64_t PrefixXor(uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// White space of JSON.
inline constexpr std::string_view kBlanks = " \n\r\t";

inline bool IsBlank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

// Needs no bytes beyond the text.
inline std::string_view WithoutBlanksBefore(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

inline const char* SkipBlanks(const char* at) {
  if (*at > ' ') return at;
  if (*at == ' ' && at[1] > ' ') return at + 1;
#if defined(__SSE2__)
  while (true) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i blanks = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))),
                                        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')),
                                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'))));
    const auto others = static_cast<uint32_t>(_mm_movemask_epi8(blanks)) ^ 0xFFFFU;
    if (others != 0) return at + std::countr_zero(others);
    at += 16;
  }
#else
  while (IsBlank(*at)) ++at;
  return at;
#endif
}

}  // namespace perfgate
