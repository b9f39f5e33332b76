// Waivers: a known failure is let through until a day, for a reason.
#pragma once

#include "judge/judge.h"

namespace perfgate {

// Turns a failure of `finding` into "waived" if the rule's waiver holds for the case today and,
// with `up_to`, the failure is no larger. Never touches anything but failures. An expired waiver,
// or a failure beyond `up_to`, is said in the message.
void ApplyWaiver(const Rule& rule, const Policy& policy, Finding& finding);

}  // namespace perfgate
