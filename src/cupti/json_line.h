// The text of one JSON value, built from left to right.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace perfgate::cupti {

// `text` quoted and escaped; bytes that are no UTF-8 become '?'.
std::string Quoted(std::string_view text);

class JsonLine {
 public:
  JsonLine& Raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  JsonLine& Number(std::integral auto value) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    text_.append(digits, end);
    return *this;
  }
  // Nanoseconds as microseconds with three decimals.
  JsonLine& Micros(int64_t ns);

  void Clear() { text_.clear(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace perfgate::cupti
