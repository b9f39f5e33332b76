// The traced window, recorded by LibTorch's profiler.
#pragma once

#include <c10/core/Device.h>

#include "perfgate/attempt.h"

namespace perfgate::runner {

// Operators with shapes and allocations; on a GPU kernels and runtime calls too. A process may run
// one window: later ones may lose kernels (pytorch#192021).
attempt::Tracer KinetoTracer(c10::Device device);

}  // namespace perfgate::runner
