#include "torch/module.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/cuda.h>

#include <cmath>
#include <functional>
#include <utility>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

at::ScalarType ToScalarType(const std::string& dtype) {
  if (dtype == "bf16") return at::kBFloat16;
  return dtype == "fp16" ? at::kHalf : at::kFloat;
}

// Weights in the order in which they are asked for; scaled so that activations stay near 1.
class Weights {
 public:
  Weights(uint64_t seed, at::TensorOptions options)
      : generator_(at::make_generator<at::CPUGeneratorImpl>(seed)), options_(options) {}

  Tensor Matrix(int64_t rows, int64_t columns, int64_t fan_in) {
    return Draw({rows, columns}, 1 / std::sqrt(static_cast<double>(fan_in)));
  }
  Tensor Vector(int64_t size) { return Draw({size}, 0.1); }

 private:
  Tensor Draw(at::IntArrayRef shape, double scale) {
    return at::randn(shape, generator_).mul(scale).to(options_);
  }

  at::Generator generator_;
  at::TensorOptions options_;
};

using Activation = std::function<Tensor(const Tensor&)>;

// Puts the defect where a careless edit would: on the tensor between two operators, or into the
// activation.
Tensor Disturb(const Tensor& between, Plant plant) {
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
  return [activation = std::move(activation)](const Tensor& x) {
    const std::vector<Tensor> halves = x.chunk(2, -1);
    return at::cat({activation(halves.front()), activation(halves.back())}, -1);
  };
}

class Linear : public Model {
 public:
  Linear(Weights weights, int64_t in, int64_t out, bool bias, Plant plant)
      : weight_(weights.Matrix(out, in, in)), plant_(plant) {
    if (bias) bias_ = weights.Vector(out);
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {at::linear(Disturb(inputs[0], plant_), weight_, bias_)};
  }

 private:
  Tensor weight_;
  std::optional<Tensor> bias_;
  Plant plant_;
};

class MatmulAdd : public Model {
 public:
  MatmulAdd(Weights weights, int64_t k, int64_t n, int64_t bias_rows, Plant plant)
      : weight_(weights.Matrix(k, n, k)),
        bias_(bias_rows == 0 ? weights.Vector(n) : weights.Matrix(bias_rows, n, 100)),
        plant_(plant) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {at::add(Disturb(at::matmul(inputs[0], weight_), plant_), bias_)};
  }

 private:
  Tensor weight_, bias_;
  Plant plant_;
};

class Mlp : public Model {
 public:
  Mlp(Weights weights, int64_t hidden, int64_t intermediate, bool bias, Activation activation,
      Plant plant)
      : activation_(WithPlant(std::move(activation), plant)), plant_(plant) {
    up_ = weights.Matrix(intermediate, hidden, hidden);
    if (bias) up_bias_ = weights.Vector(intermediate);
    down_ = weights.Matrix(hidden, intermediate, intermediate);
    if (bias) down_bias_ = weights.Vector(hidden);
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor h = activation_(at::linear(inputs[0], up_, up_bias_));
    return {at::linear(Disturb(h, plant_), down_, down_bias_)};
  }

 private:
  Activation activation_;
  Plant plant_;
  Tensor up_, down_;
  std::optional<Tensor> up_bias_, down_bias_;
};

class Geglu : public Model {
 public:
  Geglu(Weights weights, int64_t hidden, int64_t intermediate, bool bias, Activation activation,
        Plant plant)
      : activation_(WithPlant(std::move(activation), plant)), plant_(plant) {
    gate_ = weights.Matrix(intermediate, hidden, hidden);
    if (bias) gate_bias_ = weights.Vector(intermediate);
    up_ = weights.Matrix(intermediate, hidden, hidden);
    if (bias) up_bias_ = weights.Vector(intermediate);
    down_ = weights.Matrix(hidden, intermediate, intermediate);
    if (bias) down_bias_ = weights.Vector(hidden);
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor gate = activation_(at::linear(inputs[0], gate_, gate_bias_));
    const Tensor up = at::linear(inputs[0], up_, up_bias_);
    return {at::linear(Disturb(at::mul(gate, up), plant_), down_, down_bias_)};
  }

 private:
  Activation activation_;
  Plant plant_;
  Tensor gate_, up_, down_;
  std::optional<Tensor> gate_bias_, up_bias_, down_bias_;
};

Activation Gelu(const std::string& approximate) {
  return [approximate](const Tensor& x) { return at::gelu(x, approximate); };
}

int64_t Number(const Options& options, const std::string& key) {
  return std::stoll(options.set.at(key));
}

}  // namespace

const std::vector<ModuleSettings>& KnownModules() {
  static const std::vector<std::string> boolean = {"true", "false"};
  static const std::vector<ModuleSettings> modules = {
      {"linear",
       {{"in_features", "32"}, {"out_features", "64"}, {"bias", "true"}},
       {{"bias", boolean}},
       {1024, 32}},
      {"matmul_add",
       {{"k", "64"}, {"n", "64"}, {"bias", "1d"}},
       {{"bias", {"1d", "2d"}}},
       {64, 64}},
      {"mlp",
       {{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "true"}, {"activation", "gelu"}},
       {{"bias", boolean}, {"activation", {"gelu", "relu"}}},
       {64, 768}},
      {"geglu",
       {{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "false"}, {"approximate", "tanh"}},
       {{"bias", boolean}, {"approximate", {"tanh", "none"}}},
       {64, 768}},
  };
  return modules;
}

Plant PlantFor(const std::string& text, const Options& options, bool on_gpu) {
  if (text.empty()) return Plant::kNone;
  static const std::map<std::string, Plant> known = {{"clone", Plant::kClone},
                                                     {"cast", Plant::kCast},
                                                     {"split_activation", Plant::kSplitActivation},
                                                     {"sync", Plant::kSync}};
  const auto found = known.find(text);
  const auto refuse = [&](const std::string& why) -> WorkloadFault {
    return WorkloadFault(fmt::format("cannot plant '{}': {}", text, why));
  };
  if (found == known.end()) {
    throw refuse("no such defect; there are clone, cast, split_activation, sync");
  }
  if (options.source != Source::kModule || options.mode != Mode::kEager) {
    throw refuse(
        "defects can be put into built-in modules in eager mode only; plant it in such a case");
  }
  if (found->second == Plant::kSync && !on_gpu) {
    throw refuse("on the CPU nothing is asynchronous, so a sync costs nothing; use another defect");
  }
  const bool has_activation = options.name == "mlp" || options.name == "geglu";
  if (found->second == Plant::kSplitActivation && !has_activation) {
    throw refuse(options.name + " has no activation; use mlp or geglu, or another defect");
  }
  return found->second;
}

void CheckInput(const Options& options) {
  const bool is_matmul = options.name == "matmul_add";
  const int64_t expected = Number(options, options.name == "linear" ? "in_features"
                                           : is_matmul              ? "k"
                                                                    : "hidden");
  const std::vector<int64_t>& shape = options.inputs[0].shape;
  if (shape.back() == expected && (!is_matmul || shape.size() == 2)) return;
  throw UsageFault(fmt::format("--input-shape {}: {} with these settings takes [{}, {}]",
                               fmt::join(shape, ","), options.name,
                               is_matmul ? "rows" : "..., rows", expected));
}

std::unique_ptr<Model> MakeModule(const Options& options, at::Device device, Plant plant) {
  const auto dtype = ToScalarType(options.inputs[0].dtype);
  Weights weights(options.seed, at::TensorOptions().dtype(dtype).device(device));
  const bool bias = options.set.at("bias") == "true";
  if (options.name == "linear") {
    const int64_t in = Number(options, "in_features");
    return std::make_unique<Linear>(weights, in, Number(options, "out_features"), bias, plant);
  }
  if (options.name == "matmul_add") {
    const int64_t k = Number(options, "k");
    const int64_t bias_rows = options.set.at("bias") == "2d" ? options.inputs[0].shape[0] : 0;
    return std::make_unique<MatmulAdd>(weights, k, Number(options, "n"), bias_rows, plant);
  }
  const int64_t hidden = Number(options, "hidden");
  const int64_t intermediate = Number(options, "intermediate");
  if (options.name == "mlp") {
    const Activation activation = options.set.at("activation") == "relu"
                                      ? Activation([](const Tensor& x) { return at::relu(x); })
                                      : Gelu("none");
    return std::make_unique<Mlp>(weights, hidden, intermediate, bias, activation, plant);
  }
  return std::make_unique<Geglu>(weights, hidden, intermediate, bias,
                                 Gelu(options.set.at("approximate")), plant);
}

std::vector<Tensor> MakeInputs(const Options& options, at::Device device) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(options.seed + 1);
  std::vector<Tensor> inputs;
  for (const InputSpec& input : options.inputs) {
    const auto target = at::TensorOptions().dtype(ToScalarType(input.dtype)).device(device);
    inputs.push_back(at::randn(input.shape, generator).to(target));
  }
  return inputs;
}

}  // namespace perfgate::runner
