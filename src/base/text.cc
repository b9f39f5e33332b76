#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace perfgate {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

bool MatchesGlob(std::string_view glob, std::string_view text) {
  size_t g = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  const size_t limit = std::max<size_t>(2, word.size() / 3);
  std::optional<std::string> best;
  size_t best_distance = limit + 1;
  if (word.size() > 100) return best;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    // A candidate that shares no letter with a short word is no suggestion.
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == separator) {
      parts.emplace_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  return parts;
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Hash16(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return fmt::format("{:016x}", hash);
}

size_t Utf8SequenceLength(std::string_view text, size_t at) {
  // No overlong forms, no surrogates.
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0u : 0x80u;
    const unsigned high = first == 0xED ? 0x9Fu : 0xBFu;
    return byte(at + 1) >= low && byte(at + 1) <= high && tail(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90u : 0x80u;
    const unsigned high = first == 0xF4 ? 0x8Fu : 0xBFu;
    return byte(at + 1) >= low && byte(at + 1) <= high && tail(at + 2) && tail(at + 3) ? 4 : 0;
  }
  return 0;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = Utf8SequenceLength(text, i);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
      ++i;
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else if (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + 1]));  // C1 controls
      i += 2;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

std::string Shorten(std::string_view text, size_t width) {
  if (text.size() <= width || width < 8) return std::string(text);
  size_t head = (width - 3) * 2 / 3;
  size_t tail = text.size() - (width - 3 - head);
  while (head > 0 && IsContinuation(text[head])) --head;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

std::string ShellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : Printable(text)) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string Slug(std::string_view text) {
  std::string slug;
  for (const char c : text.substr(0, 60)) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
                      (c == '.' && !slug.empty()) || c == '-';
    slug += keep ? c : '-';
  }
  return slug + "-" + Hash16(text).substr(0, 10);
}

std::string Plural(int64_t count, std::string_view singular, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  if (plural.empty()) return fmt::format("{} {}s", count, singular);
  return fmt::format("{} {}", count, plural);
}

}  // namespace perfgate
