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

// Window::StepAt of times that mostly rise.
class StepCursor {
 public:
  explicit StepCursor(const Window& window) : window_(window) {}

  int At(int64_t ns) {
    if (Holds(last_, ns)) return static_cast<int>(last_);
    const int step = window_.StepAt(ns);
    if (step >= 0) last_ = static_cast<size_t>(step);
    return step;
  }

 private:
  bool Holds(size_t step, int64_t ns) const {
    const std::vector<Step>& steps = window_.steps;
    return ns >= steps[step].start_ns && ns < steps[step].end_ns &&
           (step + 1 == steps.size() || ns < steps[step + 1].start_ns);
  }

  const Window& window_;
  size_t last_ = 0;  // the step that was found last
};

// Reads the marks ProfilerStep#N. Oddities go to `notes`, marks that contradict each other to
// `incomplete`; what wrong numbers mean is for the caller to say.
Window FindWindow(const TraceData& trace, std::vector<std::string>& notes,
                  std::vector<std::string>& incomplete);

// The whole trace as one step.
Window WholeWindow(const TraceData& trace);

}  // namespace perfgate
