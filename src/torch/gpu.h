// What needs CUDA's own symbols: graphs, events, the hand-fused kernel. It lives in a library of
// its own, libperfgate_torch_cuda.so, which is opened at run time, so that the runner builds and
// starts without CUDA. All of it is for one GPU and one thread; faults of CUDA come as c10::Error.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perfgate::runner {

// Activations of gated products, act(gate) * up.
enum class Act { kGeluTanh, kGeluErf, kSilu };

// Captured work. The tensors that it gives are the same at every replay, with new contents.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual std::vector<at::Tensor> Replay() = 0;
};

class Gpu {
 public:
  virtual ~Gpu() = default;

  // gpu, gpu_uuid, compute_capability, cublas, cudnn. Makes no context on the GPU.
  virtual std::map<std::string, std::string> Environment() const = 0;

  // Makes the GPU the current one of this thread, and a context on it.
  virtual void Select() = 0;

  // Runs `forward` three times on a stream of its own, which settles what is set up lazily, and
  // captures the fourth. Its inputs must be the same tensors at every replay.
  using Forward = std::function<std::vector<at::Tensor>()>;
  virtual std::unique_ptr<Graph> Capture(const Forward& forward) = 0;

  // Runs `iterate` and gives the time in nanoseconds from its start to the end of the last work it
  // gave to the current stream, by the GPU's clock. Waits for that end.
  virtual int64_t TimeNs(const std::function<void()>& iterate) = 0;

  // Why the hand-fused kernel cannot take these two; "" if it can.
  virtual std::string WhyNotActAndMul(const at::Tensor& gate, const at::Tensor& up) const = 0;
  virtual at::Tensor ActAndMul(const at::Tensor& gate, const at::Tensor& up, Act act) = 0;
};

// Throws WorkloadFault if the library is not there.
std::unique_ptr<Gpu> OpenGpu(c10::Device device);

// What the library exports, and its type.
inline constexpr const char* kOpenGpuSymbol = "perfgate_open_gpu_1";
using OpenGpuFunction = Gpu* (*)(int index);

}  // namespace perfgate::runner
