// The hand-fused kernel: act(gate) * up in one pass over memory.
#pragma once

#include <cstdint>

namespace perfgate::runner {

// Rows of `columns` elements; a stride is the distance from one row to the next, in elements. The
// three may lie anywhere: whole 16 bytes are moved at once where all of them are aligned to that,
// else single elements. Arithmetic is fp32, rounded once.
struct ActAndMulWork {
  const void* gate;
  const void* up;
  void* out;
  int64_t rows, columns;
  int64_t gate_stride, up_stride, out_stride;
};

// The numbers of Act and of these are what the exported function takes.
enum class Element { kFp32, kBf16, kFp16 };

// Why there is no kernel in this build; null if there is one.
const char* WhyNoActAndMul();

extern "C" {
// Gives the work to a stream. Returns a cudaError_t; 1 (invalid value) for an unknown number. Plain
// types, so that tests call it from Python.
__attribute__((visibility("default"))) int perfgate_act_and_mul(const ActAndMulWork* work,
                                                                int element, int act, void* stream);
}

}  // namespace perfgate::runner
