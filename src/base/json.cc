#include "base/json.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace perfgate {
namespace {

constexpr size_t kDeepest = 256;

std::string_view KindOf(const Json& json) {
  if (json.IsNull()) return "null";
  if (json.IsBool()) return "true or false";
  if (json.IsNumber()) return "a number";
  if (json.IsString()) return "text";
  return json.IsArray() ? "a list" : "an object";
}

[[noreturn]] void ThrowKind(std::string_view expected, const Json& found) {
  throw Error(Fault::kInput, fmt::format("expected {}, found {}", expected, KindOf(found)));
}

// Builds a Json from RapidJSON's events; keeps its own stack, so that depth costs no recursion.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  bool Null() { return Add(Json()); }
  bool Bool(bool value) { return Add(Json(value)); }
  // All numbers come as text: RapidJSON's own conversion reads outside of its table of powers for
  // hundreds of digits before an exponent.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const char* end = text + size;
    int64_t whole = 0;
    if (const auto read = std::from_chars(text, end, whole); IsAll(read, end)) {
      return Add(Json(whole));
    }
    uint64_t large = 0;
    if (const auto read = std::from_chars(text, end, large); IsAll(read, end)) {
      return Add(Json(large));
    }
    double value = 0;
    const auto read = std::from_chars(text, end, value);
    // A number too small is 0; one too large does not become the largest.
    if (read.ec == std::errc::result_out_of_range) {
      value = std::strtod(std::string(text, end).c_str(), nullptr);
      if (std::isinf(value)) {
        problem_ = "number out of range";
        return false;
      }
    }
    return Add(Json(value));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Add(Json(std::string(text, size)));
  }
  bool StartObject() { return Open(Json(Json::Object{})); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    stack_.back().key.assign(text, size);
    if (stack_.back().seen.insert(stack_.back().key).second) return true;
    problem_ = fmt::format("the key \"{}\" stands twice", stack_.back().key);
    return false;
  }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(Json(Json::Array{})); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  Json Take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  static bool IsAll(const std::from_chars_result& read, const char* end) {
    return read.ec == std::errc() && read.ptr == end;
  }

  struct Level {
    Json json;
    std::string key;
    std::set<std::string> seen;
  };

  bool Open(Json json) {
    if (stack_.size() >= kDeepest) {
      problem_ = fmt::format("nested deeper than {} levels", kDeepest);
      return false;
    }
    stack_.push_back({std::move(json), {}, {}});
    return true;
  }
  bool Close() {
    Json done = std::move(stack_.back().json);
    stack_.pop_back();
    return Add(std::move(done));
  }
  bool Add(Json json) {
    if (stack_.empty()) {
      root_ = std::move(json);
    } else if (stack_.back().json.IsArray()) {
      stack_.back().json.Push(std::move(json));
    } else {
      // Keys are unique (see Key), so no search for an older one is needed.
      stack_.back().json.Append(std::move(stack_.back().key), std::move(json));
    }
    return true;
  }

  std::vector<Level> stack_;
  Json root_;
  std::string problem_;
};

void WriteString(std::string_view text, std::string& out) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = Utf8SequenceLength(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          out += fmt::format("\\u{:04x}", byte);
        } else {
          out += text.substr(i, length);
        }
    }
    i += length;
  }
  out += '"';
}

class Writer {
 public:
  explicit Writer(int inline_depth) : inline_depth_(inline_depth) {}

  void Write(const Json& json, int depth) {
    if (json.IsArray()) {
      const Json::Array& items = json.AsArray();
      WriteContainer('[', ']', items.size(), depth, [&](size_t i) { Write(items[i], depth + 1); });
    } else if (json.IsObject()) {
      const Json::Object& members = json.AsObject();
      WriteContainer('{', '}', members.size(), depth, [&](size_t i) {
        WriteString(members[i].first, out);
        out += ": ";
        Write(members[i].second, depth + 1);
      });
    } else {
      WriteScalar(json);
    }
  }

  std::string out;

 private:
  template <typename WriteItem>
  void WriteContainer(char open, char close, size_t size, int depth, WriteItem write_item) {
    const bool one_line = size == 0 || depth >= inline_depth_;
    out += open;
    for (size_t i = 0; i < size; ++i) {
      if (i > 0) out += one_line ? ", " : ",";
      if (!one_line) NewLine(depth + 1);
      write_item(i);
    }
    if (!one_line) NewLine(depth);
    out += close;
  }

  void WriteScalar(const Json& json) {
    if (json.IsNull()) {
      out += "null";
    } else if (json.IsBool()) {
      out += json.AsBool() ? "true" : "false";
    } else if (json.IsInt()) {
      const fmt::format_int digits(json.AsInt());
      out.append(digits.data(), digits.size());
    } else if (json.IsNumber()) {
      fmt::format_to(std::back_inserter(out), "{}", json.AsNumber());
    } else {
      WriteString(json.AsString(), out);
    }
  }

  void NewLine(int depth) {
    out += '\n';
    out.append(static_cast<size_t>(depth) * 2, ' ');
  }

  int inline_depth_;
};

// Why the text at `at` is no JSON, where RapidJSON's own words would not help.
std::string_view NotANumber(std::string_view text, size_t at) {
  if (at > 0 && at <= text.size() && text[at - 1] == '-') --at;
  const std::string_view rest = text.substr(std::min(at, text.size()));
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity", "-NaN"}) {
    if (rest.starts_with(word)) return word;
  }
  return "";
}

std::string ReasonFor(std::string_view text, const rapidjson::ParseResult& result) {
  const std::string_view word = NotANumber(text, result.Offset());
  if (word.empty()) return rapidjson::GetParseError_En(result.Code());
  return fmt::format(
      "{} is not JSON (Python's json.dump writes it): write null or leave the key out", word);
}

}  // namespace

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = static_cast<double>(value);
  }
}

Json::Json(double value) {
  if (std::isfinite(value)) value_ = value;
}

Json Json::Number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(value) == value && std::fabs(value) <= kExact) {
    return Json(static_cast<int64_t>(value));
  }
  return Json(value);
}

bool Json::AsBool() const {
  if (!IsBool()) ThrowKind("true or false", *this);
  return std::get<bool>(value_);
}

int64_t Json::AsInt() const {
  if (!IsInt()) ThrowKind("a whole number", *this);
  return std::get<int64_t>(value_);
}

double Json::AsNumber() const {
  if (IsInt()) return static_cast<double>(std::get<int64_t>(value_));
  if (!IsNumber()) ThrowKind("a number", *this);
  return std::get<double>(value_);
}

const std::string& Json::AsString() const {
  if (!IsString()) ThrowKind("text", *this);
  return std::get<std::string>(value_);
}

const Json::Array& Json::AsArray() const {
  if (!IsArray()) ThrowKind("a list", *this);
  return std::get<Array>(value_);
}

const Json::Object& Json::AsObject() const {
  if (!IsObject()) ThrowKind("an object", *this);
  return std::get<Object>(value_);
}

const Json* Json::Find(std::string_view key) const {
  if (!IsObject()) return nullptr;
  for (const Member& member : AsObject()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

const Json& Json::At(std::string_view key) const {
  const Json* found = Find(key);
  if (found == nullptr) throw Error(Fault::kInput, fmt::format("the key \"{}\" is missing", key));
  return *found;
}

Json& Json::Set(std::string_view key, Json value) {
  if (IsNull()) value_ = Object{};
  for (Member& member : std::get<Object>(value_)) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  return Append(std::string(key), std::move(value));
}

Json& Json::Append(std::string key, Json value) {
  std::get<Object>(value_).emplace_back(std::move(key), std::move(value));
  return *this;
}

void Json::Push(Json value) {
  if (IsNull()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

int64_t AsCount(const Json& json, std::string_view key, int64_t most) {
  if (json.IsInt() && json.AsInt() >= 0 && json.AsInt() <= most) return json.AsInt();
  const bool bounded = most < std::numeric_limits<int64_t>::max();
  throw Error(Fault::kInput,
              fmt::format("{}: expected a whole number from 0 {}, found {}", key,
                          bounded ? fmt::format("to {}", most) : "on",
                          json.IsInt() ? fmt::format("{}", json.AsInt()) : KindOf(json)));
}

Json ParseJson(std::string_view text, const std::string& name) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Builder builder;
  const auto result =
      reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                   rapidjson::kParseNumbersAsStringsFlag>(stream, builder);
  if (!result.IsError()) return builder.Take();
  const std::string_view before = text.substr(0, std::min(result.Offset(), text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  throw Error(Fault::kInput,
              fmt::format("{}:{}:{}: {}", name, line, column,
                          builder.problem().empty() ? ReasonFor(text, result) : builder.problem()));
}

std::string WriteJson(const Json& json, int inline_depth) {
  Writer writer(inline_depth);
  writer.Write(json, 0);
  writer.out += '\n';
  return std::move(writer.out);
}

}  // namespace perfgate
