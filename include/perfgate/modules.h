// The built-in modules of perfgate-torch: what its command line takes, what a suite may declare and
// what docs/workloads.md explains, in one place. Of no use to other programs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {
namespace modules {

struct Setting {
  std::string_view name;
  // "768": a size of at least 1; a suite must give it, by hand it is this one.
  // "gelu|relu": one of these, the first if it is left out.
  std::string_view values;

  constexpr bool IsSize() const { return values.find('|') == std::string_view::npos; }
  constexpr bool IsFlag() const { return values == "true|false" || values == "false|true"; }
  constexpr std::string_view Default() const { return values.substr(0, values.find('|')); }
};

struct Module {
  std::string_view name;
  std::string_view about;
  // Shape of the input, as it is by hand. "...": any number of dimensions will do. A name at the
  // end stands for the value of that setting.
  std::array<std::string_view, 5> input;
  int input_count = 1;  // tensors of that shape
  std::array<Setting, 8> settings;
  bool hand_fused = false;  // has a kernel of ours for mode hand_fused
};

// Values of all settings of a module, by name.
using Values = std::map<std::string, std::string>;

// clang-format off
inline constexpr Module kModules[] = {
    {"linear", "a projection",
     {"...", "1024", "in_features"}, 1,
     {{{"in_features", "32"}, {"out_features", "64"}, {"bias", "true|false"}}}},
    {"matmul_add", "a product, and a vector or a matrix added to it",
     {"64", "k"}, 1,
     {{{"k", "64"}, {"n", "64"}, {"bias", "1d|2d"}}}},
    {"mlp", "up, activation, down",
     {"...", "64", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "true|false"},
       {"activation", "gelu|relu"}, {"train", "false|true"}, {"optimizer", "sgd|adamw"}}}},
    {"geglu", "down(gelu(gate) * up)",
     {"...", "64", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "false|true"},
       {"approximate", "tanh|none"}}}, true},
    {"swiglu", "down(silu(gate) * up)",
     {"...", "64", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "false|true"}}}, true},
    {"norm_mlp", "x + mlp(norm(x))",
     {"...", "64", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "3072"}, {"bias", "true|false"},
       {"activation", "gelu|relu"}, {"norm", "layer|rms"}}}},
    {"attention", "of query, key and value of one shape: batch, heads, tokens, features of a head",
     {"8", "16", "1024", "64"}, 3,
     {{{"implementation", "naive|naive_in_place|math|efficient|flash|cudnn"},
       {"causal", "true|false"}}}},
    {"transformer_block", "pre-norm attention and mlp, each with a residual",
     {"8", "128", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "3072"}, {"heads", "12"}, {"causal", "true|false"},
       {"train", "false|true"}, {"optimizer", "sgd|adamw"}}}},
    {"moe", "a swiglu chosen among experts for each token",
     {"...", "64", "hidden"}, 1,
     {{{"hidden", "768"}, {"intermediate", "1024"}, {"experts", "8"}, {"top_k", "2"},
       {"dispatch", "loop|dense|grouped"}}}},
    {"decode", "attention of one new token a sequence, with a KV cache of `context` tokens",
     {"8", "hidden"}, 1,
     {{{"hidden", "768"}, {"heads", "12"}, {"context", "1024"}, {"cache", "static|concatenated"}}}},
    {"quantized_linear", "a projection with weights of 8 bits",
     {"64", "in_features"}, 1,
     {{{"in_features", "1024"}, {"out_features", "1024"}, {"method", "dequantize|int8|fp8"}}}},
};
// clang-format on

inline constexpr std::array<std::string_view, 4> kModes = {"eager", "aoti", "cuda_graph",
                                                           "hand_fused"};

// nullptr if there is none of that name.
inline const Module* FindModule(std::string_view name) {
  for (const Module& module : kModules) {
    if (module.name == name) return &module;
  }
  return nullptr;
}

inline std::vector<Setting> SettingsOf(const Module& module) {
  std::vector<Setting> settings(module.settings.begin(), module.settings.end());
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [](const Setting& setting) { return setting.name.empty(); }),
                 settings.end());
  return settings;
}

inline std::vector<std::string_view> ChoicesOf(const Setting& setting) {
  std::vector<std::string_view> choices;
  std::string_view rest = setting.values;
  while (!rest.empty()) {
    choices.push_back(rest.substr(0, rest.find('|')));
    rest.remove_prefix(std::min(rest.size(), choices.back().size() + 1));
  }
  return choices;
}

// "[..., 64, hidden]"
inline std::string ShapeText(const Module& module) {
  std::string text;
  for (const std::string_view dimension : module.input) {
    if (dimension.empty()) break;
    text += (text.empty() ? "[" : ", ") + std::string(dimension);
  }
  return text + "]";
}

// The functions below say why something does not fit, in words; "" if it does.

// Settings that contradict each other.
inline std::string WhyNotSettings(const Module& module, const Values& values) {
  const auto size = [&](const char* name) -> int64_t {
    const auto found = values.find(name);
    return found == values.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
  };
  const std::string name(module.name);
  if (size("heads") > 0 && size("hidden") % size("heads") != 0) {
    return "hidden of module " + name + " is " + values.at("hidden") + ", which its heads, " +
           values.at("heads") + ", do not divide";
  }
  if (size("top_k") > size("experts")) {
    return "top_k of module " + name + " is " + values.at("top_k") + ", but it has only " +
           values.at("experts") + " experts";
  }
  return "";
}

inline std::string WhyNotShape(const Module& module, const Values& values,
                               const std::vector<int64_t>& shape) {
  const bool open = module.input[0] == "...";
  size_t dimensions = 0;
  while (dimensions < module.input.size() && !module.input[dimensions].empty()) ++dimensions;
  const std::string name(module.name);
  if (open ? shape.empty() : shape.size() != dimensions) {
    return "the shape has " + std::to_string(shape.size()) + " dimensions, but module " + name +
           " takes " + ShapeText(module);
  }
  const auto last = values.find(std::string(module.input[dimensions - 1]));
  const std::string found = std::to_string(shape.back());
  if (last == values.end() || last->second == found) return "";
  return "the last dimension of the shape is " + found + ", but " + last->first + " of module " +
         name + " is " + last->second;
}

// A mode that the module, with these settings, has not on any device.
inline std::string WhyNotMode(const Module& module, const Values& values, std::string_view mode) {
  if (mode == "hand_fused" && !module.hand_fused) {
    return "module " + std::string(module.name) +
           " has no hand-fused kernel; geglu and swiglu have one";
  }
  const auto train = values.find("train");
  if (mode == "aoti" && train != values.end() && train->second == "true") {
    return "AOTInductor exports no training step; there are eager and cuda_graph";
  }
  return "";
}

}  // namespace modules
}  // namespace perfgate
