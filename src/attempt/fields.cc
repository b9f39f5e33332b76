#include "attempt/fields.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace perfgate {
namespace {

const Json kNoMembers{Json::Object{}};
const Json::Array kNoItems;

}  // namespace

Fields::Fields(const Json& json, std::string file, std::string path)
    : json_(json), file_(std::move(file)), path_(std::move(path)) {
  if (!json_.IsObject()) Fail("", "expected an object");
}

std::string Fields::PathOf(std::string_view key) const {
  if (path_.empty() || key.empty()) return path_ + std::string(key);
  return fmt::format("{}.{}", path_, key);
}

void Fields::Fail(std::string_view key, std::string_view message) const {
  const std::string path = PathOf(key);
  throw Error(Fault::kInput, path.empty() ? fmt::format("{}: {}", file_, message)
                                          : fmt::format("{}: {}: {}", file_, path, message));
}

void Fields::Require(std::string_view key) const {
  if (!Has(key)) Fail(key, "is missing");
}

void Fields::RequireSchema(std::string_view expected) const {
  Require("schema");
  const std::string found = Text("schema");
  if (found == expected) return;
  Fail("schema", fmt::format("expected \"{}\", found \"{}\"; use the perfgate that wrote it, or "
                             "measure again",
                             expected, found.substr(0, 60)));
}

std::string Fields::Text(std::string_view key) const {
  const Json* found = json_.Find(key);
  if (found == nullptr) return "";
  if (!found->IsString()) Fail(key, "expected text");
  return found->AsString();
}

bool Fields::Bool(std::string_view key, bool absent) const {
  const Json* found = json_.Find(key);
  if (found == nullptr) return absent;
  if (!found->IsBool()) Fail(key, "expected true or false");
  return found->AsBool();
}

int64_t Fields::Int(std::string_view key, int64_t absent, int64_t least, int64_t most) const {
  const Json* found = json_.Find(key);
  if (found == nullptr) return absent;
  if (!found->IsInt() || found->AsInt() < least || found->AsInt() > most) {
    Fail(key, fmt::format("expected a whole number from {} to {}", least, most));
  }
  return found->AsInt();
}

int Fields::SmallInt(std::string_view key, int absent) const {
  return static_cast<int>(Int(key, absent, 0, std::numeric_limits<int>::max()));
}

double Fields::Number(std::string_view key) const {
  const Json* found = json_.Find(key);
  if (found == nullptr) return 0;
  if (found->IsNull()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->IsNumber()) Fail(key, "expected a number");
  return found->AsNumber();
}

const Json::Array& Fields::List(std::string_view key, std::string_view expected) const {
  const Json* found = json_.Find(key);
  if (found == nullptr) return kNoItems;
  if (!found->IsArray()) Fail(key, fmt::format("expected a list of {}", expected));
  return found->AsArray();
}

std::vector<int64_t> Fields::Ints(std::string_view key) const {
  constexpr std::string_view kExpected = "whole numbers, none negative";
  std::vector<int64_t> numbers;
  for (const Json& item : List(key, kExpected)) {
    if (!item.IsInt() || item.AsInt() < 0) {
      Fail(fmt::format("{}[{}]", key, numbers.size()),
           "expected a whole number that is not negative");
    }
    numbers.push_back(item.AsInt());
  }
  return numbers;
}

std::vector<std::string> Fields::Texts(std::string_view key) const {
  std::vector<std::string> texts;
  for (const Json& item : List(key, "texts")) {
    if (!item.IsString()) Fail(fmt::format("{}[{}]", key, texts.size()), "expected text");
    texts.push_back(item.AsString());
  }
  return texts;
}

std::map<std::string, std::string> Fields::TextMap(std::string_view key) const {
  const Json* found = json_.Find(key);
  std::map<std::string, std::string> map;
  if (found == nullptr) return map;
  if (!found->IsObject()) Fail(key, "expected an object of texts");
  for (const auto& [name, value] : found->AsObject()) {
    if (!value.IsString()) Fail(fmt::format("{}.{}", key, name), "expected text");
    map[name] = value.AsString();
  }
  return map;
}

std::vector<Fields> Fields::Objects(std::string_view key) const {
  std::vector<Fields> objects;
  for (const Json& item : List(key, "objects")) {
    objects.emplace_back(item, file_, fmt::format("{}[{}]", PathOf(key), objects.size()));
  }
  return objects;
}

Fields Fields::Object(std::string_view key) const {
  const Json* found = json_.Find(key);
  return Fields(found == nullptr ? kNoMembers : *found, file_, PathOf(key));
}

Json ToJson(const std::map<std::string, std::string>& map) {
  Json::Object object;
  for (const auto& [name, value] : map) object.emplace_back(name, Json(value));
  return Json(std::move(object));
}

}  // namespace perfgate
