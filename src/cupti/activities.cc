#include "cupti/activities.h"

#include <array>

namespace perfgate::cupti {
namespace {

// CONCURRENT_KERNEL, never KERNEL, which would run one kernel at a time.
constexpr std::array kGpuWork = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                 CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::array kCalls = {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

// Leaves out what is of no use. Choosing what is wanted, call by call, records nothing of the
// driver on a GPU (CUPTI 13.0): the whole kind has to be on first.
void LeaveOut(CUptiResult (*enable)(CUpti_CallbackId, uint8_t),
              const std::vector<CallInfo>& calls) {
  if (enable == nullptr) return;  // all is recorded, and passed over when it is read
  for (size_t cbid = 0; cbid < calls.size(); ++cbid) {
    if (calls[cbid].name.empty() || calls[cbid].recorded) continue;
    enable(static_cast<CUpti_CallbackId>(cbid), 0);
  }
}

}  // namespace

std::string EnableActivities(const CuptiApi& api, const CallTables& calls) {
  for (const CUpti_ActivityKind kind : kGpuWork) {
    const CUptiResult result = api.cuptiActivityEnable(kind);
    if (result != CUPTI_SUCCESS) return "CUPTI cannot record GPU work: " + api.Text(result);
  }
  api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD);  // good to know; no evidence rests on it
  for (const CUpti_ActivityKind kind : kCalls) {
    const CUptiResult result = api.cuptiActivityEnable(kind);
    if (result != CUPTI_SUCCESS) return "CUPTI cannot record calls: " + api.Text(result);
  }
  LeaveOut(api.cuptiActivityEnableRuntimeApi, calls.runtime);
  LeaveOut(api.cuptiActivityEnableDriverApi, calls.driver);
  return "";
}

void DisableCalls(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : kCalls) api.cuptiActivityDisable(kind);
}

void DisableGpuWork(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : kGpuWork) api.cuptiActivityDisable(kind);
  api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_OVERHEAD);
}

}  // namespace perfgate::cupti
