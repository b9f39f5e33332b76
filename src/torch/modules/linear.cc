// Projections: linear, matmul_add.
#include <ATen/ops/add.h>
#include <ATen/ops/matmul.h>

#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

class Linear : public Model {
 public:
  explicit Linear(Recipe& recipe)
      : projection_(recipe.weights, recipe.Size("in_features"), recipe.Size("out_features"),
                    recipe.Is("bias", "true")),
        plant_(recipe.plant) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {projection_(Disturb(inputs[0], plant_))};
  }

 private:
  Projection projection_;
  Plant plant_;
};

class MatmulAdd : public Model {
 public:
  explicit MatmulAdd(Recipe& recipe) : plant_(recipe.plant) {
    const int64_t k = recipe.Size("k"), n = recipe.Size("n");
    weight_ = recipe.weights.Matrix(k, n, k);
    bias_ = recipe.Is("bias", "2d")
                ? recipe.weights.Matrix(recipe.options.inputs[0].shape[0], n, 100)
                : recipe.weights.Vector(n);
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {at::add(Disturb(at::matmul(inputs[0], weight_), plant_), bias_)};
  }

 private:
  Tensor weight_, bias_;
  Plant plant_;
};

}  // namespace

std::unique_ptr<Model> MakeLinear(Recipe& recipe) { return std::make_unique<Linear>(recipe); }

std::unique_ptr<Model> MakeMatmulAdd(Recipe& recipe) { return std::make_unique<MatmulAdd>(recipe); }

}  // namespace perfgate::runner
