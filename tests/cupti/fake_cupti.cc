// The program's side of the fake.
#include "fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>

#include "fake_cupti_state.h"

using fake_cupti::Fake;
using fake_cupti::Now;
using fake_cupti::State;

namespace {

constexpr int64_t kNever = INT64_MAX;

// Room for a record, which is all zero.
template <typename Record>
Record* Add(State& fake, CUpti_ActivityKind kind) {
  // As seen on an H200: a call that was chosen alone, its kind being off, is not recorded.
  if (fake.kinds.count(kind) == 0) return nullptr;
  if (fake.buffer.data != nullptr && fake.buffer.used + sizeof(Record) > fake.buffer.size)
    fake_cupti::Give(fake);
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
}
