// What the modules are put together from.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch/module.h"

namespace perfgate::runner {

// Weights in the order in which they are asked for; scaled so that activations stay near 1.
class Weights {
 public:
  Weights(uint64_t seed, at::TensorOptions options);

  at::Tensor Matrix(int64_t rows, int64_t columns, int64_t fan_in);
  at::Tensor Stack(int64_t count, int64_t rows, int64_t columns, int64_t fan_in);
  at::Tensor Cache(at::IntArrayRef shape);  // of elements like those of an input
  at::Tensor Vector(int64_t size);
  at::Tensor Scales(int64_t size);                                        // near 1
  at::Tensor FloatMatrix(int64_t rows, int64_t columns, int64_t fan_in);  // fp32, on the CPU

  // Those with the dtype and the device of the module: what a training step moves.
  const std::vector<at::Tensor>& All() const { return all_; }
  const at::TensorOptions& options() const { return options_; }

 private:
  at::Tensor Draw(at::IntArrayRef shape, double scale, double offset);

  at::Generator generator_;
  at::TensorOptions options_;
  std::vector<at::Tensor> all_;
};

// What a module is made of.
struct Recipe {
  const Options& options;
  Weights weights;
  Plant plant;
  Gpu* gpu;  // null on the CPU

  int64_t Size(const std::string& key) const;
  bool Is(const std::string& key, const std::string& value) const;
};

// Makers of the modules, one for each of perfgate/modules.h.
std::unique_ptr<Model> MakeLinear(Recipe& recipe);
std::unique_ptr<Model> MakeMatmulAdd(Recipe& recipe);
std::unique_ptr<Model> MakeMlp(Recipe& recipe);
std::unique_ptr<Model> MakeNormMlp(Recipe& recipe);
std::unique_ptr<Model> MakeGeglu(Recipe& recipe);
std::unique_ptr<Model> MakeSwiglu(Recipe& recipe);
std::unique_ptr<Model> MakeAttention(Recipe& recipe);
std::unique_ptr<Model> MakeTransformerBlock(Recipe& recipe);
std::unique_ptr<Model> MakeMoe(Recipe& recipe);
std::unique_ptr<Model> MakeDecode(Recipe& recipe);
std::unique_ptr<Model> MakeQuantizedLinear(Recipe& recipe);

// A training step of `model`: its output against its first input as the target, backward, and the
// optimizer, with a learning rate of 0, so that each step does the same work on the same numbers.
// Gives the loss.
std::unique_ptr<Model> MakeTrainingStep(std::unique_ptr<Model> model,
                                        std::vector<at::Tensor> weights,
                                        const std::string& optimizer);

// The defect, if it is one of a tensor between two operators.
at::Tensor Disturb(const at::Tensor& between, Plant plant);

using Activation = std::function<at::Tensor(const at::Tensor&)>;
Activation Gelu(const std::string& approximate);
Activation GeluOrRelu(const Recipe& recipe);  // by its `activation`
Activation Silu();
// With the defect, if it is one of activations.
Activation WithPlant(Activation activation, Plant plant);

class Projection {
 public:
  Projection(Weights& weights, int64_t in, int64_t out, bool bias);
  at::Tensor operator()(const at::Tensor& x) const;  // [..., in] -> [..., out]

 private:
  at::Tensor weight_;
  std::optional<at::Tensor> bias_;
};

// Layer norm with scale and shift, or RMS norm with scale, over the last dimension.
class Norm {
 public:
  Norm(Weights& weights, int64_t size, bool rms);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor scale_;
  std::optional<at::Tensor> shift_;  // none: RMS
};

// down(activation(up(x)))
class FeedForward {
 public:
  FeedForward(Recipe& recipe, bool bias, Activation activation);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  Projection up_, down_;
  Activation activation_;
  Plant plant_;
};

}  // namespace perfgate::runner
