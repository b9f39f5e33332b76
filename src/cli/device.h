// --device: where cases run.
#pragma once

#include <string>
#include <vector>

#include "attempt/attempt.h"

namespace perfgate::cli {

// For all cases; "" leaves what is declared. Throws Error(kUsage) for what is no device.
void SetDevice(const std::string& device, std::vector<Case>* cases);

}  // namespace perfgate::cli
