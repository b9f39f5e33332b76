#include "torch/modules/layers.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>

#include <cmath>
#include <utility>

namespace perfgate::runner {

using at::Tensor;

namespace {

double ScaleOf(int64_t fan_in) { return 1 / std::sqrt(static_cast<double>(fan_in)); }

}  // namespace

Weights::Weights(uint64_t seed, at::TensorOptions options)
    : generator_(at::make_generator<at::CPUGeneratorImpl>(seed)), options_(options) {}

Tensor Weights::Draw(at::IntArrayRef shape, double scale, double offset) {
  all_.push_back(at::randn(shape, generator_).mul(scale).add(offset).to(options_));
  return all_.back();
}

Tensor Weights::Matrix(int64_t rows, int64_t columns, int64_t fan_in) {
  return Draw({rows, columns}, ScaleOf(fan_in), 0);
}

Tensor Weights::Stack(int64_t count, int64_t rows, int64_t columns, int64_t fan_in) {
  return Draw({count, rows, columns}, ScaleOf(fan_in), 0);
}

Tensor Weights::Cache(at::IntArrayRef shape) { return Draw(shape, 1, 0); }

Tensor Weights::Vector(int64_t size) { return Draw({size}, 0.1, 0); }

Tensor Weights::Scales(int64_t size) { return Draw({size}, 0.1, 1); }

Tensor Weights::FloatMatrix(int64_t rows, int64_t columns, int64_t fan_in) {
  return at::randn({rows, columns}, generator_).mul(ScaleOf(fan_in));
}

int64_t Recipe::Size(const std::string& key) const { return std::stoll(options.set.at(key)); }

bool Recipe::Is(const std::string& key, const std::string& value) const {
  return options.set.at(key) == value;
}

Activation Gelu(const std::string& approximate) {
  return [approximate](const Tensor& x) { return at::gelu(x, approximate); };
}

Activation GeluOrRelu(const Recipe& recipe) {
  if (recipe.Is("activation", "gelu")) return Gelu("none");
  return [](const Tensor& x) { return at::relu(x); };
}

Activation Silu() {
  return [](const Tensor& x) { return at::silu(x); };
}

Projection::Projection(Weights& weights, int64_t in, int64_t out, bool bias)
    : weight_(weights.Matrix(out, in, in)) {
  if (bias) bias_ = weights.Vector(out);
}

Tensor Projection::operator()(const Tensor& x) const { return at::linear(x, weight_, bias_); }

Norm::Norm(Weights& weights, int64_t size, bool rms) : scale_(weights.Scales(size)) {
  if (!rms) shift_ = weights.Vector(size);
}

Tensor Norm::operator()(const Tensor& x) const {
  if (!shift_) return at::rms_norm(x, scale_.sizes(), scale_, 1e-6);
  return at::layer_norm(x, scale_.sizes(), scale_, shift_, 1e-5);
}

FeedForward::FeedForward(Recipe& recipe, bool bias, Activation activation)
    : up_(recipe.weights, recipe.Size("hidden"), recipe.Size("intermediate"), bias),
      down_(recipe.weights, recipe.Size("intermediate"), recipe.Size("hidden"), bias),
      activation_(WithPlant(std::move(activation), recipe.plant)),
      plant_(recipe.plant) {}

Tensor FeedForward::operator()(const Tensor& x) const {
  return down_(Disturb(activation_(up_(x)), plant_));
}

}  // namespace perfgate::runner
