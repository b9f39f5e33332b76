#include "declare/torch_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace perfgate {
namespace {

using Type = ModuleKey::Type;

constexpr int64_t kLargestSize = int64_t{1} << 31;
constexpr size_t kMostDimensions = 8;

struct Input {
  std::vector<int64_t> shape;
  std::string dtype;
};

std::optional<Input> ReadInput(const Reader& input) {
  if (!input.Map(kInputKeys)) return std::nullopt;
  Input out;
  if (const auto shape = input.Find("shape")) {
    for (const Reader& dimension : shape->Items()) {
      if (const auto size = dimension.Int(1, kLargestSize)) out.shape.push_back(*size);
    }
    if (shape->IsList() && out.shape.size() != shape->value().items.size()) out.shape.clear();
    if (out.shape.size() > kMostDimensions) {
      shape->Fail(fmt::format("has {} dimensions; at most {}", out.shape.size(), kMostDimensions));
    }
  }
  if (const auto dtype = input.Find("dtype")) out.dtype = dtype->Choice(TorchDtypes()).value_or("");
  if (out.shape.empty() || out.dtype.empty()) return std::nullopt;
  return out;
}

std::vector<Input> ReadInputs(const Reader& torch) {
  std::vector<Input> inputs;
  const auto one = torch.Find("input");
  const auto many = torch.Find("inputs");
  if (!one == !many) {
    torch.Fail(one ? "has both 'input' and 'inputs'; keep one of them"
                   : "key 'input' is missing: input: {shape: [64, 768], dtype: bf16}");
    return inputs;
  }
  if (one) {
    if (const auto input = ReadInput(*one)) inputs.push_back(*input);
    return inputs;
  }
  for (const Reader& item : many->Items()) {
    if (const auto input = ReadInput(item)) inputs.push_back(*input);
  }
  return inputs;
}

std::string ModuleValue(const Reader& value, const ModuleKey& key) {
  switch (key.type) {
    case Type::kSize: {
      const auto size = value.Int(1, kLargestSize);
      return size ? std::to_string(*size) : "";
    }
    case Type::kBool: {
      const auto flag = value.Bool();
      return !flag ? "" : *flag ? "true" : "false";
    }
    case Type::kChoice:
      return value.Choice(Split(key.choices, '|')).value_or("");
  }
  return "";
}

// `--set key=value` for every key, those left out as well: a definition does not change with the
// runner's own idea of what is usual.
std::vector<std::string> ReadModule(const Reader& torch, const Module& module,
                                    const std::vector<Input>& inputs) {
  std::vector<std::string> args = {"--module", std::string(module.name)};
  for (const ModuleKey& key : module.keys) {
    std::string text(key.absent);
    const auto value = torch.Find(key.name);
    if (value) text = ModuleValue(*value, key);
    if (!value && text.empty()) {
      torch.Fail(fmt::format("key '{}' is missing; module {} needs it", key.name, module.name));
    }
    args.push_back("--set");
    args.push_back(fmt::format("{}={}", key.name, text));
    if (key.name != module.features || inputs.empty() || text.empty()) continue;
    const int64_t last = inputs.front().shape.back();
    if (std::to_string(last) != text) {
      torch.Find(torch.Has("input") ? "input" : "inputs")
          ->Fail(fmt::format("the last dimension of the shape is {}, but {} of module {} is {}",
                             last, key.name, module.name, text));
    }
  }
  if (inputs.size() > 1) {
    torch.FailAtKey("inputs", fmt::format("module {} takes one input", module.name));
  }
  return args;
}

// The user's own AOTInductor package or TorchScript file.
std::vector<std::string> ReadFileModel(const Reader& torch, std::string_view kind) {
  torch.Map(std::vector<std::string>{std::string(kind), "input", "inputs", "seed"},
            fmt::format("keys of a {}", kind));
  const auto file = torch.Find(kind)->Text();
  return {"--" + std::string(kind), file.value_or("")};
}

// Names that perfgate-torch will know one day are told apart from mistakes.
std::string ReadMode(const Reader& mode) {
  if (mode.IsScalar()) {
    const std::string& text = mode.value().text;
    if (text == "cuda_graph" || text == "hand_fused") {
      mode.Fail(
          fmt::format("'{}' is not there yet; there are {}", text, Join(TorchModes(), " and ")));
      return "";
    }
  }
  return mode.Choice(TorchModes()).value_or("");
}

std::vector<std::string> KeysOf(const Module* module) {
  std::vector<std::string> keys = CommonTorchKeys();
  for (const Module& each : Modules()) {
    if (module && module != &each) continue;
    for (const ModuleKey& key : each.keys) keys.emplace_back(key.name);
  }
  return keys;
}

const Module* FindModule(const Reader& torch) {
  std::vector<std::string> names;
  for (const Module& module : Modules()) names.emplace_back(module.name);
  const auto name = torch.Find("module")->Choice(names);
  if (!name) return nullptr;
  const auto at = std::find(names.begin(), names.end(), *name) - names.begin();
  return &Modules()[static_cast<size_t>(at)];
}

}  // namespace

const std::vector<Module>& Modules() {
  static const std::vector<Module> kModules = {
      {"linear",
       "in_features",
       {{"in_features", Type::kSize, "", ""},
        {"out_features", Type::kSize, "", ""},
        {"bias", Type::kBool, "true", ""}}},
      {"matmul_add",
       "k",
       {{"k", Type::kSize, "", ""},
        {"n", Type::kSize, "", ""},
        {"bias", Type::kChoice, "1d", "1d|2d"}}},
      {"mlp",
       "hidden",
       {{"hidden", Type::kSize, "", ""},
        {"intermediate", Type::kSize, "", ""},
        {"bias", Type::kBool, "true", ""},
        {"activation", Type::kChoice, "gelu", "gelu|relu"}}},
      {"geglu",
       "hidden",
       {{"hidden", Type::kSize, "", ""},
        {"intermediate", Type::kSize, "", ""},
        {"bias", Type::kBool, "false", ""},
        {"approximate", Type::kChoice, "tanh", "tanh|none"}}},
  };
  return kModules;
}

std::vector<std::string> CommonTorchKeys() {
  return {"module", "package", "script", "input", "inputs", "mode", "seed"};
}

std::vector<std::string> TorchDtypes() { return {"fp32", "bf16", "fp16"}; }

std::vector<std::string> TorchModes() { return {"eager", "aoti"}; }

std::vector<std::string> ReadTorch(const Reader& torch) {
  if (!torch.IsMap()) {
    torch.FailExpected("a mapping");
    return {};
  }
  const int kinds = torch.Has("module") + torch.Has("package") + torch.Has("script");
  if (kinds != 1) {
    torch.Map(KeysOf(nullptr));
    torch.Fail("needs exactly one of 'module', 'package', 'script'");
    return {};
  }
  const std::vector<Input> inputs = ReadInputs(torch);
  std::vector<std::string> args;
  if (torch.Has("module")) {
    const Module* module = FindModule(torch);
    torch.Map(KeysOf(module), module ? fmt::format("keys of module {}", module->name) : "keys");
    if (!module) return {};
    args = ReadModule(torch, *module, inputs);
  } else {
    args = ReadFileModel(torch, torch.Has("package") ? "package" : "script");
  }
  for (const Input& input : inputs) {
    std::vector<std::string> shape;
    for (const int64_t size : input.shape) shape.push_back(std::to_string(size));
    args.insert(args.end(), {"--input-shape", Join(shape, ","), "--input-dtype", input.dtype});
  }
  std::string mode = "eager";
  if (const auto given = torch.Find("mode")) mode = ReadMode(*given);
  if (torch.Has("module")) args.insert(args.end(), {"--mode", mode});
  int64_t seed = 0;
  if (const auto given = torch.Find("seed")) seed = given->Int(0, INT64_MAX).value_or(0);
  args.insert(args.end(), {"--seed", std::to_string(seed)});
  return args;
}

}  // namespace perfgate
