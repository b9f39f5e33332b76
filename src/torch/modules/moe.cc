// A mixture of experts: each token goes to the `top_k` swiglus that its router chooses.
#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

// For each token its experts and their shares, which add up to 1.
struct Choice {
  Tensor experts;  // [tokens, top_k], int64
  Tensor shares;   // [tokens, top_k]
};

class Moe : public Model {
 public:
  explicit Moe(Recipe& recipe)
      : experts_(recipe.Size("experts")),
        top_k_(recipe.Size("top_k")),
        dispatch_(recipe.options.set.at("dispatch")),
        plant_(recipe.plant),
        activation_(WithPlant(Silu(), recipe.plant)) {
    const int64_t hidden = recipe.Size("hidden"), intermediate = recipe.Size("intermediate");
    router_ = recipe.weights.Matrix(experts_, hidden, hidden);
    gate_ = recipe.weights.Stack(experts_, intermediate, hidden, hidden);
    up_ = recipe.weights.Stack(experts_, intermediate, hidden, hidden);
    down_ = recipe.weights.Stack(experts_, hidden, intermediate, intermediate);
  }

  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor tokens = inputs[0].reshape({-1, inputs[0].size(-1)});
    const Choice choice = Route(tokens);
    const Tensor out = dispatch_ == "loop"    ? Loop(tokens, choice)
                       : dispatch_ == "dense" ? Dense(tokens, choice)
                                              : Grouped(tokens, choice);
    return {out.view(inputs[0].sizes())};
  }

 private:
  Choice Route(const Tensor& tokens) const {
    const Tensor scores = at::softmax(at::linear(tokens, router_), -1, at::kFloat);
    auto [shares, experts] = at::topk(scores, top_k_);
    return {experts, shares.div(shares.sum(-1, /*keepdim=*/true)).to(tokens.scalar_type())};
  }

  Tensor Gated(const Tensor& gate, const Tensor& up) const {
    return Disturb(at::mul(activation_(gate), up), plant_);
  }

  // Expert by expert, with the tokens that chose it: as many as the data says, which the host waits
  // for.
  Tensor Loop(const Tensor& tokens, const Choice& choice) const {
    Tensor out = at::zeros_like(tokens);
    for (int64_t i = 0; i < experts_; ++i) {
      const std::vector<Tensor> chosen = at::nonzero(choice.experts.eq(i)).unbind(1);
      const Tensor x = tokens.index_select(0, chosen[0]);
      const Tensor h = Gated(at::linear(x, gate_[i]), at::linear(x, up_[i]));
      const Tensor shares =
          choice.shares.index(c10::List<std::optional<Tensor>>({chosen[0], chosen[1]}));
      out.index_add_(0, chosen[0], at::linear(h, down_[i]).mul(shares.unsqueeze(-1)));
    }
    return out;
  }

  // Every expert on every token; what was not chosen has a share of 0.
  Tensor Dense(const Tensor& tokens, const Choice& choice) const {
    const Tensor shares = at::zeros({tokens.size(0), experts_}, tokens.options())
                              .scatter(1, choice.experts, choice.shares);
    const Tensor x = tokens.unsqueeze(0).expand({experts_, -1, -1});
    const Tensor h = Gated(at::bmm(x, gate_.transpose(1, 2)), at::bmm(x, up_.transpose(1, 2)));
    return at::bmm(h, down_.transpose(1, 2)).mul(shares.t().unsqueeze(-1)).sum(0);
  }

  // Tokens sorted by expert, and one product of all groups: nothing depends on the host.
  Tensor Grouped(const Tensor& tokens, const Choice& choice) const {
    const Tensor order = choice.experts.flatten().argsort(/*stable=*/true);
    const Tensor source = order.div(top_k_, "floor");
    const Tensor ends = choice.experts.flatten()
                            .unsqueeze(0)
                            .eq(at::arange(experts_, choice.experts.options()).unsqueeze(1))
                            .sum(1)
                            .cumsum(0, at::kInt);
    const Tensor x = tokens.index_select(0, source);
    const Tensor h = Gated(at::_grouped_mm(x, gate_.transpose(1, 2), ends),
                           at::_grouped_mm(x, up_.transpose(1, 2), ends));
    const Tensor shares = choice.shares.flatten().index_select(0, order).unsqueeze(-1);
    return at::zeros_like(tokens).index_add_(
        0, source, at::_grouped_mm(h, down_.transpose(1, 2), ends).mul(shares));
  }

  int64_t experts_, top_k_;
  std::string dispatch_;
  Plant plant_;
  Activation activation_;
  Tensor router_;            // [experts, hidden]
  Tensor gate_, up_, down_;  // [experts, out, in]
};

}  // namespace

std::unique_ptr<Model> MakeMoe(Recipe& recipe) { return std::make_unique<Moe>(recipe); }

}  // namespace perfgate::runner
