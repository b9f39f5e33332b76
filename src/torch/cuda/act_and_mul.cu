#include "torch/cuda/act_and_mul.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

// Kernel names are evidence: src/kernel reads "perfgate::act_and_mul_kernel<..., gelu_tanh ...>".
namespace perfgate {

constexpr int kThreads = 128;
constexpr int kWordBytes = 16;
constexpr int64_t kMostRowBlocks = 65535;  // of a grid's second dimension

// As the hardware has them: right to about 2^-22 of the value, below 2^-126 zero.
__device__ inline float Exp2(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ inline float Reciprocal(float x) {
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

constexpr float kLog2E = 1.4426950408889634f;

// x * sigmoid(2 u) is 0.5 x (1 + tanh(u)). At -inf it is NaN, as ATen's is.
__device__ inline float gelu_tanh(float x) {
  constexpr float kLinear = -1.5957691216057308f * kLog2E;  // -2 sqrt(2 / pi)
  constexpr float kCubic = 0.044715f * kLinear;
  return x * Reciprocal(1.0f + Exp2(x * (kLinear + kCubic * (x * x))));
}

// x Phi(x). Phi(-a) is 2^p(a) for a from 0 on, p a minimax fit of log2 Phi(-a) on [0, 6]: right to
// 1e-6 of the value down to Phi = 1e-3, to 4e-8 anywhere; beyond, p goes on falling.
__device__ inline float gelu_erf(float x) {
  constexpr float kFit[] = {-4.4459454e-8f, 1.1798462e-6f, -1.3661077e-5f, 8.8370383e-5f,
                            -3.0955687e-4f, 4.2689881e-5f, 6.9139390e-3f,  -5.2429274e-2f,
                            -0.45922220f,   -1.1511042f,   -1.0f};
  float log2_phi = kFit[0];
#pragma unroll
  for (int i = 1; i < 11; ++i) log2_phi = log2_phi * fabsf(x) + kFit[i];
  const float phi = Exp2(log2_phi);
  return x * (x < 0.0f ? phi : 1.0f - phi);
}

__device__ inline float silu(float x) { return x * Reciprocal(1.0f + Exp2(-kLog2E * x)); }

template <float (*kAct)(float), typename T>
__device__ inline T ActAndMul(T gate, T up) {
  return static_cast<T>(kAct(static_cast<float>(gate)) * static_cast<float>(up));
}

// What is moved at once: 16 bytes, or an element.
template <typename T, int kWidth>
using Word = std::conditional_t<kWidth == 1, T, uint4>;

// Words are moved as a whole: the compiler cuts a plain store into four, which leave gaps between
// threads. Cached as usual; loads that evict first beside such stores lose 10 % (H200).
__device__ inline uint4 Load(const uint4* from) {
  uint4 word;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(from));
  return word;
}
__device__ inline void Store(uint4* to, uint4 word) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word.x), "r"(word.y),
               "r"(word.z), "r"(word.w)
               : "memory");
}
template <typename T>
__device__ inline T Load(const T* from) {
  return *from;
}
template <typename T>
__device__ inline void Store(T* to, T element) {
  *to = element;
}

template <typename T, float (*kAct)(float), int kWidth>
__device__ inline Word<T, kWidth> ActAndMulWord(Word<T, kWidth> gate, Word<T, kWidth> up) {
  Word<T, kWidth> result;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    reinterpret_cast<T*>(&result)[i] =
        ActAndMul<kAct>(reinterpret_cast<const T*>(&gate)[i], reinterpret_cast<const T*>(&up)[i]);
  }
  return result;
}

// A block does kTile elements of a row, a thread a word: on an H200 blocks of 256 threads are as
// fast in whole tensors, two words a thread cost 1 % and four 2 %.
template <typename T, float (*kAct)(float), int kWidth>
__global__ void __launch_bounds__(kThreads)
    act_and_mul_kernel(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ out,
                       int64_t rows, int64_t columns, int64_t gate_stride, int64_t up_stride,
                       int64_t out_stride) {
  using Move = Word<T, kWidth>;
  constexpr int kTile = kThreads * kWidth;
  const int64_t tile = static_cast<int64_t>(blockIdx.x) * kTile;
  const int size = static_cast<int>(min(columns - tile, int64_t{kTile}));
  const int words = size / kWidth;
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const T* gates = gate + row * gate_stride + tile;
    const T* ups = up + row * up_stride + tile;
    T* outs = out + row * out_stride + tile;
    if (thread < words) {
      const Move g = Load(reinterpret_cast<const Move*>(gates) + thread);
      const Move u = Load(reinterpret_cast<const Move*>(ups) + thread);
      Store(reinterpret_cast<Move*>(outs) + thread, ActAndMulWord<T, kAct, kWidth>(g, u));
    }
    const int tail = words * kWidth + thread;  // what fills no word
    if (kWidth > 1 && tail < size) outs[tail] = ActAndMul<kAct>(gates[tail], ups[tail]);
  }
}

namespace {

using runner::ActAndMulWork;

bool AllAligned(const ActAndMulWork& work, int64_t element_bytes) {
  const auto aligned = [&](const void* start, int64_t stride) {
    const int64_t row_bytes = work.rows > 1 ? stride * element_bytes : 0;
    return reinterpret_cast<uintptr_t>(start) % kWordBytes == 0 && row_bytes % kWordBytes == 0;
  };
  return aligned(work.gate, work.gate_stride) && aligned(work.up, work.up_stride) &&
         aligned(work.out, work.out_stride);
}

template <typename T, float (*kAct)(float), int kWidth>
cudaError_t Launch(const ActAndMulWork& work, cudaStream_t stream) {
  constexpr int64_t kTile = kThreads * kWidth;
  const int64_t across = (work.columns + kTile - 1) / kTile;
  const dim3 grid(static_cast<unsigned>(across),
                  static_cast<unsigned>(work.rows < kMostRowBlocks ? work.rows : kMostRowBlocks));
  act_and_mul_kernel<T, kAct, kWidth><<<grid, kThreads, 0, stream>>>(
      static_cast<const T*>(work.gate), static_cast<const T*>(work.up), static_cast<T*>(work.out),
      work.rows, work.columns, work.gate_stride, work.up_stride, work.out_stride);
  return cudaGetLastError();
}

template <typename T, float (*kAct)(float)>
cudaError_t LaunchAs(ActAndMulWork work, cudaStream_t stream) {
  if (work.rows <= 0 || work.columns <= 0) return cudaSuccess;
  const bool gapless = work.gate_stride == work.columns && work.up_stride == work.columns &&
                       work.out_stride == work.columns;
  if (gapless) {
    work.columns *= work.rows;
    work.rows = 1;
  }
  constexpr int kWidth = kWordBytes / static_cast<int>(sizeof(T));
  return AllAligned(work, sizeof(T)) ? Launch<T, kAct, kWidth>(work, stream)
                                     : Launch<T, kAct, 1>(work, stream);
}

template <typename T>
cudaError_t LaunchFor(const ActAndMulWork& work, int act, cudaStream_t stream) {
  switch (act) {
    case 0:
      return LaunchAs<T, gelu_tanh>(work, stream);
    case 1:
      return LaunchAs<T, gelu_erf>(work, stream);
    case 2:
      return LaunchAs<T, silu>(work, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

namespace runner {

const char* WhyNoActAndMul() { return nullptr; }

int perfgate_act_and_mul(const ActAndMulWork* work, int element, int act, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  switch (static_cast<Element>(element)) {
    case Element::kFp32:
      return LaunchFor<float>(*work, act, on);
    case Element::kBf16:
      return LaunchFor<__nv_bfloat16>(*work, act, on);
    case Element::kFp16:
      return LaunchFor<__half>(*work, act, on);
  }
  return cudaErrorInvalidValue;
}

}  // namespace runner
}  // namespace perfgate
