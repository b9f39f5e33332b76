// The collector's side of the fake: the functions of CUPTI.
#include <cupti.h>

#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "fake_cupti_state.h"

namespace fake_cupti {

State& Fake() {
  static auto* state = new State;
  return *state;
}

int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

void Give(State& fake) {
  if (fake.buffer.data == nullptr || fake.keeps) return;
  const Buffer full = fake.buffer;
  fake.buffer = {};
  fake.running.clear();
  fake.complete(nullptr, 0, full.data, full.size, full.used);
}

}  // namespace fake_cupti

using fake_cupti::Fake;
using fake_cupti::Now;
using fake_cupti::Running;
using fake_cupti::State;

namespace {

constexpr uint32_t kRuntimeCalls = CUPTI_RUNTIME_TRACE_CBID_SIZE;
constexpr uint32_t kDriverCalls = CUPTI_DRIVER_TRACE_CBID_SIZE;

void Settle(State& fake) {
  for (Running& running : fake.running) {
    if (running.ends_ns > Now()) continue;
    running.record->end = static_cast<uint64_t>(running.ends_ns);
    running.record = nullptr;
  }
  std::erase_if(fake.running, [](const Running& each) { return each.record == nullptr; });
}

void AllCalls(std::set<CUpti_CallbackId>& calls, uint32_t count, bool on) {
  calls.clear();
  for (uint32_t cbid = 1; on && cbid < count; ++cbid) calls.insert(cbid);
}

void Switch(CUpti_ActivityKind kind, bool on) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  on ? static_cast<void>(fake.kinds.insert(kind)) : static_cast<void>(fake.kinds.erase(kind));
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) AllCalls(fake.runtime, kRuntimeCalls, on);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) AllCalls(fake.driver, kDriverCalls, on);
}

const std::map<CUpti_CallbackId, const char*>& Names(bool is_driver) {
  static const std::map<CUpti_CallbackId, const char*> runtime = {
      {10, "cudaGetLastError_v3020"},       {17, "cudaGetDevice_v3020"},
      {41, "cudaMemcpyAsync_v3020"},        {51, "cudaMemsetAsync_v3020"},
      {131, "cudaStreamSynchronize_v3020"}, {164, "cudaDeviceReset_v3020"},
      {165, "cudaDeviceSynchronize_v3020"}, {211, "cudaLaunchKernel_v7000"},
      {311, "cudaGraphLaunch_v10000"},      {315, "cudaStreamBeginCapture_v10000"},
      {319, "cudaStreamEndCapture_v10000"}, {505, "__cudaLaunchKernel_v13000"}};
  static const std::map<CUpti_CallbackId, const char*> driver = {
      {17, "cuCtxSynchronize"}, {277, "cuMemcpyHtoDAsync_v2"}, {307, "cuLaunchKernel"},
      {304, "cuCtxGetCurrent"}, {514, "cuGraphLaunch"},        {652, "cuLaunchKernelEx"}};
  return is_driver ? driver : runtime;
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = static_cast<uint64_t>(Now());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR_NOT_INITIALIZED";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (cbid >= (is_driver ? kDriverCalls : kRuntimeCalls)) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto known = Names(is_driver).find(cbid);
  *name = known != Names(is_driver).end() ? known->second : "cuOther_v9000";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user) {
  State& fake = Fake();
  if (fake.refused != CUPTI_SUCCESS) return fake.refused;
  if (fake.callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fake.callback = callback;
  fake.user = user;
  *subscriber = nullptr;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const std::lock_guard lock(Fake().mutex);
  Fake().callback = nullptr;
  Fake().callbacks.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  if (enable != 0) {
    Fake().callbacks.insert({domain, cbid});
  } else {
    Fake().callbacks.erase({domain, cbid});
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  Fake().request = request;
  Fake().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  Switch(kind, true);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  Switch(kind, false);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  const std::lock_guard lock(Fake().mutex);
  enable != 0 ? static_cast<void>(Fake().runtime.insert(cbid))
              : static_cast<void>(Fake().runtime.erase(cbid));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  const std::lock_guard lock(Fake().mutex);
  enable != 0 ? static_cast<void>(Fake().driver.insert(cbid))
              : static_cast<void>(Fake().driver.erase(cbid));
  return CUPTI_SUCCESS;
}

// A buffer with work that still runs comes back only if it is forced, as CUPTI says of itself.
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  ++fake.flushes;
  Settle(fake);
  if (fake.running.empty() || flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) fake_cupti::Give(fake);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  const std::lock_guard lock(Fake().mutex);
  *dropped = Fake().dropped;
  Fake().dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t used, CUpti_Activity** record) {
  const auto size = [](const CUpti_Activity* each) -> size_t {
    switch (each->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead3);
      default:
        return sizeof(CUpti_ActivityAPI);
    }
  };
  uint8_t* next = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size(*record);
  if (next >= buffer + used) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  ++Fake().reads;
  return CUPTI_SUCCESS;
}
}
