#include "cupti/json_line.h"

namespace perfgate::cupti {
namespace {

// Bytes of the UTF-8 character that `text` starts with; 0 if it is none.
size_t CharacterBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80            ? 1
                        : first >> 5 == 0b110   ? 2
                        : first >> 4 == 0b1110  ? 3
                        : first >> 3 == 0b11110 ? 4
                                                : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t length = CharacterBytes(text);
    const char first = text[0];
    if (length == 0) {
      quoted += '?';
    } else if (first == '"' || first == '\\') {
      quoted += '\\';
      quoted += first;
    } else if (static_cast<unsigned char>(first) < 0x20) {
      quoted += "\\u00";
      quoted += kHex[first >> 4];
      quoted += kHex[first & 15];
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  quoted += '"';
  return quoted;
}

JsonLine& JsonLine::Micros(int64_t ns) {
  if (ns < 0) {
    text_ += '-';
    ns = -ns;
  }
  Number(ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  text_ += '.';
  text_ += static_cast<char>('0' + rest / 100);
  text_ += static_cast<char>('0' + rest / 10 % 10);
  text_ += static_cast<char>('0' + rest % 10);
  return *this;
}

}  // namespace perfgate::cupti
