#include "trace/quotes.h"

#include <algorithm>
#include <optional>

#include "trace/bytes.h"
#include "trace/event_fields.h"

namespace perfgate {
namespace {

using namespace std::string_view_literals;

// `text` starts behind a key's first quote. Nothing if no key with its colon stands there.
std::optional<std::string_view> KeyAt(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  if (at >= text.size()) return text;  // longer than what can be seen
  const std::string_view rest = WithoutBlanksBefore(text.substr(at + 1));
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
  rest = WithoutBlanksBefore(rest);
  if (rest.empty() || rest.front() == ',') return true;
  if (role == StringRole::kMember) return rest.front() == '}' || KeyFollows(rest);
  return "\"{[]-0123456789tfnNI"sv.find(rest.front()) != std::string_view::npos;
}

bool MayFollow(StringRole role, bool outermost, std::string_view rest) {
  rest = WithoutBlanksBefore(rest);
  if (rest.empty()) return true;
  const char next = rest.front();
  rest.remove_prefix(1);
  if (next == ',') return NextStarts(role, rest);
  if (role == StringRole::kMember && next == '"')
    return KeyAt(rest).has_value();  // a comma is missing
  if (next != (role == StringRole::kMember ? '}' : ']')) return false;
  rest = WithoutBlanksBefore(rest);
  return outermost || rest.empty() || ",]}"sv.find(rest.front()) != std::string_view::npos;
}

bool EndsWithComma(std::string_view text) {
  const size_t last = text.find_last_not_of(kBlanks);
  return last != std::string_view::npos && text[last] == ',';
}

}  // namespace

bool EndsKeyOfEvent(std::string_view before, std::string_view after) {
  if (!WithoutBlanksBefore(after).starts_with(':')) return false;
  before.remove_prefix(before.size() - std::min(before.size(), kLongestTellingKey + 1));
  const size_t quote = before.rfind('"');
  return quote != std::string_view::npos && TellsOfEvent(before.substr(quote + 1));
}

QuoteSense SenseOfQuote(StringRole role, bool outermost, std::string_view before,
                        std::string_view after) {
  const bool value = role == StringRole::kMember || role == StringRole::kElement;
  if (!value || MayFollow(role, outermost, after)) return QuoteSense::kCloses;
  const bool forgotten = role == StringRole::kMember && EndsWithComma(before) &&
                         IsEventKey(KeyAt(after).value_or(""sv));
  return forgotten ? QuoteSense::kForgotten : QuoteSense::kInside;
}

}  // namespace perfgate
