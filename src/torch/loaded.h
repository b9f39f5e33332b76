// The user's own models: AOTInductor packages and TorchScript files.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "torch/module.h"

namespace perfgate::runner {

// Throw WorkloadFault if the file is not there; LibTorch's own faults pass through as c10::Error.
std::unique_ptr<Model> LoadPackage(const std::string& path, c10::Device device);
std::unique_ptr<Model> LoadScript(const std::string& path, c10::Device device);

}  // namespace perfgate::runner
