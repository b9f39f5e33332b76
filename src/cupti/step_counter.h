// Which ranges of a program are steps, and when the window opens and closes.
#pragma once

#include <cstdint>

namespace perfgate::cupti {

// Steps do not overlap: a range of the step's name that begins while another is open, in whatever
// thread, is none. Not thread-safe.
class StepCounter {
 public:
  // The first `skipped` steps pass, the next `steps` are the window.
  StepCounter(int64_t skipped, int64_t steps) : skipped_(skipped), steps_(steps) {}

  enum class Turn : uint8_t {
    kNone,
    kPrime,  // the last step before the window began: recording must be on, so that it is warm
    kOpen,   // the first step of the window began
    kClose,  // the last one ended
  };
  struct Begun {
    bool counted = false;  // End() is owed
    int64_t step = -1;     // its number in the window; -1: not in the window
    Turn turn = Turn::kNone;
  };

  Begun Begin() {
    if (inside_) return {};
    inside_ = true;
    const int64_t index = begun_++;
    const int64_t step = index - skipped_;
    if (step < 0) return {true, -1, step == -1 ? Turn::kPrime : Turn::kNone};
    if (step >= steps_) return {true, -1, Turn::kNone};
    return {true, step, step == 0 ? Turn::kOpen : Turn::kNone};
  }

  Turn End() {
    if (!inside_) return Turn::kNone;
    inside_ = false;
    return begun_ == skipped_ + steps_ ? Turn::kClose : Turn::kNone;
  }

  int64_t begun() const { return begun_; }
  // Whole steps of the window so far.
  int64_t ended_in_window() const {
    const int64_t ended = begun_ - skipped_ - (inside_ ? 1 : 0);
    return ended < 0 ? 0 : ended;
  }

 private:
  const int64_t skipped_, steps_;
  int64_t begun_ = 0;
  bool inside_ = false;
};

}  // namespace perfgate::cupti
