#include "trace/quotes.h"

#include <algorithm>
#include <array>
#include <optional>

namespace perfgate {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kJsonBlanks = " \n\r\t";

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kJsonBlanks), text.size()));
}

// `text` starts behind a key's first quote. Nothing if no key with its colon stands there.
std::optional<std::string_view> KeyAt(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  if (at >= text.size()) return text;  // longer than what can be seen
  std::string_view rest = text.substr(at + 1);
  SkipBlanks(rest);
  // A quote there: the colon is missing, and the document is broken.
  if (!rest.empty() && rest.front() != ':' && rest.front() != '"') return std::nullopt;
  return text.substr(0, at);
}

bool KeyFollows(std::string_view rest) {
  if (rest.empty()) return true;
  return rest.front() == '"' && KeyAt(rest.substr(1)).has_value();
}

// What may stand behind the comma that follows a string.
bool NextStarts(StringRole role, std::string_view rest) {
  SkipBlanks(rest);
  if (rest.empty() || rest.front() == ',') return true;
  if (role == StringRole::kMember) return rest.front() == '}' || KeyFollows(rest);
  return "\"{[]-0123456789tfnNI"sv.find(rest.front()) != std::string_view::npos;
}

bool MayFollow(StringRole role, std::string_view rest) {
  SkipBlanks(rest);
  if (rest.empty()) return true;
  const char next = rest.front();
  rest.remove_prefix(1);
  if (next == ',') return NextStarts(role, rest);
  if (role == StringRole::kMember && next == '"')
    return KeyAt(rest).has_value();  // a comma is missing
  if (next != (role == StringRole::kMember ? '}' : ']')) return false;
  SkipBlanks(rest);
  return rest.empty() || ",]}"sv.find(rest.front()) != std::string_view::npos;
}

bool EndsWithComma(std::string_view text) {
  const size_t last = text.find_last_not_of(kJsonBlanks);
  return last != std::string_view::npos && text[last] == ',';
}

// Keys that a Kineto event may have behind a text.
bool IsEventKey(std::string_view key) {
  constexpr std::array kKeys = {"ph"sv,  "cat"sv,  "name"sv, "pid"sv, "tid"sv, "ts"sv,
                                "dur"sv, "args"sv, "id"sv,   "bp"sv,  "s"sv};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace

bool EndsKeyOfEvent(std::string_view before, std::string_view after) {
  // Not "name", "id", "args": a range may be named by a JSON text of the user's own.
  constexpr std::array kKeys = {"ph"sv,
                                "ts"sv,
                                "dur"sv,
                                "pid"sv,
                                "tid"sv,
                                "cat"sv,
                                "correlation"sv,
                                "External id"sv,
                                "Ev Idx"sv,
                                "Python id"sv,
                                "Record function id"sv};
  SkipBlanks(after);
  if (!after.starts_with(':')) return false;
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) {
    return before.ends_with(key) && before.size() > key.size() &&
           before[before.size() - key.size() - 1] == '"';
  });
}

QuoteSense SenseOfQuote(StringRole role, std::string_view before, std::string_view after) {
  const bool value = role == StringRole::kMember || role == StringRole::kElement;
  if (!value || MayFollow(role, after)) return QuoteSense::kCloses;
  const bool forgotten = role == StringRole::kMember && EndsWithComma(before) &&
                         IsEventKey(KeyAt(after).value_or(""sv));
  return forgotten ? QuoteSense::kForgotten : QuoteSense::kInside;
}

}  // namespace perfgate
