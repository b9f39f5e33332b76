// Feed-forward parts: mlp, norm_mlp, and the gated ones, geglu and swiglu.
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>

#include <utility>

#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

class Mlp : public Model {
 public:
  explicit Mlp(Recipe& recipe)
      : feed_forward_(recipe, recipe.Is("bias", "true"), GeluOrRelu(recipe)) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {feed_forward_(inputs[0])};
  }

 private:
  FeedForward feed_forward_;
};

class NormMlp : public Model {
 public:
  explicit NormMlp(Recipe& recipe)
      : norm_(recipe.weights, recipe.Size("hidden"), recipe.Is("norm", "rms")),
        feed_forward_(recipe, recipe.Is("bias", "true"), GeluOrRelu(recipe)) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {at::add(inputs[0], feed_forward_(norm_(inputs[0])))};
  }

 private:
  Norm norm_;
  FeedForward feed_forward_;
};

// act(gate) * up: ATen's two operators, or the hand-fused kernel where that was asked for and can
// serve.
class ActAndMul {
 public:
  ActAndMul(const Recipe& recipe, Act act, Activation activation)
      : act_(act),
        activation_(WithPlant(std::move(activation), recipe.plant)),
        wanted_(recipe.options.mode == Mode::kHandFused),
        gpu_(recipe.gpu) {}

  Tensor operator()(const Tensor& gate, const Tensor& up) {
    if (wanted_) {
      why_not_ = gpu_ == nullptr ? "it needs a GPU" : gpu_->WhyNotActAndMul(gate, up);
      if (why_not_.empty()) return gpu_->ActAndMul(gate, up, act_);
    }
    return at::mul(activation_(gate), up);
  }

  std::vector<attempt::Fallback> Fallbacks() const {
    if (why_not_.empty()) return {};
    return {{"hand_fused", why_not_}};
  }

 private:
  Act act_;
  Activation activation_;
  bool wanted_;
  Gpu* gpu_;
  std::string why_not_;  // of the last call
};

// down(act(gate(x)) * up(x))
class GatedMlp : public Model {
 public:
  GatedMlp(Recipe& recipe, Act act, Activation activation)
      : gate_(recipe.weights, recipe.Size("hidden"), recipe.Size("intermediate"),
              recipe.Is("bias", "true")),
        up_(recipe.weights, recipe.Size("hidden"), recipe.Size("intermediate"),
            recipe.Is("bias", "true")),
        down_(recipe.weights, recipe.Size("intermediate"), recipe.Size("hidden"),
              recipe.Is("bias", "true")),
        act_and_mul_(recipe, act, std::move(activation)),
        plant_(recipe.plant) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor gate = gate_(inputs[0]);
    const Tensor up = up_(inputs[0]);
    return {down_(Disturb(act_and_mul_(gate, up), plant_))};
  }
  std::vector<attempt::Fallback> Fallbacks() const override { return act_and_mul_.Fallbacks(); }

 private:
  Projection gate_, up_, down_;
  ActAndMul act_and_mul_;
  Plant plant_;
};

}  // namespace

std::unique_ptr<Model> MakeMlp(Recipe& recipe) { return std::make_unique<Mlp>(recipe); }

std::unique_ptr<Model> MakeNormMlp(Recipe& recipe) { return std::make_unique<NormMlp>(recipe); }

std::unique_ptr<Model> MakeGeglu(Recipe& recipe) {
  const bool tanh = recipe.Is("approximate", "tanh");
  return std::make_unique<GatedMlp>(recipe, tanh ? Act::kGeluTanh : Act::kGeluErf,
                                    Gelu(tanh ? "tanh" : "none"));
}

std::unique_ptr<Model> MakeSwiglu(Recipe& recipe) {
  return std::make_unique<GatedMlp>(recipe, Act::kSilu, Silu());
}

}  // namespace perfgate::runner
