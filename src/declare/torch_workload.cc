#include "declare/torch_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "perfgate/modules.h"

namespace perfgate {
namespace {

using modules::Module;
using modules::Setting;

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

// "" after a problem.
std::string SettingValue(const Reader& value, const Setting& setting) {
  if (setting.IsSize()) {
    const auto size = value.Int(1, kLargestSize);
    return size ? std::to_string(*size) : "";
  }
  if (setting.IsFlag()) {
    const auto flag = value.Bool();
    return !flag ? "" : *flag ? "true" : "false";
  }
  return value.Choice(Split(setting.values, '|')).value_or("");
}

// All settings, those left out as well: a definition does not change with the runner's own idea of
// what is usual. Fewer after a problem.
modules::Values ReadSettings(const Reader& torch, const Module& module) {
  modules::Values values;
  for (const Setting& setting : modules::SettingsOf(module)) {
    const auto given = torch.Find(setting.name);
    if (!given && setting.IsSize()) {
      torch.Fail(fmt::format("key '{}' is missing; module {} needs it", setting.name, module.name));
      continue;
    }
    const std::string text = given ? SettingValue(*given, setting) : std::string(setting.Default());
    if (!text.empty()) values.emplace(setting.name, text);
  }
  return values;
}

std::vector<std::string> ReadModule(const Reader& torch, const Module& module,
                                    const std::vector<Input>& inputs, const std::string& mode) {
  if (inputs.size() > 1) {
    torch.FailAtKey("inputs", fmt::format("module {} takes one input", module.name));
  }
  const modules::Values values = ReadSettings(torch, module);
  std::vector<std::string> args = {"--module", std::string(module.name)};
  for (const Setting& setting : modules::SettingsOf(module)) {
    const auto value = values.find(std::string(setting.name));
    if (value == values.end()) return args;  // it is said what is wrong with it
    args.insert(args.end(), {"--set", fmt::format("{}={}", setting.name, value->second)});
  }
  if (const std::string why = modules::WhyNotSettings(module, values); !why.empty()) {
    torch.Fail(why);
  }
  if (!inputs.empty()) {
    const std::string why = modules::WhyNotShape(module, values, inputs.front().shape);
    if (!why.empty()) torch.Find(torch.Has("input") ? "input" : "inputs")->Fail(why);
  }
  if (const std::string why = modules::WhyNotMode(module, values, mode); !why.empty()) {
    torch.Find("mode")->Fail(why);
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

std::vector<std::string> KeysOf(const Module* module) {
  std::vector<std::string> keys = CommonTorchKeys();
  for (const Module& each : modules::kModules) {
    if (module && module != &each) continue;
    for (const Setting& setting : modules::SettingsOf(each)) keys.emplace_back(setting.name);
  }
  return keys;
}

const Module* ReadModuleName(const Reader& torch) {
  std::vector<std::string> names;
  for (const Module& module : modules::kModules) names.emplace_back(module.name);
  const auto name = torch.Find("module")->Choice(names);
  return name ? modules::FindModule(*name) : nullptr;
}

}  // namespace

std::vector<std::string> CommonTorchKeys() {
  return {"module", "package", "script", "input", "inputs", "mode", "seed"};
}

std::vector<std::string> TorchDtypes() { return {"fp32", "bf16", "fp16"}; }

std::vector<std::string> TorchModes() { return {modules::kModes.begin(), modules::kModes.end()}; }

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
  std::string mode = "eager";
  if (const auto given = torch.Find("mode")) mode = given->Choice(TorchModes()).value_or("");
  std::vector<std::string> args;
  if (torch.Has("module")) {
    const Module* module = ReadModuleName(torch);
    torch.Map(KeysOf(module), module ? fmt::format("keys of module {}", module->name) : "keys");
    if (!module) return {};
    args = ReadModule(torch, *module, inputs, mode);
  } else {
    args = ReadFileModel(torch, torch.Has("package") ? "package" : "script");
  }
  for (const Input& input : inputs) {
    std::vector<std::string> shape;
    for (const int64_t size : input.shape) shape.push_back(std::to_string(size));
    args.insert(args.end(), {"--input-shape", Join(shape, ","), "--input-dtype", input.dtype});
  }
  if (torch.Has("module")) args.insert(args.end(), {"--mode", mode});
  int64_t seed = 0;
  if (const auto given = torch.Find("seed")) seed = given->Int(0, INT64_MAX).value_or(0);
  args.insert(args.end(), {"--seed", std::to_string(seed)});
  return args;
}

}  // namespace perfgate
