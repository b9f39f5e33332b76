// Defects on purpose: where a careless edit would put them, on the tensor between two operators or
// into the activation.
#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "torch/fault.h"
#include "torch/module.h"
#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

constexpr std::array<std::pair<std::string_view, Plant>, 4> kPlants = {{
    {"clone", Plant::kClone},
    {"cast", Plant::kCast},
    {"split_activation", Plant::kSplitActivation},
    {"sync", Plant::kSync},
}};

constexpr std::array<std::string_view, 6> kWithActivation = {
    "mlp", "geglu", "swiglu", "norm_mlp", "transformer_block", "moe"};

WorkloadFault Refusal(const std::string& text, const std::string& why) {
  return WorkloadFault(fmt::format("cannot plant '{}': {}", text, why));
}

}  // namespace

Plant PlantFor(const std::string& text, const Options& options, bool on_gpu) {
  if (text.empty()) return Plant::kNone;
  const auto found = std::find_if(kPlants.begin(), kPlants.end(),
                                  [&](const auto& known) { return known.first == text; });
  if (found == kPlants.end()) {
    throw Refusal(text, "no such defect; there are clone, cast, split_activation, sync");
  }
  if (options.source != Source::kModule || options.mode != Mode::kEager) {
    throw Refusal(
        text,
        "defects can be put into built-in modules in eager mode only; plant it in such a case");
  }
  if (found->second == Plant::kSync && !on_gpu) {
    throw Refusal(text,
                  "on the CPU nothing is asynchronous, so a sync costs nothing; use another "
                  "defect");
  }
  const bool has_activation = std::find(kWithActivation.begin(), kWithActivation.end(),
                                        options.name) != kWithActivation.end();
  if (found->second == Plant::kSplitActivation && !has_activation) {
    throw Refusal(text, options.name + " has no activation; use mlp or geglu, or another defect");
  }
  return found->second;
}

at::Tensor Disturb(const at::Tensor& between, Plant plant) {
  switch (plant) {
    case Plant::kClone:
      return between.clone();
    case Plant::kCast: {  // up and back: the numbers stay
      const auto wider = between.scalar_type() == at::kFloat ? at::kDouble : at::kFloat;
      return between.to(wider).to(between.scalar_type());
    }
    case Plant::kSync:
      torch::cuda::synchronize(between.get_device());
      return between;
    case Plant::kNone:
    case Plant::kSplitActivation:
      return between;
  }
  return between;
}

Activation WithPlant(Activation activation, Plant plant) {
  if (plant != Plant::kSplitActivation) return activation;
  return [activation = std::move(activation)](const at::Tensor& x) {
    const std::vector<at::Tensor> halves = x.chunk(2, -1);
    return at::cat({activation(halves.front()), activation(halves.back())}, -1);
  };
}

}  // namespace perfgate::runner
