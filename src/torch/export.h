// Built-in modules exported by AOTInductor. An export takes about a minute, so packages are kept.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "torch/options.h"

namespace perfgate::runner {

struct Exported {
  std::filesystem::path package;
  int64_t took_ns = 0;  // near 0 if it was kept
};

// The package of a module, exported if the cache ($PERFGATE_CACHE/packages) has none of this
// module, settings, shape, dtype, seed, device, and of the LibTorch, CPU and GPU that `environment`
// names. Safe when several processes want the same one at once. Throws WorkloadFault with the last
// lines of the export's log.
Exported ExportModule(const Options& options, c10::Device device,
                      const std::map<std::string, std::string>& environment);

}  // namespace perfgate::runner
