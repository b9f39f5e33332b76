#include "torch/module.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "torch/fault.h"
#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

at::ScalarType ToScalarType(const std::string& dtype) {
  if (dtype == "bf16") return at::kBFloat16;
  return dtype == "fp16" ? at::kHalf : at::kFloat;
}

using Maker = std::unique_ptr<Model> (*)(Recipe& recipe);

const std::map<std::string, Maker>& Makers() {
  static const std::map<std::string, Maker> makers = {
      {"linear", MakeLinear},
      {"matmul_add", MakeMatmulAdd},
      {"mlp", MakeMlp},
      {"norm_mlp", MakeNormMlp},
      {"geglu", MakeGeglu},
      {"swiglu", MakeSwiglu},
      {"attention", MakeAttention},
      {"transformer_block", MakeTransformerBlock},
      {"moe", MakeMoe},
      {"decode", MakeDecode},
      {"quantized_linear", MakeQuantizedLinear},
  };
  return makers;
}

// Inputs beyond the machine's memory would be drawn for minutes, until the system kills the
// process.
void CheckInputsFit(const std::vector<InputSpec>& inputs) {
  constexpr double kGiB = 1 << 30;
  double needed = 0;
  for (const InputSpec& input : inputs) {
    double bytes = sizeof(float);
    for (const int64_t size : input.shape) bytes *= static_cast<double>(size);
    needed += bytes;
  }
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed <= memory) return;
  throw WorkloadFault(
      fmt::format("out of memory: use a smaller batch; drawn in fp32 the inputs take {:.0f} GiB, "
                  "and this machine has {:.0f} GiB",
                  needed / kGiB, memory / kGiB));
}

}  // namespace

std::unique_ptr<Model> MakeModule(const Options& options, at::Device device, Plant plant,
                                  Gpu* gpu) {
  const auto tensors =
      at::TensorOptions().dtype(ToScalarType(options.inputs[0].dtype)).device(device);
  Recipe recipe{options, Weights(options.seed, tensors), plant, gpu};
  std::unique_ptr<Model> model = Makers().at(options.name)(recipe);
  if (!options.Trains()) return model;
  return MakeTrainingStep(std::move(model), recipe.weights.All(), options.set.at("optimizer"));
}

std::vector<at::Tensor> MakeInputs(const Options& options, at::Device device) {
  CheckInputsFit(options.inputs);
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(options.seed + 1);
  std::vector<at::Tensor> inputs;
  for (const InputSpec& input : options.inputs) {
    const auto target = at::TensorOptions().dtype(ToScalarType(input.dtype)).device(device);
    inputs.push_back(at::randn(input.shape, generator).to(target));
  }
  return inputs;
}

std::string NameOfInputs(const Options& options) {
  std::vector<std::string> shapes;
  for (const InputSpec& input : options.inputs) {
    shapes.push_back(fmt::format("[{}]", fmt::join(input.shape, ", ")));
  }
  return fmt::format("seed {}: randn {}", options.seed, fmt::join(shapes, ", "));
}

}  // namespace perfgate::runner
