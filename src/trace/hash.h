// A hash of texts for tables that a hostile file fills: its seed is another in each process, so
// that nobody can choose texts that fall on one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "trace/bytes.h"

namespace perfgate {

struct HashSeed {
  uint64_t first = 0, second = 0;
};

// From the system's source of random numbers.
HashSeed RandomSeed();

// Well mixed, 16 bytes a step; reads nothing beyond the text.
inline uint64_t HashBytes(std::string_view text, const HashSeed& seed) {
  const auto mix = [](uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = seed.first ^ text.size();
  const char* at = text.data();
  size_t left = text.size();
  if (left >= 16) {
    for (; left > 16; at += 16, left -= 16) {
      hash = mix(hash ^ LoadWord(at), seed.second ^ LoadWord(at + 8));
    }
    const char* last = text.data() + text.size() - 16;
    return mix(hash ^ LoadWord(last), seed.second ^ LoadWord(last + 8));
  }
  char rest[16] = {};
  if (left > 0) std::memcpy(rest, at, left);
  return mix(hash ^ LoadWord(rest), seed.second ^ LoadWord(rest + 8));
}

inline const HashSeed kProcessSeed = RandomSeed();

inline uint64_t HashBytes(std::string_view text) { return HashBytes(text, kProcessSeed); }

}  // namespace perfgate
