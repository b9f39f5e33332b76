#include "trace/numbers.h"

#include <charconv>
#include <cmath>
#include <string>

namespace perfgate {
namespace {

constexpr int64_t kMost = INT64_MAX;

// Sign, digits, and what follows them. Nothing without a digit or on overflow.
struct Whole {
  bool negative = false;
  int64_t value = 0;
  std::string_view rest;
};

std::optional<Whole> ReadWhole(std::string_view text) {
  constexpr size_t kSafeDigits = 18;  // never overflow
  Whole whole;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    whole.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (digits < kSafeDigits) whole.value = whole.value * 10 + (text[digits] - '0');
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  if (digits > kSafeDigits) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, whole.value, 10);
    if (error != std::errc()) return std::nullopt;
  }
  whole.rest = text.substr(digits);
  return whole;
}

// Rounded; or, where only whole numbers are meant, nothing of another.
enum class Fraction { kRound, kRefuse };

std::optional<int64_t> ThroughFloat(std::string_view text, long double factor,
                                    Fraction fraction = Fraction::kRound) {
  const std::string copy(text);
  char* end = nullptr;
  const long double value = std::strtold(copy.c_str(), &end) * factor;
  if (end != copy.c_str() + copy.size() || copy.empty()) return std::nullopt;
  if (!std::isfinite(value) || std::fabs(value) >= 9.2e18L) return std::nullopt;
  if (fraction == Fraction::kRefuse && value != std::trunc(value)) return std::nullopt;
  return static_cast<int64_t>(std::llround(value));
}

}  // namespace

std::optional<int64_t> ParseNanoseconds(std::string_view microseconds) {
  const std::optional<Whole> whole = ReadWhole(microseconds);
  if (!whole || whole->value > kMost / 1000 - 1) return std::nullopt;
  int64_t ns = whole->value * 1000;
  std::string_view rest = whole->rest;
  if (!rest.empty()) {
    if (rest[0] != '.') return ThroughFloat(microseconds, 1000.0L);
    rest.remove_prefix(1);
    if (rest.empty()) return std::nullopt;
    int64_t unit = 100;
    for (const char digit : rest) {
      if (digit < '0' || digit > '9') return ThroughFloat(microseconds, 1000.0L);
      ns += (digit - '0') * unit;
      unit /= 10;
    }
  }
  return whole->negative ? -ns : ns;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  const std::optional<Whole> whole = ReadWhole(text);
  if (!whole) return std::nullopt;
  if (whole->rest.empty()) return whole->negative ? -whole->value : whole->value;
  return ThroughFloat(text, 1.0L, Fraction::kRefuse);
}

std::optional<int64_t> ParseLastInteger(std::string_view text) {
  const size_t blank = text.rfind(' ');
  return ParseInteger(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

}  // namespace perfgate
