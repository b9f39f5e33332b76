#include "torch/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "torch/fault.h"
#include "torch/module.h"

namespace perfgate::runner {
namespace {

constexpr const char* kFooter = R"(Modules and what --set knows (default first, or as shown):
  linear      in_features=32 out_features=64 bias=true|false
  matmul_add  k=64 n=64 bias=1d|2d
  mlp         hidden=768 intermediate=3072 bias=true|false activation=gelu|relu
  geglu       hidden=768 intermediate=3072 bias=false|true approximate=tanh|none

What to do comes by environment variables, which `perfgate run` sets: PERFGATE_ATTEMPT_DIR,
PERFGATE_PHASE, PERFGATE_DEVICE, PERFGATE_THREADS, PERFGATE_ITERATIONS ... (docs/attempt.md).
Without them a summary is printed.)";

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

const ModuleSettings& FindModule(const std::string& name) {
  std::vector<std::string> names;
  for (const ModuleSettings& module : KnownModules()) {
    if (module.name == name) return module;
    names.push_back(module.name);
  }
  throw UsageFault(fmt::format("--module {}: unknown; there are {}", name, fmt::join(names, ", ")));
}

std::map<std::string, std::string> ParseSettings(const std::vector<std::string>& pairs,
                                                 const ModuleSettings& module) {
  std::map<std::string, std::string> set = module.defaults;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    if (equals == std::string::npos || !set.count(key)) {
      std::vector<std::string> keys;
      for (const auto& [known, value] : module.defaults) keys.push_back(known);
      throw UsageFault(fmt::format("--set {}: expected key=value with a key of {}: {}", pair,
                                   module.name, fmt::join(keys, ", ")));
    }
    const std::string value = pair.substr(equals + 1);
    const auto choices = module.choices.find(key);
    if (choices == module.choices.end()) {
      ParseNumber(value, "--set " + pair);
    } else if (std::ranges::find(choices->second, value) == choices->second.end()) {
      throw UsageFault(
          fmt::format("--set {}: expected {}", pair, fmt::join(choices->second, " or ")));
    }
    set[key] = value;
  }
  return set;
}

}  // namespace

Options ReadOptions(int argc, char** argv) {
  CLI::App app("Runs one PyTorch workload by perfgate's attempt contract.", "perfgate-torch");
  app.footer(kFooter);
  app.set_version_flag("--version", "perfgate-torch " PERFGATE_VERSION);
  std::string module, package, script, mode;
  std::vector<std::string> pairs, shapes, dtypes;
  Options options;
  auto* source = app.add_option_group("workload");
  source->add_option("--module", module, "A built-in module");
  source->add_option("--package", package, "An AOTInductor package (model.pt2)");
  source->add_option("--script", script, "A TorchScript file (model.pt)");
  source->require_option(1);
  app.add_option("--set", pairs, "key=value of the module")->allow_extra_args(false);
  app.add_option("--input-shape", shapes, "64,768; once an input")->allow_extra_args(false);
  app.add_option("--input-dtype", dtypes, "Of the input at the same place")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}));
  app.add_option("--mode", mode,
                 "eager, or aoti: the module exported by AOTInductor, once, and kept")
      ->check(CLI::IsMember({"eager", "aoti"}));
  app.add_option("--seed", options.seed, "Of weights and inputs (default 0)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::exit(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw UsageFault(std::string(error.what()) + "\nRun perfgate-torch --help for what it knows.");
  }

  if (module.empty()) {
    options.source = package.empty() ? Source::kScript : Source::kPackage;
    options.name = package.empty() ? script : package;
    options.mode = package.empty() ? Mode::kEager : Mode::kAoti;
    if (!pairs.empty()) throw UsageFault("--set: only a --module has settings");
    if (shapes.empty()) throw UsageFault(options.name + ": give its inputs: --input-shape 64,768");
    if (!mode.empty() && (mode == "aoti") != (options.mode == Mode::kAoti)) {
      throw UsageFault("--mode " + mode + ": a package is always aoti, a script eager");
    }
    options.inputs = ParseInputs(shapes, dtypes, {});
    return options;
  }
  const ModuleSettings& known = FindModule(module);
  options.name = module;
  options.mode = mode == "aoti" ? Mode::kAoti : Mode::kEager;
  options.set = ParseSettings(pairs, known);
  options.inputs = ParseInputs(shapes, dtypes, known.input_shape);
  if (options.inputs.size() != 1) throw UsageFault("--module " + module + " takes one input");
  CheckInput(options);
  return options;
}

}  // namespace perfgate::runner
