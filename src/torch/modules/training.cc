// The training step around a module.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

constexpr double kLearningRate = 0;  // see MakeTrainingStep

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void Step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients) = 0;
};

// As torch.optim.SGD(foreach=True) without momentum.
class Sgd : public Optimizer {
 public:
  void Step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients) override {
    at::_foreach_add_(weights, gradients, -kLearningRate);
  }
};

// As torch.optim.AdamW(fused=True).
class AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<Tensor>& weights) {
    for (const Tensor& weight : weights) {
      averages_.push_back(at::zeros_like(weight));
      squares_.push_back(at::zeros_like(weight));
      steps_.push_back(at::zeros({}, weight.options().dtype(at::kFloat)));
    }
  }
  void Step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients) override {
    at::_foreach_add_(steps_, 1);
    at::_fused_adamw_(weights, gradients, averages_, squares_, /*max_exp_avg_sqs=*/{}, steps_,
                      kLearningRate, /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.01,
                      /*eps=*/1e-8, /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  std::vector<Tensor> averages_, squares_, steps_;
};

class TrainingStep : public Model {
 public:
  TrainingStep(std::unique_ptr<Model> model, std::vector<Tensor> weights,
               std::unique_ptr<Optimizer> optimizer)
      : model_(std::move(model)), weights_(std::move(weights)), optimizer_(std::move(optimizer)) {
    for (Tensor& weight : weights_) weight.requires_grad_(true);
  }

  std::vector<Tensor> Forward(const std::vector<Tensor>& inputs) override {
    const Tensor loss = at::mse_loss(model_->Forward(inputs)[0], inputs[0]);
    loss.backward();
    std::vector<Tensor> gradients;
    for (Tensor& weight : weights_) {
      gradients.push_back(weight.grad());
      weight.mutable_grad().reset();  // the next step makes its own, as after zero_grad
    }
    const at::NoGradGuard no_gradients;
    optimizer_->Step(weights_, gradients);
    return {loss.detach()};
  }

 private:
  std::unique_ptr<Model> model_;
  std::vector<Tensor> weights_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace

std::unique_ptr<Model> MakeTrainingStep(std::unique_ptr<Model> model,
                                        std::vector<at::Tensor> weights,
                                        const std::string& optimizer) {
  std::unique_ptr<Optimizer> chosen;
  if (optimizer == "adamw") {
    chosen = std::make_unique<AdamW>(weights);
  } else {
    chosen = std::make_unique<Sgd>();
  }
  return std::make_unique<TrainingStep>(std::move(model), std::move(weights), std::move(chosen));
}

}  // namespace perfgate::runner
