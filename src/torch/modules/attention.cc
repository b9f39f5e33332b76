// Attention: written out (naive), by each implementation of LibTorch, in a transformer block, and
// one step of decoding.
#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>

#include "torch/fault.h"
#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& value, bool causal) {
  return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal);
}

// softmax(query key^T / sqrt(features)) value, operator by operator.
class NaiveAttention : public Model {
 public:
  NaiveAttention(Recipe& recipe, bool in_place) : in_place_(in_place), plant_(recipe.plant) {
    const std::vector<int64_t>& shape = recipe.options.inputs[0].shape;
    const int64_t tokens = shape[2];
    scale_ = 1 / std::sqrt(static_cast<double>(shape[3]));
    if (!recipe.Is("causal", "true")) return;
    future_ = at::ones({tokens, tokens}, recipe.weights.options().dtype(at::kBool)).triu(1);
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    Tensor scores = at::matmul(inputs[0], inputs[1].transpose(-2, -1));
    scores = in_place_ ? scores.mul_(scale_) : at::mul(scores, scale_);
    if (future_.defined()) {
      constexpr double kNever = -std::numeric_limits<double>::infinity();
      scores = in_place_ ? scores.masked_fill_(future_, kNever)
                         : at::masked_fill(scores, future_, kNever);
    }
    return {at::matmul(at::softmax(Disturb(scores, plant_), -1), inputs[2])};
  }

 private:
  bool in_place_;
  Plant plant_;
  double scale_;
  Tensor
      future_;  // [tokens, tokens], true where a key comes after its query; undefined: not causal
};

// Lets LibTorch choose this implementation only, for the rest of the process.
void AllowOnly(const std::string& implementation) {
  at::Context& context = at::globalContext();
  context.setSDPUseMath(implementation == "math");
  context.setSDPUseFlash(implementation == "flash");
  context.setSDPUseMemEfficient(implementation == "efficient");
  context.setSDPUseCuDNN(implementation == "cudnn");
}

class ScaledDotProductAttention : public Model {
 public:
  explicit ScaledDotProductAttention(Recipe& recipe)
      : causal_(recipe.Is("causal", "true")), plant_(recipe.plant) {
    AllowOnly(recipe.options.set.at("implementation"));
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    return {Attend(Disturb(inputs[0], plant_), inputs[1], inputs[2], causal_)};
  }

 private:
  bool causal_;
  Plant plant_;
};

// [batch, tokens, features] -> [batch, heads, tokens, features of a head]
Tensor SplitHeads(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensor JoinHeads(const Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

class TransformerBlock : public Model {
 public:
  explicit TransformerBlock(Recipe& recipe)
      : norm_1_(recipe.weights, recipe.Size("hidden"), /*rms=*/false),
        qkv_(recipe.weights, recipe.Size("hidden"), 3 * recipe.Size("hidden"), /*bias=*/true),
        out_(recipe.weights, recipe.Size("hidden"), recipe.Size("hidden"), /*bias=*/true),
        norm_2_(recipe.weights, recipe.Size("hidden"), /*rms=*/false),
        feed_forward_(recipe, /*bias=*/true, Gelu("none")),
        heads_(recipe.Size("heads")),
        causal_(recipe.Is("causal", "true")) {}
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const std::vector<Tensor> qkv = qkv_(norm_1_(inputs[0])).chunk(3, -1);
    const Tensor attended = Attend(SplitHeads(qkv[0], heads_), SplitHeads(qkv[1], heads_),
                                   SplitHeads(qkv[2], heads_), causal_);
    const Tensor x = at::add(inputs[0], out_(JoinHeads(attended)));
    return {at::add(x, feed_forward_(norm_2_(x)))};
  }

 private:
  Norm norm_1_;
  Projection qkv_, out_;
  Norm norm_2_;
  FeedForward feed_forward_;
  int64_t heads_;
  bool causal_;
};

// Each step is the one that fills the cache: the last of `context` tokens is the new one.
class Decode : public Model {
 public:
  explicit Decode(Recipe& recipe)
      : heads_(recipe.Size("heads")),
        context_(recipe.Size("context")),
        static_(recipe.Is("cache", "static")),
        plant_(recipe.plant),
        qkv_(recipe.weights, recipe.Size("hidden"), 3 * recipe.Size("hidden"), /*bias=*/false),
        out_(recipe.weights, recipe.Size("hidden"), recipe.Size("hidden"), /*bias=*/false) {
    const std::array<int64_t, 4> shape = {recipe.options.inputs[0].shape[0], heads_, context_,
                                          recipe.Size("hidden") / heads_};
    keys_ = recipe.weights.Cache(shape);
    values_ = recipe.weights.Cache(shape);
    if (static_) return;
    keys_ = keys_.narrow(2, 0, context_ - 1).contiguous();
    values_ = values_.narrow(2, 0, context_ - 1).contiguous();
  }
  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const std::vector<Tensor> qkv = qkv_(inputs[0].unsqueeze(1)).chunk(3, -1);
    const Tensor keys = With(SplitHeads(qkv[1], heads_), keys_);
    const Tensor values = With(SplitHeads(qkv[2], heads_), values_);
    const Tensor query = Disturb(SplitHeads(qkv[0], heads_), plant_);
    const Tensor attended = Attend(query, keys, values, /*causal=*/false);
    return {out_(JoinHeads(attended)).squeeze(1)};
  }

 private:
  // The cache with the new token in it.
  Tensor With(const Tensor& fresh, Tensor& cache) const {
    if (!static_) return at::cat({cache, fresh}, 2);
    cache.narrow(2, context_ - 1, 1).copy_(fresh);
    return cache;
  }

  int64_t heads_, context_;
  bool static_;
  Plant plant_;
  Projection qkv_, out_;
  Tensor keys_,
      values_;  // [batch, heads, context, features of a head], one token less to be joined
};

}  // namespace

std::unique_ptr<Model> MakeAttention(Recipe& recipe) {
  const std::string& implementation = recipe.options.set.at("implementation");
  if (implementation.starts_with("naive")) {
    return std::make_unique<NaiveAttention>(recipe, implementation == "naive_in_place");
  }
  if (recipe.gpu == nullptr && (implementation == "efficient" || implementation == "cudnn")) {
    throw WorkloadFault("attention: implementation=" + implementation +
                        " needs a GPU; on the CPU there are naive, naive_in_place, math, flash");
  }
  return std::make_unique<ScaledDotProductAttention>(recipe);
}

std::unique_ptr<Model> MakeTransformerBlock(Recipe& recipe) {
  return std::make_unique<TransformerBlock>(recipe);
}

std::unique_ptr<Model> MakeDecode(Recipe& recipe) { return std::make_unique<Decode>(recipe); }

}  // namespace perfgate::runner
