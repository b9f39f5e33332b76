// What the workload computed, for the numeric rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "perfgate/attempt.h"

namespace perfgate::runner {

// Statistics of each output, and its elements as little-endian float32 in `folder`/output-<i>.f32
// (outputs above 256 MiB are not saved).
std::vector<attempt::Output> Describe(const std::vector<at::Tensor>& outputs,
                                      const std::string& folder);

}  // namespace perfgate::runner
