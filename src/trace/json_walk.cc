#include "trace/json_walk.h"

#include <string_view>

#include "trace/bytes.h"

namespace perfgate {
namespace {

constexpr int kDeepest = 64;
// Far below what the repairing filter cuts.
constexpr std::ptrdiff_t kLongestNumber = 40;
constexpr std::ptrdiff_t kLongestString = 100'000;

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

std::string_view Inside(const char* quote, const char* behind) {
  return {quote + 1, static_cast<size_t>(behind - quote) - 2};
}

// Handler: TraceHandler, or Nobody.
struct Nobody {};
constexpr bool Hears(TraceHandler*) { return true; }
constexpr bool Hears(Nobody*) { return false; }

template <typename Handler>
class Walk {
 public:
  explicit Walk(Handler& handler) : handler_(handler) {}

  const char* Value(const char* at, int depth) {
    switch (*at) {
      case '"':
        return String(at);
      case '[':
        return List(at, depth);
      case '{':
        return Object(at, depth);
      case 't':
        return Word(at, "true");
      case 'f':
        return Word(at, "false");
      case 'n':
        return Word(at, "null");
      default:
        return Number(at);
    }
  }

 private:
  static constexpr bool kHears = Hears(static_cast<Handler*>(nullptr));

  const char* String(const char* at) {
    if constexpr (!kHears) {
      return SkipString(at);
    } else {
      const char* end = SkipPlainString(at);
      if (end == nullptr) return nullptr;
      const std::string_view text = Inside(at, end);
      handler_.String(text.data(), static_cast<unsigned>(text.size()), true);
      return end;
    }
  }

  const char* Number(const char* at) {
    const char* end = SkipNumber(at);
    if constexpr (kHears) {
      if (end != nullptr) handler_.RawNumber(at, static_cast<unsigned>(end - at), true);
    }
    return end;
  }

  const char* Word(const char* at, std::string_view word) {
    if (std::string_view(at, word.size()) != word) return nullptr;
    if constexpr (kHears) {
      if (word == "null") {
        handler_.Null();
      } else {
        handler_.Bool(word == "true");
      }
    }
    return at + word.size();
  }

  const char* List(const char* at, int depth) {
    if (depth >= kDeepest) return nullptr;
    if constexpr (kHears) handler_.StartArray();
    at = SkipBlanks(at + 1);
    unsigned count = 0;
    while (*at != ']' || count > 0) {
      at = Value(at, depth + 1);
      if (at == nullptr) return nullptr;
      ++count;
      at = SkipBlanks(at);
      if (*at == ']') break;
      if (*at != ',') return nullptr;
      at = SkipBlanks(at + 1);
    }
    if constexpr (kHears) handler_.EndArray(count);
    return at + 1;
  }

  const char* Object(const char* at, int depth) {
    if (depth >= kDeepest) return nullptr;
    if constexpr (kHears) handler_.StartObject();
    at = SkipBlanks(at + 1);
    unsigned count = 0;
    while (*at != '}' || count > 0) {
      const char* end = SkipPlainString(at);
      if (end == nullptr) return nullptr;
      if constexpr (kHears) {
        const std::string_view key = Inside(at, end);
        handler_.Key(key.data(), static_cast<unsigned>(key.size()), true);
      }
      at = SkipBlanks(end);
      if (*at != ':') return nullptr;
      at = Value(SkipBlanks(at + 1), depth + 1);
      if (at == nullptr) return nullptr;
      ++count;
      at = SkipBlanks(at);
      if (*at == '}') break;
      if (*at != ',') return nullptr;
      at = SkipBlanks(at + 1);
    }
    if constexpr (kHears) handler_.EndObject(count);
    return at + 1;
  }

  Handler& handler_;
};

}  // namespace

const char* SkipNumber(const char* at) {
  const char* const start = at;
  if (*at == '-') ++at;
  if (!IsDigit(*at)) return nullptr;
  if (*at == '0') {
    ++at;
  } else {
    while (IsDigit(*at)) ++at;
  }
  if (*at == '.') {
    ++at;
    if (!IsDigit(*at)) return nullptr;
    while (IsDigit(*at)) ++at;
  }
  return at - start <= kLongestNumber ? at : nullptr;
}

const char* ReadShortInteger(const char* at, int64_t& number) {
  constexpr std::ptrdiff_t kMostDigits = 18;
  const bool negative = *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  int64_t value = 0;
  while (IsDigit(*at) && at - digits < kMostDigits) value = value * 10 + (*at++ - '0');
  if (at == digits || (*digits == '0' && at - digits > 1)) return nullptr;
  if (IsDigit(*at) || *at == '.' || *at == 'e' || *at == 'E') return nullptr;
  number = negative ? -value : value;
  return at;
}

const char* ReadUsualTime(const char* at, int64_t& ns) {
  constexpr std::ptrdiff_t kMostDigits = 15;
  const char* const digits = at;
  int64_t value = 0;
  while (IsDigit(*at) && at - digits < kMostDigits) value = value * 10 + (*at++ - '0');
  if (at == digits || (*digits == '0' && at - digits > 1) || *at != '.') return nullptr;
  if (!IsDigit(at[1]) || !IsDigit(at[2]) || !IsDigit(at[3])) return nullptr;
  value = value * 1000 + (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0');
  at += 4;
  if (IsDigit(*at) || *at == 'e' || *at == 'E') return nullptr;
  ns = value;
  return at;
}

const char* SkipString(const char* at) {
  if (*at != '"') return nullptr;
  const char* const start = at;
  ++at;
  while (true) {
    at = FindStringStop(at);
    if (*at == '"') return at - start <= kLongestString ? at + 1 : nullptr;
    if (*at != '\\' || at[1] == '\0') return nullptr;
    if (std::string_view("\"\\/bfnrt").find(at[1]) == std::string_view::npos) return nullptr;
    at += 2;
  }
}

const char* SkipPlainString(const char* at) {
  if (*at != '"') return nullptr;
  const char* end = FindStringStop(at + 1);
  return *end == '"' && end - at <= kLongestString ? end + 1 : nullptr;
}

const char* SkipJson(const char* at) {
  Nobody nobody;
  return Walk<Nobody>(nobody).Value(at, 0);
}

const char* FeedJson(const char* at, TraceHandler& handler) {
  return Walk<TraceHandler>(handler).Value(at, 0);
}

}  // namespace perfgate
