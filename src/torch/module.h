// The built-in modules (perfgate/modules.h), as plain ATen calls. Weights and inputs come from
// seeded generators on the CPU, in the order that python/perfgate_export.py uses too, so that a
// module has the same numbers in every mode, dtype and device.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "perfgate/attempt.h"
#include "torch/gpu.h"
#include "torch/options.h"

namespace perfgate::runner {

// What is measured: one call is one iteration.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& inputs) = 0;
  // What was asked for and not done in the calls so far.
  virtual std::vector<attempt::Fallback> Fallbacks() const { return {}; }
};

// A defect that can be put into a module on purpose, to see whether the rules bite.
enum class Defect { kNone, kClone, kCast, kSplitActivation, kSync, kDelay, kNarrow };

struct Plant {
  Defect defect = Defect::kNone;
  std::chrono::nanoseconds delay{
      0};  // of kDelay: how long the host is busy with nothing, each time
};

// Throws WorkloadFault for an unknown defect, or one that this workload on this device cannot have.
Plant PlantFor(const std::string& text, const Options& options, bool on_gpu);

// In modes eager and hand_fused, with a training step around it if the options say so. `gpu` is
// null on the CPU. Throws WorkloadFault for settings that this device cannot serve.
std::unique_ptr<Model> MakeModule(const Options& options, at::Device device, Plant plant, Gpu* gpu);

// One tensor for each InputSpec.
std::vector<at::Tensor> MakeInputs(const Options& options, at::Device device);
// The same text where the numbers are the same before they get their dtype and their device.
std::string NameOfInputs(const Options& options);

}  // namespace perfgate::runner
