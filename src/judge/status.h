// How statuses weigh against each other and what exit code they mean.
#pragma once

#include "judge/judge.h"

namespace perfgate {

// Exit code of a finding or a case: 3, 1, 4 or 0.
int ExitCode(Status status);
// By precedence 3 > 1 > 4 > 0.
int WorseExit(int a, int b);
Result ResultOf(int exit_code, bool only_inconclusive);

}  // namespace perfgate
