#include "torch/cuda/act_and_mul.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Kernel names are evidence: src/kernel reads "perfgate::act_and_mul_kernel<..., gelu_tanh ...>".
namespace perfgate {

constexpr int kThreads = 256;
constexpr int kVectors = 2;  // loads of each input that a thread has in flight
constexpr int kVectorBytes = 16;
constexpr int64_t kMostRowBlocks = 65535;  // of a grid's second dimension

// x * sigmoid(2 u) is 0.5 x (1 + tanh(u)). At -inf it is NaN, as ATen's is.
__device__ inline float gelu_tanh(float x) {
  constexpr float kTwoRootTwoOverPi = 1.5957691216057308f;
  const float twice_u = kTwoRootTwoOverPi * (x + 0.044715f * x * x * x);
  return __fdividef(x, 1.0f + expf(-twice_u));
}

__device__ inline float gelu_erf(float x) {
  constexpr float kRootHalf = 0.70710678118654752f;
  return 0.5f * x * (1.0f + erff(x * kRootHalf));
}

__device__ inline float silu(float x) { return __fdividef(x, 1.0f + expf(-x)); }

__device__ inline float ToFloat(float x) { return x; }
__device__ inline float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float ToFloat(__half x) { return __half2float(x); }

template <typename T>
__device__ inline T FromFloat(float x);
template <>
__device__ inline float FromFloat<float>(float x) {
  return x;
}
template <>
__device__ inline __nv_bfloat16 FromFloat<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ inline __half FromFloat<__half>(float x) {
  return __float2half_rn(x);
}

// kWidth elements that are moved at once.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Vector {
  T element[kWidth];
};

// Inputs are read once and soon dead; the result is what the next kernel reads.
template <typename T, int kWidth>
__device__ inline Vector<T, kWidth> Load(const T* from) {
  if constexpr (sizeof(T) * kWidth == kVectorBytes) {
    const uint4 bytes = __ldcs(reinterpret_cast<const uint4*>(from));
    return *reinterpret_cast<const Vector<T, kWidth>*>(&bytes);
  } else {
    return *reinterpret_cast<const Vector<T, kWidth>*>(from);
  }
}

template <typename T, float (*kAct)(float), int kWidth>
__global__ void __launch_bounds__(kThreads)
    act_and_mul_kernel(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ out,
                       int64_t rows, int64_t columns, int64_t gate_stride, int64_t up_stride,
                       int64_t out_stride) {
  using Pack = Vector<T, kWidth>;
  const int64_t packs = columns / kWidth;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kVectors + threadIdx.x;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const T* gates = gate + row * gate_stride;
    const T* ups = up + row * up_stride;
    T* outs = out + row * out_stride;
    Pack g[kVectors], u[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int64_t pack = first + i * kThreads;
      if (pack >= packs) break;
      g[i] = Load<T, kWidth>(gates + pack * kWidth);
      u[i] = Load<T, kWidth>(ups + pack * kWidth);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int64_t pack = first + i * kThreads;
      if (pack >= packs) break;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        g[i].element[j] = FromFloat<T>(kAct(ToFloat(g[i].element[j])) * ToFloat(u[i].element[j]));
      }
      *reinterpret_cast<Pack*>(outs + pack * kWidth) = g[i];
    }
    const int64_t tail = packs * kWidth + threadIdx.x;  // what fills no vector
    if (kWidth > 1 && blockIdx.x == 0 && tail < columns) {
      outs[tail] = FromFloat<T>(kAct(ToFloat(gates[tail])) * ToFloat(ups[tail]));
    }
  }
}

namespace {

using runner::ActAndMulWork;

bool AllAligned(const ActAndMulWork& work, int64_t element_bytes) {
  const auto aligned = [&](const void* start, int64_t stride) {
    const int64_t row_bytes = work.rows > 1 ? stride * element_bytes : 0;
    return reinterpret_cast<uintptr_t>(start) % kVectorBytes == 0 && row_bytes % kVectorBytes == 0;
  };
  return aligned(work.gate, work.gate_stride) && aligned(work.up, work.up_stride) &&
         aligned(work.out, work.out_stride);
}

template <typename T, float (*kAct)(float), int kWidth>
cudaError_t Launch(const ActAndMulWork& work, cudaStream_t stream) {
  constexpr int64_t kPerBlock = int64_t{kThreads} * kVectors * kWidth;
  const int64_t across = (work.columns + kPerBlock - 1) / kPerBlock;
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
  constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
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
