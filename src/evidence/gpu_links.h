// What was seen while launches and GPU work were joined, and what it means.
#pragma once

#include <cstdint>

#include "evidence/gpu.h"

namespace perfgate {

struct LinkFindings {
  int64_t orphans = 0;              // GPU activities whose launch call is not in the trace
  uint32_t first_orphan = 0;        // event
  int64_t duplicates = 0;           // GPU records that the trace holds twice
  int64_t outside = 0;              // GPU activities launched outside the marked steps
  int64_t untimed = 0;              // GPU activities in the steps with no time
  int64_t unnumbered_launches = 0;  // launches without an id
  int64_t collisions = 0;           // launches with the id of another launch
  bool by_external_id = false;
};

// Tells of joined work what is missing, contradictory or rightly left out.
void ReportLinks(const TraceData& trace, const GpuLinks& links, const LinkFindings& findings,
                 ProcessEvidence& evidence);

}  // namespace perfgate
