// Defects on purpose: where a careless edit would put them, on the tensor between two operators or
// into the activation.
#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "torch/fault.h"
#include "torch/module.h"
#include "torch/modules/layers.h"

namespace perfgate::runner {
namespace {

constexpr std::array<std::pair<std::string_view, Defect>, 5> kDefects = {{
    {"clone", Defect::kClone},
    {"cast", Defect::kCast},
    {"split_activation", Defect::kSplitActivation},
    {"sync", Defect::kSync},
    {"narrow", Defect::kNarrow},
}};

// delay_DURATION, of at most a second.
constexpr std::string_view kDelay = "delay_";
constexpr std::array<std::pair<std::string_view, int64_t>, 3> kUnits = {
    {{"ns", 1}, {"us", 1000}, {"ms", 1000000}}};
constexpr int64_t kLongestNs = 1000000000;

constexpr std::array<std::string_view, 6> kWithActivation = {
    "mlp", "geglu", "swiglu", "norm_mlp", "transformer_block", "moe"};

WorkloadFault Refusal(const std::string& text, const std::string& why) {
  return WorkloadFault(fmt::format("cannot plant '{}': {}", text, why));
}

Plant Delay(const std::string& text) {
  const char* const end = text.data() + text.size();
  int64_t count = 0;
  const auto [rest, fault] = std::from_chars(text.data() + kDelay.size(), end, count);
  for (const auto& [unit, ns] : kUnits) {
    if (fault == std::errc() && std::string_view(rest, end) == unit && count > 0 &&
        count <= kLongestNs / ns) {
      return {Defect::kDelay, std::chrono::nanoseconds(count * ns)};
    }
  }
  throw Refusal(text, "a delay is a whole number of ns, us or ms, at most 1000ms: delay_5us");
}

Plant Parse(const std::string& text) {
  if (text.starts_with(kDelay)) return Delay(text);
  for (const auto& [name, defect] : kDefects) {
    if (name == text) return {defect, {}};
  }
  throw Refusal(
      text,
      "no such defect; there are clone, cast, split_activation, sync, narrow and delay_DURATION, "
      "for example delay_5us");
}

// The host is busy, as it is with dispatch: a sleep would give the core away, for longer.
void KeepBusy(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

Plant PlantFor(const std::string& text, const Options& options, bool on_gpu) {
  if (text.empty()) return {};
  const Plant plant = Parse(text);
  if (options.source != Source::kModule || options.mode != Mode::kEager) {
    throw Refusal(
        text,
        "defects can be put into built-in modules in eager mode only; plant it in such a case");
  }
  if (plant.defect == Defect::kSync && !on_gpu) {
    throw Refusal(text,
                  "on the CPU nothing is asynchronous, so a sync costs nothing; use another "
                  "defect");
  }
  const bool has_activation = std::find(kWithActivation.begin(), kWithActivation.end(),
                                        options.name) != kWithActivation.end();
  if (plant.defect == Defect::kSplitActivation && !has_activation) {
    throw Refusal(text, options.name + " has no activation; use mlp or geglu, or another defect");
  }
  return plant;
}

at::Tensor Disturb(const at::Tensor& between, Plant plant) {
  switch (plant.defect) {
    case Defect::kClone:
      return between.clone();
    case Defect::kCast: {  // up and back: the numbers stay
      const auto wider = between.scalar_type() == at::kFloat ? at::kDouble : at::kFloat;
      return between.to(wider).to(between.scalar_type());
    }
    case Defect::kNarrow: {  // down and back: the numbers lose bits
      const auto narrower = between.scalar_type() == at::kFloat ? at::kBFloat16 : at::kFloat8_e5m2;
      return between.to(narrower).to(between.scalar_type());
    }
    case Defect::kSync:
      torch::cuda::synchronize(between.get_device());
      return between;
    case Defect::kDelay:
      KeepBusy(plant.delay);
      return between;
    case Defect::kNone:
    case Defect::kSplitActivation:
      return between;
  }
  return between;
}

Activation WithPlant(Activation activation, Plant plant) {
  if (plant.defect != Defect::kSplitActivation) return activation;
  return [activation = std::move(activation)](const at::Tensor& x) {
    const std::vector<at::Tensor> halves = x.chunk(2, -1);
    return at::cat({activation(halves.front()), activation(halves.back())}, -1);
  };
}

}  // namespace perfgate::runner
