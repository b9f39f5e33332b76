#include "cupti/activities.h"

#include <array>

namespace perfgate::cupti {
namespace {

// CONCURRENT_KERNEL, never KERNEL, which would run one kernel at a time.
constexpr std::array kGpuWork = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                 CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                                 CUPTI_ACTIVITY_KIND_OVERHEAD};

// Of the driver only what is of use; a CUPTI that cannot choose records all, and the rest is passed
// over when it is read.
void SwitchDriverCalls(const CuptiApi& api, const CallTables& calls, bool on) {
  if (api.cuptiActivityEnableDriverApi == nullptr) {
    on ? api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER)
       : api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
    return;
  }
  for (size_t cbid = 0; cbid < calls.driver.size(); ++cbid) {
    if (!calls.driver[cbid].recorded) continue;
    api.cuptiActivityEnableDriverApi(static_cast<CUpti_CallbackId>(cbid), on ? 1 : 0);
  }
}

void LeaveOutCheapCalls(const CuptiApi& api, const CallTables& calls) {
  if (api.cuptiActivityEnableRuntimeApi == nullptr) return;
  for (size_t cbid = 0; cbid < calls.runtime.size(); ++cbid) {
    if (calls.runtime[cbid].name.empty() || calls.runtime[cbid].recorded) continue;
    api.cuptiActivityEnableRuntimeApi(static_cast<CUpti_CallbackId>(cbid), 0);
  }
}

}  // namespace

std::string EnableActivities(const CuptiApi& api, const CallTables& calls) {
  for (const CUpti_ActivityKind kind : kGpuWork) {
    const CUptiResult result = api.cuptiActivityEnable(kind);
    if (result != CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      return "CUPTI cannot record kernels: " + api.Text(result);
    }
  }
  const CUptiResult result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (result != CUPTI_SUCCESS) return "CUPTI cannot record calls: " + api.Text(result);
  LeaveOutCheapCalls(api, calls);
  SwitchDriverCalls(api, calls, true);
  return "";
}

void DisableCalls(const CuptiApi& api, const CallTables& calls) {
  api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  SwitchDriverCalls(api, calls, false);
}

void DisableGpuWork(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : kGpuWork) api.cuptiActivityDisable(kind);
}

}  // namespace perfgate::cupti
