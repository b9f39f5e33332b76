// One child process from start to end, with everything that it started.
//
// Between perfgate and the program stands a keeper: a fork of perfgate without a program of its
// own. It adopts whatever the program leaves behind, ends all of it when the program ends, and also
// when perfgate dies, however that happens. So nothing of one attempt is left to disturb the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "run/run.h"

namespace perfgate {

struct ChildEnd {
  AttemptResult result;
  std::string stdout_text, stderr_text;  // the last 64 KiB of each
};

// Runs `process` (its *_file members are not looked at). `interrupted` is asked whenever `wake_fd`
// becomes readable; wake_fd < 0: never. Throws Error(kEnvironment) only if this machine gives no
// more processes or files.
ChildEnd RunChild(const Process& process, int wake_fd, const std::function<int()>& interrupted);

}  // namespace perfgate
