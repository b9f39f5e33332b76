// What recording costs whoever does it, at the least: a collector with the same kinds of activity
// on, into buffers that are ready before, touched and zero, as the collector's own are. A filled
// one is put aside unread, for good.
#include <cupti.h>

#include <cstddef>

#include "cupti/activities.h"
#include "cupti/buffer_pool.h"
#include "cupti/calls.h"
#include "cupti/cupti_api.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using perfgate::cupti::BufferPool;

struct Empty {
  perfgate::cupti::CuptiApi api;
  BufferPool pool;
  bool loaded = false;
};

Empty& Process() {
  static auto* empty = new Empty;
  return *empty;
}

void CUPTIAPI OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  *buffer = Process().pool.Request();
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
}

void CUPTIAPI OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t used) {
  Process().pool.Complete(buffer, used);
}

void CUPTIAPI OnCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

}  // namespace

// By the driver, as CUDA starts. Nothing is recorded yet.
EXPORT int InitializeInjection() {
  Empty& empty = Process();
  if (!perfgate::cupti::LoadCupti("", empty.api).empty()) return 0;
  CUpti_SubscriberHandle subscriber{};
  if (empty.api.cuptiSubscribe(&subscriber, OnCallback, nullptr) != CUPTI_SUCCESS) return 0;
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  empty.api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
                                      &zeroed);
  empty.loaded = empty.api.cuptiActivityRegisterCallbacks(OnRequest, OnComplete) == CUPTI_SUCCESS;
  return empty.loaded ? 1 : 0;
}

// By the program. 1 if all kinds are on from now.
EXPORT int StartRecording() {
  Empty& empty = Process();
  if (!empty.loaded) return 0;
  empty.pool.Reserve(BufferPool::kReadyBuffers);
  const perfgate::cupti::CallTables calls(empty.api);
  return perfgate::cupti::EnableActivities(empty.api, calls).empty() ? 1 : 0;
}
