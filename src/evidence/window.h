// The traced window and its steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace perfgate {

struct Step {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t process = 0, thread = 0;  // whose mark it is
};

struct Window {
  std::vector<Step> steps;    // at least one, in order of time
  bool marked = false;        // false: no ProfilerStep#N; the whole trace is one step
  std::string misnumbered{};  // what is wrong with the numbers of the marks; "" if they count up

  // Index of the step that holds this instant, or -1.
  int StepAt(int64_t ns) const;
  int Count() const { return static_cast<int>(steps.size()); }
};

// Reads the marks ProfilerStep#N. Oddities go to `notes`, marks that contradict each other to
// `incomplete`; what wrong numbers mean is for the caller to say.
Window FindWindow(const TraceData& trace, std::vector<std::string>& notes,
                  std::vector<std::string>& incomplete);

// The whole trace as one step.
Window WholeWindow(const TraceData& trace);

}  // namespace perfgate
