#include "attempt/attempt.h"

namespace perfgate {

std::string_view ToString(Profiler profiler) {
  switch (profiler) {
    case Profiler::kTorch:
      return "torch";
    case Profiler::kCupti:
      return "cupti";
    case Profiler::kInstructions:
      return "instructions";
  }
  return "torch";
}

std::string_view ToString(Side side) { return side == Side::kBase ? "base" : "head"; }

std::string_view ToString(Phase phase) { return phase == Phase::kTimed ? "timed" : "traced"; }

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kExited:
      return "exited";
    case Outcome::kSignalled:
      return "signalled";
    case Outcome::kTimedOut:
      return "timed_out";
    case Outcome::kNotStarted:
      return "not_started";
    case Outcome::kInterrupted:
      return "interrupted";
  }
  return "exited";
}

}  // namespace perfgate
