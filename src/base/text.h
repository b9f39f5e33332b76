// Small functions on text that several folders need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

// True if `glob` matches the whole of `text`. Only `*` (any run, also empty) and `?` (any one
// character) are special, so `[`, `]` in case names need no escape. Linear time, no recursion.
bool MatchesGlob(std::string_view glob, std::string_view text);

// The candidate nearest to `word` by edit distance, or nothing if none is near (distance above
// max(2, a third of the word)). Used for "did you mean".
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(std::span<const std::string> parts, std::string_view separator);
std::string_view Trim(std::string_view text);

// 64-bit FNV-1a (Fowler, Noll, Vo) of the bytes, as 16 lower-case hex digits. For identities of
// definitions and file names; no defence against someone who wants a collision.
std::string Hash16(std::string_view bytes);

// Length in bytes of the valid UTF-8 sequence (RFC 3629) that starts at `at`, or 0 if none does.
size_t Utf8SequenceLength(std::string_view text, size_t at);

// Bytes that are not valid UTF-8 become U+FFFD, control characters become `\xNN`: what may be
// written to a terminal or a report from a hostile name. Newlines and tabs are escaped too.
std::string Printable(std::string_view text);

// At most `width` bytes; what is cut from the middle becomes "...". Never cuts a UTF-8 sequence.
std::string Shorten(std::string_view text, size_t width);

// 'text' for a POSIX shell, printable; a quote inside becomes '\''. For commands that are shown to
// be typed.
std::string ShellQuoted(std::string_view text);

// A file name for any text: letters, digits, `.`, `_`, `-` kept, others become `-`, at most 60
// characters, then `-` and the first 10 digits of Hash16(text). Different texts that differ only in
// what a file system folds never share a name.
std::string Slug(std::string_view text);

// "1 kernel", "2 kernels", "0 kernels".
std::string Plural(int64_t count, std::string_view singular, std::string_view plural = "");

}  // namespace perfgate
