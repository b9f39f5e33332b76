// What the workload computed, for the numeric rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "perfgate/attempt.h"

namespace perfgate::runner {

// Each output with its statistics, saved as output-<i>.f32 (perfgate/outputs.h). A complex tensor
// is one of twice as many real numbers.
std::vector<attempt::Output> Save(const std::vector<at::Tensor>& outputs,
                                  const attempt::Settings& settings);

}  // namespace perfgate::runner
