// The Gpu behind torch/gpu.h: all of perfgate-torch that needs CUDA's symbols to link.
#include "torch/gpu.h"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "torch/cuda/act_and_mul.h"

namespace perfgate::runner {
namespace {

using at::Tensor;

constexpr int kRunsBeforeCapture = 3;

// GPU-8d2c7a10-…, as nvidia-smi says it.
std::string UuidText(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// Of the libraries that LibTorch has loaded; "" if they do not say.
std::string CublasVersion() {
  // libraryPropertyType: 0 major, 1 minor, 2 patch.
  const auto get = reinterpret_cast<int (*)(int, int*)>(dlsym(RTLD_DEFAULT, "cublasGetProperty"));
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) {
    if (get == nullptr || get(i, &parts[static_cast<size_t>(i)]) != 0) return "";
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

std::string CudnnVersion() {
  const auto get = reinterpret_cast<size_t (*)()>(dlsym(RTLD_DEFAULT, "cudnnGetVersion"));
  return get == nullptr ? "" : std::to_string(get());
}

// Two events on the current stream, and the time between them.
class Stopwatch {
 public:
  Stopwatch() {
    C10_CUDA_CHECK(cudaEventCreate(&start_));
    C10_CUDA_CHECK(cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  int64_t TimeNs(const std::function<void()>& iterate) {
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    C10_CUDA_CHECK(cudaEventRecord(start_, stream));
    iterate();
    C10_CUDA_CHECK(cudaEventRecord(stop_, stream));
    C10_CUDA_CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return std::llround(static_cast<double>(milliseconds) * 1e6);
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

class CapturedGraph : public Graph {
 public:
  explicit CapturedGraph(const Gpu::Forward& forward) {
    const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromPool());
    for (int i = 0; i < kRunsBeforeCapture; ++i) forward();
    c10::cuda::device_synchronize();
    graph_.capture_begin();
    try {
      outputs_ = forward();
    } catch (const c10::Error&) {
      EndBrokenCapture();
      throw;
    }
    graph_.capture_end();
    c10::cuda::device_synchronize();
  }
  std::vector<Tensor> Replay() override {
    graph_.replay();
    return outputs_;
  }

 private:
  // What made the capture fail is said already; that its end fails too is no news.
  void EndBrokenCapture() try { graph_.capture_end(); } catch (const c10::Error&) {
  }

  at::cuda::CUDAGraph graph_;
  std::vector<Tensor> outputs_;
};

std::optional<Element> ElementOf(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return Element::kFp32;
    case at::kBFloat16:
      return Element::kBf16;
    case at::kHalf:
      return Element::kFp16;
    default:
      return std::nullopt;
  }
}

// The distance between the rows of a tensor that is rows of neighbouring elements, evenly spaced.
std::optional<int64_t> RowStride(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  if (last < 0 || (tensor.stride(last) != 1 && tensor.size(last) != 1)) return std::nullopt;
  int64_t stride = tensor.size(last), expected = -1;  // of the first dimension that has a stride
  for (int64_t i = last - 1; i >= 0; --i) {
    if (tensor.size(i) == 1) continue;
    if (expected < 0) {
      stride = tensor.stride(i);
    } else if (tensor.stride(i) != expected) {
      return std::nullopt;
    }
    expected = tensor.stride(i) * tensor.size(i);
  }
  return stride;
}

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int index) : index_(static_cast<c10::DeviceIndex>(index)) {
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties_, index));
  }

  std::map<std::string, std::string> Environment() const override {
    std::map<std::string, std::string> environment = {
        {"gpu", properties_.name},
        {"gpu_uuid", UuidText(properties_.uuid)},
        {"compute_capability", fmt::format("{}.{}", properties_.major, properties_.minor)},
        {"cublas", CublasVersion()},
        {"cudnn", CudnnVersion()},
    };
    std::erase_if(environment, [](const auto& item) { return item.second.empty(); });
    return environment;
  }

  void Select() override {
    c10::cuda::set_device(index_);
    stopwatch_.emplace();
  }

  std::unique_ptr<Graph> Capture(const Forward& forward) override {
    c10::cuda::device_synchronize();
    return std::make_unique<CapturedGraph>(forward);
  }

  int64_t TimeNs(const std::function<void()>& iterate) override {
    return stopwatch_->TimeNs(iterate);
  }

  std::string WhyNotActAndMul(const Tensor& gate, const Tensor& up) const override {
    if (const char* why = WhyNoActAndMul()) return why;
    if (properties_.major < 8) {
      return fmt::format("compute capability {}.{} is below 8.0", properties_.major,
                         properties_.minor);
    }
    if (!gate.is_cuda() || gate.device() != up.device()) return "its inputs are on other devices";
    if (!ElementOf(gate) || gate.scalar_type() != up.scalar_type()) {
      return fmt::format("dtype {} and {}: it takes two of fp32, bf16 or fp16",
                         c10::toString(gate.scalar_type()), c10::toString(up.scalar_type()));
    }
    if (gate.sizes() != up.sizes()) return "gate and up differ in shape";
    if (!RowStride(gate) || !RowStride(up)) return "stride: its inputs are no evenly spaced rows";
    return "";
  }

  Tensor ActAndMul(const Tensor& gate, const Tensor& up, Act act) override {
    RECORD_FUNCTION("perfgate::act_and_mul", c10::ArrayRef<const c10::IValue>({gate, up}));
    Tensor out =
        at::empty(gate.sizes(), gate.options().memory_format(at::MemoryFormat::Contiguous));
    const int64_t columns = gate.size(-1);
    const ActAndMulWork work = {gate.const_data_ptr(),
                                up.const_data_ptr(),
                                out.mutable_data_ptr(),
                                columns == 0 ? 0 : gate.numel() / columns,
                                columns,
                                *RowStride(gate),
                                *RowStride(up),
                                columns};
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    const int result = perfgate_act_and_mul(&work, static_cast<int>(*ElementOf(gate)),
                                            static_cast<int>(act), stream);
    C10_CUDA_CHECK(static_cast<cudaError_t>(result));
    return out;
  }

 private:
  c10::DeviceIndex index_;
  cudaDeviceProp properties_{};
  std::optional<Stopwatch> stopwatch_;
};

}  // namespace
}  // namespace perfgate::runner

extern "C" __attribute__((visibility("default"))) perfgate::runner::Gpu* perfgate_open_gpu_1(
    int index) {
  return new perfgate::runner::CudaGpu(index);
}
