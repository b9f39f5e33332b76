#include "declare/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace perfgate {
namespace {

// A file of something else is not printed by its "keys".
constexpr size_t kLongestKey = 40;

std::string Found(const Yaml& value) {
  switch (value.kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kList:
      return "a list";
    case YamlKind::kMap:
      return "a mapping";
    case YamlKind::kScalar:
      break;
  }
  return value.quoted ? "the text " + Quoted(value.text) : Quoted(value.text);
}

}  // namespace

Spot Reader::spot() const { return IsScalar() ? value_->spot : key_; }

void Reader::FailExpected(std::string_view expected) const {
  // A whole file that is one text is none of ours: its lines are not for a log.
  if (path_.empty() && IsScalar()) {
    Fail(fmt::format("must be {}, found a text", expected));
    return;
  }
  Fail(fmt::format("must be {}, found {}", expected, Found(*value_)));
}

bool Reader::Map(KeySet keys) const {
  if (!Map(Names(keys))) return false;
  for (const KeyName& key : keys) {
    if (key.required && !Has(key.name)) Fail(fmt::format("key '{}' is missing", key.name));
  }
  return true;
}

bool Reader::Map(const std::vector<std::string>& known, std::string_view what) const {
  if (!IsMap()) {
    FailExpected("a mapping");
    return false;
  }
  for (const Yaml::Member& member : value_->members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string hint = problems_->Many() ? "" : Suggestion(member.key, known, what);
    problems_->Add(member.spot, path_,
                   fmt::format("unknown key {}{}", Quoted(member.key, kLongestKey), hint));
  }
  return true;
}

std::optional<Reader> Reader::Find(std::string_view key) const {
  const Yaml::Member* member = value_->Find(key);
  if (!member) return std::nullopt;
  return Reader(member->value, member->spot,
                path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key), *problems_);
}

std::vector<std::pair<std::string, Reader>> Reader::Members() const {
  std::vector<std::pair<std::string, Reader>> members;
  for (const Yaml::Member& member : value_->members) {
    const std::string key = Printable(std::string_view(member.key).substr(0, 80));
    members.emplace_back(member.key, Reader(member.value, member.spot,
                                            fmt::format("{}.{}", path_, key), *problems_));
  }
  return members;
}

void Reader::FailAtKey(std::string_view key, std::string_view text) const {
  const Yaml::Member* member = value_->Find(key);
  problems_->Add(member ? member->spot : spot(), path_, text);
}

std::vector<Reader> Reader::Items() const {
  std::vector<Reader> items;
  if (!IsList()) {
    FailExpected("a list");
    return items;
  }
  if (value_->items.empty()) Fail("the list is empty; it needs at least one item");
  for (size_t i = 0; i < value_->items.size(); ++i) {
    const Yaml& item = value_->items[i];
    items.emplace_back(item, item.spot, fmt::format("{}[{}]", path_, i), *problems_);
  }
  return items;
}

std::vector<Reader> Reader::ItemsOrOne() const {
  if (IsScalar()) return {*this};
  return Items();
}

std::optional<std::string> Reader::Text() const {
  if (!IsScalar()) {
    FailExpected("a text");
    return std::nullopt;
  }
  constexpr size_t kLongest = 4096;
  if (value_->text.empty() || value_->text.size() > kLongest) {
    Fail(value_->text.empty() ? "must not be empty" : "is longer than 4096 bytes");
    return std::nullopt;
  }
  return value_->text;
}

std::vector<std::string> Reader::Texts() const {
  std::vector<std::string> texts;
  for (const Reader& item : ItemsOrOne()) {
    const auto text = item.Text();
    if (!text) continue;
    if (std::find(texts.begin(), texts.end(), *text) != texts.end()) {
      item.Fail(fmt::format("{} is there twice", Quoted(*text)));
      continue;
    }
    texts.push_back(*text);
  }
  return texts;
}

std::optional<bool> Reader::Bool() const {
  if (IsScalar() && !value_->quoted && value_->text == "true") return true;
  if (IsScalar() && !value_->quoted && value_->text == "false") return false;
  FailExpected("true or false");
  return std::nullopt;
}

std::optional<int64_t> Reader::Int(int64_t least, int64_t most) const {
  const std::string expected = fmt::format("a whole number from {} to {}", least, most);
  if (IsScalar() && !value_->quoted) {
    const std::string& text = value_->text;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && number >= least && number <= most) return number;
  }
  FailExpected(expected);
  return std::nullopt;
}

std::optional<Quantity> Reader::Number(std::string_view expected) const {
  if (IsScalar()) {
    if (const auto quantity = ParseQuantity(value_->text)) return quantity;
  }
  FailExpected(expected);
  return std::nullopt;
}

std::optional<int64_t> Reader::DurationNs(int64_t most_ns) const {
  const std::string expected =
      fmt::format("a duration with its unit, as 30s or 200us, above 0 and at most {}",
                  FormatValue(static_cast<double>(most_ns), Unit::kNanoseconds));
  const auto quantity = Number(expected);
  if (!quantity) return std::nullopt;
  if (quantity->unit == Unit::kNanoseconds && quantity->value >= 1 &&
      quantity->value <= static_cast<double>(most_ns)) {
    return std::llround(quantity->value);
  }
  FailExpected(expected);
  return std::nullopt;
}

std::optional<std::string> Reader::Choice(const std::vector<std::string>& choices) const {
  if (IsScalar() && std::find(choices.begin(), choices.end(), value_->text) != choices.end()) {
    return value_->text;
  }
  std::string hint;
  if (IsScalar() && choices.size() > 6) {
    hint = problems_->Many() ? "" : Suggestion(value_->text, choices, "names");
    Fail(fmt::format("{} is not known{}", Quoted(value_->text), hint));
    return std::nullopt;
  }
  FailExpected("one of " + Join(choices, ", "));
  return std::nullopt;
}

bool CheckVersion(const Reader& root) {
  const auto version = root.Find("version");
  if (!version) return false;  // said as a missing key
  if (version->IsScalar() && version->value().text == "1") return true;
  if (version->IsScalar() &&
      version->value().text.find_first_not_of("0123456789.") == std::string::npos) {
    version->Fail(fmt::format("version {} is not known to this perfgate, which reads version 1",
                              Quoted(version->value().text)));
  } else {
    version->FailExpected("1");
  }
  return false;
}

}  // namespace perfgate
