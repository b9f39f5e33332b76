// Which stored runs must stay: pure, so that what `perfgate gc` drops can be tested without files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perfgate::cli {

struct RunFacts {
  std::string id, started;  // started: ISO 8601, UTC
  bool finished = false;
  bool accepted = false;        // a baseline was taken from it
  bool since = false;           // a `history` rule with `since` compares with it
  bool of_this_suite = false;   // whose baselines are known
  bool may_be_running = false;  // its out folder says neither finished nor interrupted
};

struct Retention {
  std::optional<int64_t> newest;     // finished runs that stay
  std::optional<std::string> since;  // ISO 8601, UTC: runs that started then or later stay
};

// For each of `runs`, newest first: why it must stay, or "". What no policy may drop: runs of other
// suites, whose baselines are not known here; accepted ones; those that `since` needs; the newest
// finished one; one that may still be running. A run that was interrupted takes no place of a
// finished one.
std::vector<std::string> WhyKept(std::span<const RunFacts> runs, const Retention& retention);

}  // namespace perfgate::cli
