// Names decoded once for all rows.
#pragma once

#include "evidence/evidence.h"

namespace perfgate {

// Fills `info` of every row from its name.
void DecodeRows(Evidence& evidence);

}  // namespace perfgate
