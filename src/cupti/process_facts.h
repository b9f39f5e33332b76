// What a trace says of the process beside its events: GPUs, driver, libraries.
#pragma once

#include <string>

#include "cupti/config.h"
#include "cupti/cupti_api.h"

namespace perfgate::cupti {

// Keys that stand before the events, `"key":value,` each: who wrote the trace, the base of its
// times, ranks, versions of CUPTI, driver and runtime, the GPUs that the process sees.
std::string HeaderKeys(const Config& config, const CuptiApi& api, int64_t base_ns);

// The driver holds the context of a GPU that the runtime works in: the program uses the GPU.
bool HasContext();

// `"perfgate_environment":{...},`: versions of the libraries that the process has loaded by now.
std::string EnvironmentKeys();

}  // namespace perfgate::cupti
