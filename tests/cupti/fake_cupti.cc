#include "fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int64_t kNever = INT64_MAX;
constexpr uint32_t kRuntimeCalls = CUPTI_RUNTIME_TRACE_CBID_SIZE;
constexpr uint32_t kDriverCalls = CUPTI_DRIVER_TRACE_CBID_SIZE;

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0;
};

// Work that still runs: where its record waits for the end, and when that will be.
struct Running {
  CUpti_ActivityKernel10* record = nullptr;
  int64_t ends_ns = 0;
};

struct State {
  std::recursive_mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  CUptiResult refused = CUPTI_SUCCESS;
  std::set<int> kinds;
  std::set<CUpti_CallbackId> runtime, driver;  // calls that are recorded
  std::set<std::pair<int, CUpti_CallbackId>> callbacks;
  Buffer buffer;
  std::vector<Running> running;
  uint32_t correlation = 100;
  size_t dropped = 0;
  bool keeps = false;
  int flushes = 0;
  std::atomic<int> reads{0};
};

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

// Room for a record, which is all zero.
template <typename Record>
Record* Add(State& fake, CUpti_ActivityKind kind) {
  // As seen on an H200: a call that was chosen alone, its kind being off, is not recorded.
  if (fake.kinds.count(kind) == 0) return nullptr;
  if (fake.buffer.data != nullptr && fake.buffer.used + sizeof(Record) > fake.buffer.size)
    Give(fake);
  if (fake.buffer.data == nullptr) {
    size_t most = 0;
    fake.request(&fake.buffer.data, &fake.buffer.size, &most);
    fake.buffer.used = 0;
  }
  if (fake.buffer.data == nullptr) {
    ++fake.dropped;
    return nullptr;
  }
  auto* record = reinterpret_cast<Record*>(fake.buffer.data + fake.buffer.used);
  fake.buffer.used += sizeof(Record);
  record->kind = kind;
  return record;
}

void AddCall(State& fake, bool is_driver, CUpti_CallbackId cbid, int64_t start_ns, int64_t end_ns,
             uint32_t correlation) {
  if ((is_driver ? fake.driver : fake.runtime).count(cbid) == 0) return;
  auto* call = Add<CUpti_ActivityAPI>(
      fake, is_driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME);
  if (call == nullptr) return;
  call->cbid = cbid;
  call->start = static_cast<uint64_t>(start_ns);
  call->end = static_cast<uint64_t>(end_ns);
  call->processId = static_cast<uint32_t>(getpid());
  call->threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  call->correlationId = correlation;
}

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

void FakeContext() {
  State& fake = Fake();
  CUpti_ResourceData data{};
  const bool heard =
      fake.callbacks.count({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED}) > 0;
  if (heard) {
    fake.callback(fake.user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  }
}

uint32_t FakeCall(bool is_driver, CUpti_CallbackId cbid, int64_t ns, CUpti_CallbackId nested) {
  State& fake = Fake();
  const int domain = is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  if (fake.callbacks.count({domain, cbid}) > 0) {
    CUpti_CallbackData data{};
    data.callbackSite = CUPTI_API_ENTER;
    fake.callback(fake.user, static_cast<CUpti_CallbackDomain>(domain), cbid, &data);
  }
  const std::lock_guard lock(fake.mutex);
  const uint32_t correlation = ++fake.correlation;
  const int64_t start_ns = Now();
  while (Now() < start_ns + ns) {
  }
  // A nested call returns first.
  if (nested != 0) AddCall(fake, true, nested, start_ns + 1, Now(), correlation);
  AddCall(fake, is_driver, cbid, start_ns, Now(), correlation);
  return correlation;
}

void FakeKernel(uint32_t correlation, const char* symbol, int64_t ns, int late_ms, uint32_t node) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  auto* kernel = Add<CUpti_ActivityKernel10>(fake, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (kernel == nullptr) return;
  const int64_t ends_ns = late_ms < 0 ? kNever : Now() + late_ms * int64_t{1'000'000} + ns;
  kernel->name = symbol;
  kernel->start = static_cast<uint64_t>(Now());
  kernel->contextId = 1;
  kernel->streamId = 7;
  kernel->gridX = 2;
  kernel->gridY = 64;
  kernel->gridZ = 1;
  kernel->blockX = 384;
  kernel->blockY = kernel->blockZ = 1;
  kernel->registersPerThread = 168;
  kernel->staticSharedMemory = 1024;
  kernel->dynamicSharedMemory = 4096;
  kernel->correlationId = correlation;
  kernel->graphNodeId = node;
  kernel->graphId = node == 0 ? 0 : 5;
  if (late_ms == 0) {
    kernel->end = static_cast<uint64_t>(ends_ns);
  } else {
    fake.running.push_back({kernel, ends_ns});
  }
}

void FakeCopy(uint32_t correlation, uint64_t bytes, int64_t ns) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  auto* copy = Add<CUpti_ActivityMemcpy6>(fake, CUPTI_ACTIVITY_KIND_MEMCPY);
  if (copy == nullptr) return;
  copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy->srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy->bytes = bytes;
  copy->start = static_cast<uint64_t>(Now());
  copy->end = copy->start + static_cast<uint64_t>(ns);
  copy->contextId = 1;
  copy->streamId = 7;
  copy->correlationId = correlation;
}

void FakeFill(uint32_t correlation, uint64_t bytes, int64_t ns) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  auto* fill = Add<CUpti_ActivityMemset4>(fake, CUPTI_ACTIVITY_KIND_MEMSET);
  if (fill == nullptr) return;
  fill->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  fill->bytes = bytes;
  fill->start = static_cast<uint64_t>(Now());
  fill->end = fill->start + static_cast<uint64_t>(ns);
  fill->contextId = 1;
  fill->streamId = 7;
  fill->correlationId = correlation;
}

void FakeOverhead(int64_t ns) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  auto* overhead = Add<CUpti_ActivityOverhead3>(fake, CUPTI_ACTIVITY_KIND_OVERHEAD);
  if (overhead == nullptr) return;
  overhead->overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  overhead->start = static_cast<uint64_t>(Now());
  overhead->end = overhead->start + static_cast<uint64_t>(ns);
}

void FakeDrop(int records) { Fake().dropped += static_cast<size_t>(records); }
void FakeSteal() {
  static uint8_t stolen[size_t{1} << 20];
  Fake().request = [](uint8_t** buffer, size_t* size, size_t*) {
    *buffer = stolen;
    *size = sizeof stolen;
  };
  Fake().complete = [](CUcontext, uint32_t, uint8_t*, size_t, size_t) {};
}

void FakeKeep() { Fake().keeps = true; }

void FakeHoard() {
  uint8_t* data = nullptr;
  size_t size = 0, most = 0;
  Fake().request(&data, &size, &most);
}

int FakeFlushes() {
  const std::lock_guard lock(Fake().mutex);
  return Fake().flushes;
}

int FakeReads() { return Fake().reads.load(); }

int FakeApiCallbacks() {
  if (Fake().callback == nullptr) return -1;
  int count = 0;
  for (const auto& [domain, cbid] : Fake().callbacks) count += domain != CUPTI_CB_DOMAIN_RESOURCE;
  return count;
}

void FakeHold() {
  const std::lock_guard lock(Fake().mutex);
  while (true) pause();
}

void FakeRefuse(CUptiResult result) { Fake().refused = result; }

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
  if (fake.running.empty() || flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) Give(fake);
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
