// JSON documents of moderate size (samples, baselines, verdicts). RapidJSON does the work behind
// this border. Traces are not read with this: see trace/.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace perfgate {

// A JSON value. Objects keep the order in which keys were added, so that what is written is stable.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : value_(value) {}
  Json(uint64_t value);  // above int64: a double
  Json(double value);    // NaN and infinities become null
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  // A whole number where `value` is one that doubles hold exactly, else as Json(double): counts and
  // times that were computed in floating point.
  static Json Number(double value);
  template <typename T>
  static Json ArrayOf(const T& items) {
    Array array;
    for (const auto& item : items) array.push_back(Json(item));
    return Json(std::move(array));
  }

  bool IsNull() const { return std::holds_alternative<std::monostate>(value_); }
  bool IsBool() const { return std::holds_alternative<bool>(value_); }
  bool IsInt() const { return std::holds_alternative<int64_t>(value_); }
  bool IsNumber() const { return IsInt() || std::holds_alternative<double>(value_); }
  bool IsString() const { return std::holds_alternative<std::string>(value_); }
  bool IsArray() const { return std::holds_alternative<Array>(value_); }
  bool IsObject() const { return std::holds_alternative<Object>(value_); }

  // Each throws Error(kInput) saying what was expected and what was found.
  bool AsBool() const;
  int64_t AsInt() const;
  double AsNumber() const;
  const std::string& AsString() const;
  const Array& AsArray() const;
  const Object& AsObject() const;

  // The member `key`, or nullptr if this is no object or has none.
  const Json* Find(std::string_view key) const;
  // The member `key`; throws Error(kInput) naming the key if it is missing.
  const Json& At(std::string_view key) const;
  // Adds or replaces; a null value becomes an object first.
  Json& Set(std::string_view key, Json value);
  // Adds a key that the object does not have yet, without looking for it.
  Json& Append(std::string key, Json value);
  // Appends; a null value becomes an array first.
  void Push(Json value);

  friend bool operator==(const Json&, const Json&) = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

// A count, a time or a size: a whole number from 0 to `most`. Throws Error(kInput) naming `key`,
// where it stands, with what was expected and what was found.
int64_t AsCount(const Json& json, std::string_view key,
                int64_t most = std::numeric_limits<int64_t>::max());

// Throws Error(kInput) with `name`, line and column, and the reason. Depth at most 256. Accepts one
// document only; numbers out of range, NaN and duplicate keys are errors.
Json ParseJson(std::string_view text, const std::string& name);

// Writes with two blanks a level; containers at depth `inline_depth` or deeper stand on one line
// (so a list of rows at depth 1 is one row a line with inline_depth 2). Ends with a newline.
// Integers exactly; doubles in the shortest form that reads back the same. Bytes that are not valid
// UTF-8 become U+FFFD.
std::string WriteJson(const Json& json, int inline_depth = 1000);

}  // namespace perfgate
