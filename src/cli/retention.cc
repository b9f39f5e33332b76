#include "cli/retention.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfgate::cli {
namespace {

// `rank`: the number of finished runs of the suite that are newer.
std::string WhyItStays(const RunFacts& run, int64_t rank, const Retention& retention) {
  if (!run.of_this_suite) return "of another suite";
  if (run.accepted) return "a baseline is from it";
  if (run.since) return "a rule compares with it ('since')";
  if (run.may_be_running) return "not finished: it may be running";
  if (run.finished && rank == 0) return "the newest";
  if (retention.newest && rank < *retention.newest) {
    return fmt::format("of the newest {}", *retention.newest);
  }
  if (retention.since && run.started >= *retention.since) return "young";
  return "";
}

}  // namespace

std::vector<std::string> WhyKept(std::span<const RunFacts> runs, const Retention& retention) {
  std::vector<std::string> reasons;
  int64_t rank = 0;
  for (const RunFacts& run : runs) {
    reasons.push_back(WhyItStays(run, rank, retention));
    if (run.of_this_suite && run.finished) ++rank;
  }
  return reasons;
}

}  // namespace perfgate::cli
