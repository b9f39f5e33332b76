// Which kinds of activity CUPTI records, switched on for the window alone: each costs every launch.
#pragma once

#include <string>

#include "cupti/calls.h"
#include "cupti/cupti_api.h"

namespace perfgate::cupti {

// Work on the GPU, calls of the host, CUPTI's own overhead. Returns "" or what CUPTI refused.
std::string EnableActivities(const CuptiApi& api, const CallTables& calls);
// Calls first: work that they launched may still be under way.
void DisableCalls(const CuptiApi& api);
void DisableGpuWork(const CuptiApi& api);

}  // namespace perfgate::cupti
