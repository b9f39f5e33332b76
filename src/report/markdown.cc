#include "report/markdown.h"

#include <cctype>

#include "report/layout.h"

namespace perfgate::markdown {
namespace {

// A zero-width space: breaks a mention, a reference or an address and is not seen.
constexpr std::string_view kInvisible = "\xE2\x80\x8B";

// True if `word`, in any case, stands at `at`.
bool IsWord(std::string_view text, size_t at, std::string_view word) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[at + i])) != word[i]) return false;
  }
  return true;
}

}  // namespace

std::string Prose(std::string_view text) {
  std::string prose;
  const std::string safe = Safe(text);
  for (size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    switch (c) {
      case '<':
        prose += "&lt;";
        break;
      case '>':
        prose += "&gt;";
        break;
      case '&':
        prose += "&amp;";
        break;
      case '@':
      case '#':
        prose += c;
        prose += kInvisible;
        break;
      case '`':
      case '*':
      case '_':
      case '|':
      case '[':
      case ']':
      case '\\':
      case '~':
      case '!':
        prose += '\\';
        prose += c;
        break;
      case '.':  // of www.
        if (i >= 3 && IsWord(safe, i - 3, "www")) prose += kInvisible;
        prose += c;
        break;
      case '-':  // of GH-1
        if (i >= 2 && IsWord(safe, i - 2, "gh")) prose += kInvisible;
        prose += c;
        break;
      case ':':
        prose += c;
        if (safe.compare(i + 1, 2, "//") == 0) prose += kInvisible;
        break;
      default:
        prose += c;
    }
  }
  return prose;
}

std::string Code(std::string_view text) {
  std::string code;
  for (const char c : Safe(text)) {
    if (c == '`') {
      code += '\'';
    } else if (c == '|') {
      code += "\\|";
    } else {
      code += c;
    }
  }
  // Blanks keep a span that starts or ends with a backslash, and an empty one, a span.
  return code.empty() ? "` `" : "`" + code + "`";
}

std::string Fenced(std::string_view text) {
  std::string line = Safe(text);
  for (char& c : line) {
    if (c == '`') c = '\'';
  }
  return line;
}

}  // namespace perfgate::markdown
