// Numbers of a trace, read from their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perfgate {

// Microseconds with decimals ("5132254838507.939", "-1", "12") as nanoseconds. Digits beyond the
// nanosecond are cut. Exponents are read in floating point, exact to about 18 digits. Nothing if it
// is no number or out of range.
std::optional<int64_t> ParseNanoseconds(std::string_view microseconds);

// Times beyond these are no times of a trace; within them, sums of two never overflow.
inline constexpr int64_t kLatestNs = 4'000'000'000'000'000'000;  // either side of the base
inline constexpr int64_t kLongestNs = 1'000'000'000'000'000;     // 11 days

// A whole number; also "12.0" as other tools write it. Nothing if it is none or exceeds int64.
std::optional<int64_t> ParseInteger(std::string_view text);
// The number of "7", "stream 7" or "GPU 0": its last word.
std::optional<int64_t> ParseLastInteger(std::string_view text);

}  // namespace perfgate
