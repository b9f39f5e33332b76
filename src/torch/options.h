// The command line of perfgate-torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfgate/modules.h"

namespace perfgate::runner {

enum class Source { kModule, kPackage, kScript };
enum class Mode { kEager, kAoti, kCudaGraph, kHandFused };

struct InputSpec {
  std::vector<int64_t> shape;
  std::string dtype = "fp32";  // fp32 | bf16 | fp16
};

struct Options {
  Source source = Source::kModule;
  std::string name;               // of the module, or the file
  modules::Values set;            // the module's settings, defaults filled in
  std::vector<InputSpec> inputs;  // at least one
  Mode mode = Mode::kEager;
  uint64_t seed = 0;

  bool Trains() const;  // a training step: forward, backward, optimizer
};

// Throws UsageFault. `--help` and `--version` print and end the process with code 0.
Options ReadOptions(int argc, char** argv);

}  // namespace perfgate::runner
