// What programs of the machine say when they are asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/run.h"

namespace perfgate {

struct Response {
  AttemptResult result;
  std::string text;  // of standard output; "" if it was not started

  bool started() const { return result.outcome != Outcome::kNotStarted; }
};

// Runs a program in a temporary folder of its own. Throws Error(kEnvironment) if there can be none.
Response Ask(std::vector<std::string> argv, int64_t timeout_ns, World& world);

}  // namespace perfgate
