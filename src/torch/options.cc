#include "torch/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

using modules::Module;
using modules::Setting;

constexpr const char* kContract = R"(
What to do comes by environment variables, which `perfgate run` sets: PERFGATE_ATTEMPT_DIR,
PERFGATE_PHASE, PERFGATE_DEVICE, PERFGATE_THREADS, PERFGATE_ITERATIONS ... (docs/attempt.md).
Without them a summary is printed.)";

std::string Footer() {
  std::string text =
      "Modules, their input, and what --set knows (the size by hand; the default first):\n";
  for (const Module& module : modules::kModules) {
    std::vector<std::string> settings;
    for (const Setting& each : modules::SettingsOf(module)) {
      settings.push_back(fmt::format("{}={}", each.name, each.values));
    }
    text += fmt::format("  {} {}: {}{}\n    {}\n", module.name, modules::ShapeText(module),
                        module.about, module.hand_fused ? "; has mode hand_fused" : "",
                        fmt::join(settings, " "));
  }
  return text + kContract;
}

constexpr int64_t kLargestSize = int64_t{1} << 31;

int64_t ParseNumber(const std::string& text, const std::string& what) {
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > kLargestSize) {
    throw UsageFault(
        fmt::format("{}: '{}' is no whole number from 1 to {}", what, text, kLargestSize));
  }
  return value;
}

std::vector<InputSpec> ParseInputs(const std::vector<std::string>& shapes,
                                   const std::vector<std::string>& dtypes,
                                   const std::vector<int64_t>& default_shape) {
  if (dtypes.size() > std::max<size_t>(shapes.size(), 1)) {
    throw UsageFault(fmt::format("{} --input-dtype for {} --input-shape: give one pair an input",
                                 dtypes.size(), shapes.size()));
  }
  std::vector<InputSpec> inputs(std::max<size_t>(shapes.size(), 1));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < dtypes.size()) inputs[i].dtype = dtypes[i];
    if (shapes.empty()) {
      inputs[i].shape = default_shape;
      continue;
    }
    for (const std::string& dim : CLI::detail::split(shapes[i], ',')) {
      inputs[i].shape.push_back(ParseNumber(dim, "--input-shape " + shapes[i]));
    }
  }
  return inputs;
}

const Module& FindModule(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Module& module : modules::kModules) names.push_back(module.name);
  if (const Module* found = modules::FindModule(name)) return *found;
  throw UsageFault(fmt::format("--module {}: unknown; there are {}", name, fmt::join(names, ", ")));
}

void CheckValue(const std::string& pair, const Setting& setting, const std::string& value) {
  if (setting.IsSize()) {
    ParseNumber(value, "--set " + pair);
    return;
  }
  const std::vector<std::string_view> choices = modules::ChoicesOf(setting);
  if (std::ranges::find(choices, value) == choices.end()) {
    throw UsageFault(fmt::format("--set {}: expected {}", pair, fmt::join(choices, " or ")));
  }
}

modules::Values ParseSettings(const std::vector<std::string>& pairs, const Module& module) {
  const std::vector<Setting> known = modules::SettingsOf(module);
  modules::Values values;
  for (const Setting& setting : known) values.emplace(setting.name, setting.Default());
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    const auto setting = std::ranges::find(known, key, &Setting::name);
    if (equals == std::string::npos || setting == known.end()) {
      std::vector<std::string_view> keys;
      for (const Setting& each : known) keys.push_back(each.name);
      throw UsageFault(fmt::format("--set {}: expected key=value with a key of {}: {}", pair,
                                   module.name, fmt::join(keys, ", ")));
    }
    values[key] = pair.substr(equals + 1);
    CheckValue(pair, *setting, values[key]);
  }
  return values;
}

// The shape by hand, with these settings.
std::vector<int64_t> DefaultShape(const Module& module, const modules::Values& values) {
  std::vector<int64_t> shape;
  for (const std::string_view dimension : module.input) {
    if (dimension.empty() || dimension == "...") continue;
    const auto setting = values.find(std::string(dimension));
    shape.push_back(std::stoll(setting == values.end() ? std::string(dimension) : setting->second));
  }
  return shape;
}

Mode ParseMode(const std::string& mode) {
  const auto found = std::ranges::find(modules::kModes, mode);
  return found == modules::kModes.end() ? Mode::kEager
                                        : static_cast<Mode>(found - modules::kModes.begin());
}
static_assert(modules::kModes[static_cast<size_t>(Mode::kHandFused)] == "hand_fused" &&
              modules::kModes[static_cast<size_t>(Mode::kCudaGraph)] == "cuda_graph" &&
              modules::kModes[static_cast<size_t>(Mode::kAoti)] == "aoti");

struct Words {
  std::string module, package, script, mode;
  std::vector<std::string> pairs, shapes, dtypes;
};

void ReadModule(const Words& words, Options* options) {
  const Module& module = FindModule(words.module);
  options->name = words.module;
  options->mode = ParseMode(words.mode);
  options->set = ParseSettings(words.pairs, module);
  const auto refuse = [](const std::string& option, const std::string& why) {
    if (!why.empty()) throw UsageFault(option + ": " + why);
  };
  refuse("--set", modules::WhyNotSettings(module, options->set));
  refuse("--mode " + words.mode, modules::WhyNotMode(module, options->set, words.mode));
  options->inputs = ParseInputs(words.shapes, words.dtypes, DefaultShape(module, options->set));
  if (options->inputs.size() != 1) {
    throw UsageFault("--module " + words.module + " takes one --input-shape");
  }
  refuse("--input-shape", modules::WhyNotShape(module, options->set, options->inputs[0].shape));
  options->inputs.resize(static_cast<size_t>(module.input_count), options->inputs[0]);
}

void ReadFile(const Words& words, Options* options) {
  options->source = words.package.empty() ? Source::kScript : Source::kPackage;
  options->name = words.package.empty() ? words.script : words.package;
  options->mode = words.package.empty() ? Mode::kEager : Mode::kAoti;
  if (!words.pairs.empty()) throw UsageFault("--set: only a --module has settings");
  if (words.shapes.empty()) {
    throw UsageFault(options->name + ": give its inputs: --input-shape 64,768");
  }
  if (!words.mode.empty() && ParseMode(words.mode) != options->mode) {
    throw UsageFault("--mode " + words.mode + ": a package is always aoti, a script eager");
  }
  options->inputs = ParseInputs(words.shapes, words.dtypes, {});
}

}  // namespace

bool Options::Trains() const {
  const auto train = set.find("train");
  return train != set.end() && train->second == "true";
}

Options ReadOptions(int argc, char** argv) {
  CLI::App app("Runs one PyTorch workload by perfgate's attempt contract.", "perfgate-torch");
  app.footer(Footer());
  app.set_version_flag("--version", "perfgate-torch " PERFGATE_VERSION);
  Words words;
  Options options;
  auto* source = app.add_option_group("workload");
  source->add_option("--module", words.module, "A built-in module");
  source->add_option("--package", words.package, "An AOTInductor package (model.pt2)");
  source->add_option("--script", words.script, "A TorchScript file (model.pt)");
  source->require_option(1);
  app.add_option("--set", words.pairs, "key=value of the module")->allow_extra_args(false);
  app.add_option("--input-shape", words.shapes, "64,768; once an input")->allow_extra_args(false);
  app.add_option("--input-dtype", words.dtypes, "Of the input at the same place")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}));
  app.add_option("--mode", words.mode,
                 "eager; aoti: exported by AOTInductor, once, and kept; cuda_graph: captured and "
                 "replayed; hand_fused: with perfgate's own kernel")
      ->check(
          CLI::IsMember(std::vector<std::string>(modules::kModes.begin(), modules::kModes.end())));
  app.add_option("--seed", options.seed, "Of weights and inputs (default 0)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::exit(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw UsageFault(std::string(error.what()) + "\nRun perfgate-torch --help for what it knows.");
  }
  if (words.module.empty()) {
    ReadFile(words, &options);
  } else {
    ReadModule(words, &options);
  }
  return options;
}

}  // namespace perfgate::runner
