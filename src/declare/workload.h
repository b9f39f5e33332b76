// One item of `workloads`: its cases, one for each combination of its matrix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "declare/declare.h"
#include "declare/matrix.h"
#include "declare/reader.h"

namespace perfgate {

// What `defaults` and a workload may both say.
struct Conditions {
  std::string device = "auto";
  int threads = 1;
  Windows windows;
  int64_t timeout_ns = 300'000'000'000;
};

// Reads those of the keys that `holder` has over `base`.
Conditions ReadConditions(const Reader& holder, const Conditions& base);

// The cases of a workload in order, then those that only serve as their references. `reference`
// names of other workloads are not resolved: they stand in Case::reference as written, and
// ResolveReferences checks them when all cases are known.
std::vector<Case> ReadWorkload(const Reader& workload, const Conditions& defaults,
                               const LoadOptions& options);

}  // namespace perfgate
