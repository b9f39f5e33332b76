// A projection with weights of 8 bits: dequantized in the open, or multiplied as they are.
#include <ATen/ops/_int_mm.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>

#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

constexpr double kLargestInt8 = 127, kLargestFp8 = 448;  // of e4m3

struct Quantized {
  Tensor values;
  Tensor scale;  // fp32: values * scale are the numbers
};

// One scale a row, [rows, 1].
Quantized ToInt8(const Tensor& x) {
  const Tensor scale = x.abs().amax(-1, /*keepdim=*/true).to(at::kFloat).div(kLargestInt8);
  return {x.div(scale).round().to(at::kChar), scale};
}

// One scale for all.
Quantized ToFp8(const Tensor& x) {
  const Tensor scale = x.abs().amax().to(at::kFloat).div(kLargestFp8);
  return {x.div(scale).to(at::kFloat8_e4m3fn), scale};
}

class QuantizedLinear : public Model {
 public:
  explicit QuantizedLinear(Recipe& recipe)
      : method_(recipe.options.set.at("method")), plant_(recipe.plant) {
    const int64_t in = recipe.Size("in_features"), out = recipe.Size("out_features");
    const Tensor weight = recipe.weights.FloatMatrix(out, in, in);
    weight_ = method_ == "fp8" ? ToFp8(weight) : ToInt8(weight);
    const at::TensorOptions& options = recipe.weights.options();
    weight_.values = weight_.values.to(options.device());
    weight_.scale = weight_.scale.to(options.device());
    if (method_ == "dequantize") weight_.scale = weight_.scale.to(options);
  }

  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor x = Disturb(inputs[0], plant_);
    if (method_ == "int8") return {Int8(x)};
    if (method_ == "fp8") return {Fp8(x)};
    return {at::linear(x, at::mul(weight_.values.to(x.scalar_type()), weight_.scale))};
  }

 private:
  Tensor Int8(const Tensor& x) const {
    const Quantized input = ToInt8(x);
    const Tensor product = at::_int_mm(input.values, weight_.values.t()).to(at::kFloat);
    return product.mul(input.scale).mul(weight_.scale.t()).to(x.scalar_type());
  }
  Tensor Fp8(const Tensor& x) const {
    const Quantized input = ToFp8(x);
    return at::_scaled_mm(input.values, weight_.values.t(), input.scale, weight_.scale, {}, {},
                          x.scalar_type());
  }

  std::string method_;
  Plant plant_;
  Quantized weight_;  // [out_features, in_features]
};

}  // namespace

std::unique_ptr<Model> MakeQuantizedLinear(Recipe& recipe) {
  return std::make_unique<QuantizedLinear>(recipe);
}

}  // namespace perfgate::runner
