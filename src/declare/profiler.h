// How a command is profiled: `profiler`, `steps`, `window`.
#pragma once

#include "declare/workload.h"

namespace perfgate {

// Of a workload of `kind` ("torch" or "command"); what has no meaning there is said.
void ReadProfiler(const Reader& body, std::string_view kind, Case& out);

}  // namespace perfgate
