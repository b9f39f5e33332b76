// Counts of instructions, as the tools that count them write them.
#include <algorithm>
#include <charconv>

#include "attempt/attempt.h"
#include "base/text.h"

namespace perfgate {
namespace {

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count <= 0) return std::nullopt;
  return count;
}

}  // namespace

int TimedIterationsOf(const Case& declared, const Attempt& attempt) {
  const bool twice = declared.profiler == Profiler::kInstructions && attempt.process % 2 == 1;
  return declared.windows.timed_iterations * (twice ? 2 : 1);
}

// "123456,,instructions:u,4242,100.00,," of `perf stat -x,`: count, unit, event, time, share of the
// time in which it was counted. A share below 100 % is an estimate, no count.
std::optional<int64_t> CountOfPerfStat(std::string_view text) {
  for (const std::string& line : Split(std::string(text), '\n')) {
    const std::vector<std::string> fields = Split(line, ',');
    if (fields.size() < 5 || fields[2] != "instructions:u" || fields[4] != "100.00") continue;
    return ParseCount(fields[0]);
  }
  return std::nullopt;
}

// "summary: 123456" with the event Ir alone (Callgrind Format Specification).
std::optional<int64_t> CountOfCallgrind(std::string_view text) {
  constexpr std::string_view kKey = "summary: ";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    if (line.starts_with(kKey)) return ParseCount(Trim(line.substr(kKey.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

}  // namespace perfgate
