#include "run/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "base/text.h"
#include "base/units.h"

namespace perfgate {
namespace {

constexpr std::string_view kRewrite = "\r\x1b[K";

}  // namespace

std::string Progress::NextAttempt(const Case& declared, const Attempt& attempt) {
  const bool head = attempt.side == Side::kHead;
  const int processes = ProcessesOf(declared);
  std::string which;
  if (attempt.process < processes) {
    which = fmt::format("{}{} {}/{}", head ? "" : "base ", ToString(attempt.phase),
                        attempt.process + 1, processes);
  } else if (attempt.pair > 0) {
    which = fmt::format("{} of pair {}", head ? "head" : "base", attempt.pair + 1);
  } else {
    which = fmt::format("second session {}/{}", attempt.process - processes + 1, processes);
  }
  return fmt::format("[{}/{}] {} {}", ++number_, attempts_, Printable(declared.name), which);
}

void Progress::Started(const std::string& what) {
  if (world_.ErrIsTerminal()) world_.Err() << kRewrite << what << " ..." << std::flush;
}

void Progress::Finished(const std::string& what, const AttemptResult& result) {
  const std::string line = fmt::format(
      "{}  {}{}{}", what, FormatValue(static_cast<double>(result.wall_ns), Unit::kNanoseconds),
      result.fault.empty() ? "" : "  ", Printable(result.fault));
  if (world_.ErrIsTerminal()) world_.Err() << kRewrite;
  world_.Err() << line;
  if (!world_.ErrIsTerminal() || !result.fault.empty()) world_.Err() << '\n';
  world_.Err() << std::flush;
}

void Progress::End() {
  if (world_.ErrIsTerminal()) world_.Err() << kRewrite << std::flush;
}

}  // namespace perfgate
