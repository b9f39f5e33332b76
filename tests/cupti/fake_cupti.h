// A CUPTI without a GPU: the functions that the collector calls, with the layouts of CUDA 13, and
// below the means to tell it what a program does. For tests of the collector alone; it says nothing
// of what a real GPU does.
#pragma once

#include <cupti.h>

#include <cstdint>

extern "C" {

// A CUDA context is made, as the subscriber hears it.
void FakeContext();
// A call of the runtime or, with `is_driver`, of the driver. Begins now, takes `ns`, returns its
// correlation id. `nested`: a driver call inside it, which has the same id; 0: none.
uint32_t FakeCall(bool is_driver, CUpti_CallbackId cbid, int64_t ns, CUpti_CallbackId nested);
// Work of that call on device 0, stream 7. Ends `late_ms` from now; below 0: never.
void FakeKernel(uint32_t correlation, const char* symbol, int64_t ns, int late_ms, uint32_t node);
void FakeCopy(uint32_t correlation, uint64_t bytes, int64_t ns);
void FakeFill(uint32_t correlation, uint64_t bytes, int64_t ns);
void FakeOverhead(int64_t ns);
// CUPTI lost this many records.
void FakeDrop(int records);
// Another profiler of the process registers its own buffer callbacks, and gets all records.
void FakeSteal();
// No buffer comes back from now on.
void FakeKeep();
// Asks for a buffer, which stays empty and never comes back.
void FakeHoard();
// How often the collector asked for what is recorded.
int FakeFlushes();
// How many records it has read.
int FakeReads();
// How many calls of an API the subscriber hears of; -1: there is none.
int FakeApiCallbacks();
// Is inside CUPTI, its lock held, for good.
void FakeHold();
// cuptiSubscribe is refused with this result.
void FakeRefuse(CUptiResult result);
}
