// What both sides of the fake know: the collector's, which calls CUPTI, and the program's, which
// does the work that CUPTI records.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace fake_cupti {

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

State& Fake();

int64_t Now();

// The buffer goes to the collector.
void Give(State& fake);

}  // namespace fake_cupti
