#include "trace/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "trace/bytes.h"
#include "trace/identify.h"

namespace perfgate {
namespace {

constexpr size_t kDeepestKnown = 4096;

// Bytes that need a look: in strings the quote, the backslash and control bytes.
constexpr auto kPlainInString = [] {
  std::array<bool, 256> plain{};
  for (size_t byte = 0x20; byte < plain.size(); ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

// Letters, digits and signs: parts of numbers, words, and of inf and nan.
constexpr auto kToken = [] {
  std::array<bool, 256> token{};
  for (size_t byte = 0; byte < token.size(); ++byte) {
    token[byte] = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                  (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.' ||
                  byte == '_';
  }
  return token;
}();

bool IsNonNumber(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view bare = word;
  if (!bare.empty() && (bare[0] == '-' || bare[0] == '+')) bare.remove_prefix(1);
  return bare == "inf" || bare == "infinity" || bare == "nan" || bare == "-nan" ||
         bare == "nan(ind)";
}

bool IsHex(char byte) { return std::isxdigit(static_cast<unsigned char>(byte)) != 0; }

bool IsSurrogate(std::string_view escape, std::string_view third_digits) {
  return (escape[2] == 'd' || escape[2] == 'D') &&
         third_digits.find(escape[3]) != third_digits.npos;
}

}  // namespace

RepairedStream::RepairedStream(ByteSource& source)
    : source_(source),
      raw_(std::make_unique_for_overwrite<char[]>(kWindowBytes + kQuoteLookahead)) {
  window_.reserve(2 * kWindowBytes + 1024);
  Refill();
}

int64_t RepairedStream::Offset() const {
  return window_start_ + std::min<int64_t>(at_ - window_.data(), window_raw_bytes_);
}

void RepairedStream::Refill() {
  passed_ += window_.empty() ? 0 : window_.size() - 1;
  window_.clear();
  while (window_.empty()) {
    window_start_ = bytes_read_ - static_cast<int64_t>(carried_);
    char* fresh = raw_.get() + carried_;
    const size_t got = source_.Read(fresh, kWindowBytes);
    if (head_.size() < kIdentifyBytes) {
      head_.append(fresh, std::min(got, kIdentifyBytes - head_.size()));
    }
    const char* at = raw_.get();
    const char* end = fresh + got;
    if (bytes_read_ == 0 && std::string_view(at, got).starts_with(kByteOrderMark)) {
      byte_order_mark_ = true;
      at += kByteOrderMark.size();
    }
    bytes_read_ += static_cast<int64_t>(got);
    const size_t last = std::string_view(fresh, got).find_last_not_of(kBlanks);
    if (last != std::string_view::npos) last_byte_ = fresh[last];
    at_source_end_ = got == 0;
    at = Filter(at, end);
    window_raw_bytes_ = at - raw_.get();
    carried_ = static_cast<size_t>(end - at);
    std::copy(at, end, raw_.get());
    if (got == 0) {
      FinishToken();
      break;
    }
  }
  window_.push_back('\0');
  at_ = window_.data();
  end_ = at_ + window_.size() - 1;
}

const char* RepairedStream::Filter(const char* at, const char* end) {
  wants_more_ = false;
  while (at < end && !wants_more_) at = in_string_ ? FilterString(at, end) : FilterOutside(at, end);
  return at;
}

void RepairedStream::Emit(std::string_view text) {
  window_.insert(window_.end(), text.begin(), text.end());
}

void RepairedStream::EmitInString(std::string_view text) {
  if (cutting_) return;
  if (string_length_ + text.size() > kLongestString) {
    cutting_ = true;
    ++cut_strings_;
    return;
  }
  string_length_ += text.size();
  Emit(text);
}

const char* RepairedStream::FilterString(const char* at, const char* end) {
  if (!escape_.empty()) return Escape(*at) ? at + 1 : at;
  const char* run = at;
  while (at < end && kPlainInString[static_cast<unsigned char>(*at)]) ++at;
  if (at > run) {
    EmitHeldSurrogate();
    EmitInString({run, static_cast<size_t>(at - run)});
    if (at == end) return at;
  }
  const char byte = *at;
  if (byte == '\\') {
    escape_ = "\\";
    return at + 1;
  }
  EmitHeldSurrogate();
  if (byte == '"') return Quote(at, end);
  ++control_bytes_;
  EmitInString(" ");
  return at + 1;
}

// A quote ends the string, unless what follows says that it does not.
const char* RepairedStream::Quote(const char* at, const char* end) {
  const std::string_view after(at + 1, static_cast<size_t>(end - at - 1));
  if (after.size() < kQuoteLookahead && !at_source_end_) {
    wants_more_ = true;
    return at;
  }
  const std::string_view before(window_.data(), window_.size());
  const QuoteSense sense =
      SenseOfQuote(role_, nest_.size() == 1, before, after.substr(0, kQuoteLookahead));
  if (sense == QuoteSense::kInside) {
    ++bare_quotes_;
    if (EndsKeyOfEvent(before, after)) ++swallowed_;
    EmitInString("\\\"");
    return at + 1;
  }
  if (sense == QuoteSense::kForgotten) {
    ++missing_quotes_;
    while (!cutting_ && window_.back() != ',') window_.pop_back();
    if (!cutting_) window_.pop_back();
    Emit("\",\"");
    last_mark_ = ',';
    StartString();
    return at + 1;
  }
  Emit("\"");
  in_string_ = false;
  last_mark_ = role_ == StringRole::kKey ? 'k' : '"';
  return at + 1;
}

void RepairedStream::StartString() {
  in_string_ = true;
  cutting_ = false;
  string_length_ = 0;
  role_ = StringRole::kRoot;
  if (nest_.empty()) return;
  if (nest_.back() == '[') {
    role_ = StringRole::kElement;
  } else {
    role_ = last_mark_ == ':' ? StringRole::kMember : StringRole::kKey;
  }
}

// The byte after a backslash, and the four digits after `\u`.
// False if the byte is none of the escape's.
bool RepairedStream::Escape(char byte) {
  if (escape_.size() >= 2) {
    if (IsHex(byte)) {
      escape_ += byte;
      if (escape_.size() == 6) FinishUnicode();
      return true;
    }
  } else if (byte == 'u') {
    escape_ += byte;
    return true;
  } else if (std::string_view("\"\\/bfnrt").find(byte) != std::string_view::npos) {
    EmitHeldSurrogate();
    const char whole[2] = {'\\', byte};
    EmitInString({whole, 2});
    escape_.clear();
    return true;
  }
  // No escape of JSON, such as `\c` of a Windows path: the backslash is meant as it stands.
  EmitHeldSurrogate();
  ++bad_escapes_;
  EmitInString("\\" + escape_);
  escape_.clear();
  return false;
}

void RepairedStream::FinishUnicode() {
  const std::string escape = std::exchange(escape_, {});
  if (IsSurrogate(escape, "cdefCDEF")) {
    if (surrogate_.empty()) {
      ++bad_escapes_;
      EmitInString("\xEF\xBF\xBD");
    } else {
      EmitInString(std::exchange(surrogate_, {}) + escape);
    }
    return;
  }
  EmitHeldSurrogate();
  if (IsSurrogate(escape, "89abAB")) {
    surrogate_ = escape;
  } else {
    EmitInString(escape);
  }
}

// Half a character is none: U+FFFD.
void RepairedStream::EmitHeldSurrogate() {
  if (surrogate_.empty()) return;
  surrogate_.clear();
  ++bad_escapes_;
  EmitInString("\xEF\xBF\xBD");
}

const char* RepairedStream::FilterOutside(const char* at, const char* end) {
  const char* run = at;
  while (at < end && kToken[static_cast<unsigned char>(*at)]) ++at;
  if (at > run) {
    const auto length = static_cast<size_t>(at - run);
    if (token_.size() + length > kLongestNumber) {
      token_too_long_ = true;
    } else {
      token_.append(run, length);
    }
    if (at == end) return at;  // the rest of it may stand in the next window
  }
  FinishToken();
  const char byte = *at;
  if (IsBlank(byte)) {
    window_.push_back(byte);
    return at + 1;
  }
  if (byte == ',' && (last_mark_ == ',' || last_mark_ == '[' || last_mark_ == '{')) {
    ++stray_commas_;
    return at + 1;
  }
  Mark(byte);
  return at + 1;
}

// A byte that parts values: what is missing before it is put in.
void RepairedStream::Mark(char byte) {
  if (byte == '\0' && nest_.empty() && (last_mark_ == '}' || last_mark_ == ']')) {
    ++padding_;
    window_.push_back(' ');
    return;
  }
  const bool opens = byte == '"' || byte == '{' || byte == '[';
  const bool value_ended =
      last_mark_ == '"' || last_mark_ == '}' || last_mark_ == ']' || last_mark_ == '0';
  if (opens && value_ended && !nest_.empty()) {
    ++missing_commas_;
    Emit(",");
    last_mark_ = ',';
  } else if (last_mark_ == ':' && (byte == ',' || byte == '}')) {
    ++missing_values_;
    Emit("null");
  }
  if (byte == '"') StartString();
  last_mark_ = byte;
  if (byte == '{' || byte == '[') {
    if (nest_.size() < kDeepestKnown) {
      nest_ += byte;
    } else {
      ++nested_deeper_;
    }
  } else if (byte == '}' || byte == ']') {
    if (nested_deeper_ > 0) {
      --nested_deeper_;
    } else if (!nest_.empty()) {
      nest_.pop_back();
    }
  }
  // Within the document a NUL byte would end the stream; any byte that JSON forbids here serves as
  // well.
  window_.push_back(byte == '\0' ? '\x01' : byte);
}

void RepairedStream::FinishToken() {
  if (token_.empty() && !token_too_long_) return;
  last_mark_ = '0';
  if (token_too_long_) {
    ++long_tokens_;
    Emit("null");
  } else if (std::isalpha(static_cast<unsigned char>(token_.back())) && IsNonNumber(token_)) {
    ++non_numbers_;
    Emit("null");
  } else {
    Emit(token_);
  }
  token_.clear();
  token_too_long_ = false;
}

char RepairedStream::SkipToEnd() {
  while (true) {
    at_ = end_;
    const int64_t before = bytes_read_;
    Refill();
    if (bytes_read_ == before) return last_byte_;
  }
}

std::vector<std::string> RepairedStream::Warnings() const {
  std::vector<std::string> lines;
  const auto add = [&lines](int64_t count, std::string_view one, std::string_view many,
                            std::string_view what) {
    if (count > 0) lines.push_back(fmt::format("{}{}", Plural(count, one, many), what));
  };
  if (byte_order_mark_) lines.push_back("the file starts with a byte order mark");
  add(control_bytes_, "control byte", "control bytes", " inside strings, read as blanks");
  add(bad_escapes_, "invalid escape", "invalid escapes", " inside strings, taken literally");
  add(non_numbers_, "bare inf or nan value", "bare inf or nan values", ", read as missing");
  add(stray_commas_, "comma", "commas", " without a value before, left out");
  add(missing_commas_, "comma", "commas", " missing between values, put in");
  add(missing_values_, "key", "keys", " without a value, read as missing");
  add(bare_quotes_, "quote", "quotes",
      " inside strings without a backslash, read as part of the text");
  add(missing_quotes_, "string", "strings", " without a closing quote, ended before the next key");
  add(cut_strings_, "string", "strings",
      fmt::format(" longer than {} KiB, cut", kLongestString / 1024));
  add(padding_, "zero byte", "zero bytes", " behind the document, not read");
  add(long_tokens_, "number", "numbers",
      fmt::format(" longer than {} characters, read as missing", kLongestNumber));
  return lines;
}

}  // namespace perfgate
