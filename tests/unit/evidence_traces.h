// Evidence of one small trace.
#pragma once

#include <vector>

#include "evidence/evidence.h"
#include "trace_builder.h"

namespace perfgate {

inline Evidence Extracted(const TraceBuilder& builder) {
  const ScratchFile file("t.json", builder.Json());
  return ExtractTrace(file.path());
}

inline std::vector<double> PerStep(const Evidence& evidence, MetricId metric) {
  return Summarise(evidence, metric).per_step;
}

// Two steps of 100 us with one kernel each.
inline TraceBuilder TwoSteps() {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Step(2, 100'000, 100'000);
  builder.Launch("gemm", 10'000, 11).Launch("gemm", 110'000, 12);
  return builder;
}

}  // namespace perfgate
