// Lines that say how far a run is: one an attempt, or on a terminal one line that is rewritten.
#pragma once

#include <cstdint>
#include <string>

#include "run/run.h"

namespace perfgate {

class Progress {
 public:
  Progress(World& world, size_t attempts) : world_(world), attempts_(attempts) {}

  // What begins now: shown on a terminal only, until Finished.
  void Started(const std::string& what);
  // A line that stays, unless all went well on a terminal.
  void Finished(const std::string& what, const AttemptResult& result);
  // Takes the last rewritten line away.
  void End();

  // "[3/14] geglu[mode=aoti,tokens=64] traced 2/2"; counts up.
  std::string NextAttempt(const Case& declared, const Attempt& attempt);

 private:
  World& world_;
  size_t attempts_;
  size_t number_ = 0;
};

}  // namespace perfgate
