// The built-in modules, as plain ATen calls: linear, matmul_add, mlp, geglu. Weights and inputs
// come from seeded generators on the CPU, in the order that python/perfgate_export.py uses too, so
// that a module has the same numbers in every mode and dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "torch/options.h"

namespace perfgate::runner {

// What is measured: one call is one iteration.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& inputs) = 0;
};

// A defect that can be put into a module on purpose, to see whether the rules bite.
enum class Plant { kNone, kClone, kCast, kSplitActivation, kSync };

// The settings that a module knows, with their defaults.
struct ModuleSettings {
  std::string name;
  std::map<std::string, std::string> defaults;
  std::map<std::string, std::vector<std::string>> choices;  // of those that are no number
  std::vector<int64_t> input_shape;                         // default
};
const std::vector<ModuleSettings>& KnownModules();

// Throws WorkloadFault for an unknown defect, or one that this module on this device cannot have.
Plant PlantFor(const std::string& text, const Options& options, bool on_gpu);

// Throws UsageFault if the input does not fit the module's settings.
void CheckInput(const Options& options);

std::unique_ptr<Model> MakeModule(const Options& options, at::Device device, Plant plant);

// One tensor for each InputSpec.
std::vector<at::Tensor> MakeInputs(const Options& options, at::Device device);

}  // namespace perfgate::runner
