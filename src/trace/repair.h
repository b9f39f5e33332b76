// A filter between the file and the JSON parser. It mends what real traces have wrong, counts
// every repair, and bounds what the parser can be made to hold: a string or a number of any length.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/quotes.h"
#include "trace/source.h"

namespace perfgate {

// An input stream as RapidJSON wants it. Ends with a NUL byte, which never stands inside the data.
class RepairedStream {
 public:
  using Ch = char;

  static constexpr size_t kWindowBytes = size_t{1} << 16;
  static constexpr size_t kLongestString = size_t{1} << 18;
  static constexpr size_t kLongestNumber = 64;

  explicit RepairedStream(ByteSource& source);

  char Peek() const { return *at_; }
  char Take() {
    const char taken = *at_;
    if (at_ == end_) return taken;
    if (++at_ == end_) Refill();
    return taken;
  }
  size_t Tell() const { return passed_ + static_cast<size_t>(at_ - window_.data()); }

  // RapidJSON asks for the writing half of a stream; only in-situ parsing uses it.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  size_t PutEnd(char*) { return 0; }

  // Byte of the decompressed file at which the parser stands; in a window with repairs, near it.
  int64_t Offset() const;
  bool AtEnd() const { return at_ == end_; }
  int64_t bytes_read() const { return bytes_read_; }
  // Reads to the end of the data and returns its last byte that is no white space, or 0.
  char SkipToEnd();
  // The first bytes of the file, for telling what a file is that is no trace.
  const std::string& head() const { return head_; }
  // Strings that hold the key of an event behind a quote of their own: what they swallowed is lost.
  int64_t swallowed() const { return swallowed_; }
  // One line a kind of repair.
  std::vector<std::string> Warnings() const;

 private:
  void Refill();
  // Filters [at, end); returns where it stopped for want of bytes to look ahead at.
  const char* Filter(const char* at, const char* end);
  const char* FilterString(const char* at, const char* end);
  const char* FilterOutside(const char* at, const char* end);
  const char* Quote(const char* at, const char* end);
  void Mark(char byte);
  void StartString();
  bool Escape(char byte);
  void FinishUnicode();
  void EmitHeldSurrogate();
  void FinishToken();
  void Emit(std::string_view text);
  void EmitInString(std::string_view text);

  ByteSource& source_;
  std::unique_ptr<char[]> raw_;  // kWindowBytes behind what is carried
  std::vector<char> window_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  size_t passed_ = 0;
  int64_t bytes_read_ = 0, window_start_ = 0, window_raw_bytes_ = 0;
  std::string head_;

  size_t carried_ = 0;  // bytes of raw_ that were read but not yet filtered
  bool at_source_end_ = false, wants_more_ = false;
  std::string nest_;          // the objects and lists around: "{[{"
  size_t nested_deeper_ = 0;  // levels beyond those that nest_ holds
  StringRole role_ = StringRole::kRoot;
  bool in_string_ = false, cutting_ = false;
  size_t string_length_ = 0;
  std::string escape_;     // of the string: "\", "\u12"
  std::string surrogate_;  // "\ud83d", held until its second half comes
  std::string token_;      // a number or word outside strings
  bool token_too_long_ = false;
  char last_mark_ = 0;  // last structural byte outside strings
  char last_byte_ = 0;  // last byte that is no white space

  int64_t control_bytes_ = 0, bad_escapes_ = 0, cut_strings_ = 0, non_numbers_ = 0,
          stray_commas_ = 0, missing_commas_ = 0, missing_values_ = 0, bare_quotes_ = 0,
          missing_quotes_ = 0, long_tokens_ = 0, swallowed_ = 0, padding_ = 0;
  bool byte_order_mark_ = false;
};

}  // namespace perfgate
