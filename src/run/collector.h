// `profiler: cupti`: what makes the CUDA driver and NVTX load the collector into a command.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "run/run.h"

namespace perfgate {

struct Injection {
  std::map<std::string, std::string> environment;  // to be added to the attempt's
  std::string fault;                               // why it cannot be; "" if it can
};

// The collector is $PERFGATE_CUPTI_COLLECTOR, else libperfgate_cupti.so beside the perfgate program
// or in ../lib; "" if there is none.
std::filesystem::path FindCollector(World& world);

Injection InjectCollector(const Case& declared, World& world);

}  // namespace perfgate
