// A plain CUDA program that marks its steps by NVTX and knows nothing of perfgate. Each step: three
// Scale, one Add, one fill, a copy to the device and one back, and a graph of two Scale and one
// fill.
//
//   cupti_steps ENDING      return, _exit, term (SIGTERM to itself), reset (cudaDeviceReset and one
//                           more launch), fork (children that do nothing on the GPU), threads
//                           (launches from four threads inside each step)
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kElements = 1 << 16;
constexpr int kSteps = 12;

__global__ void Scale(float* x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void Add(float* x, const float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

struct Device {
  float *x = nullptr, *y = nullptr, *host = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
};

void Launch(const Device& device, float factor) {
  Scale<<<kElements / 256, 256, 0, device.stream>>>(device.x, kElements, factor);
}

Device Prepare() {
  Device device;
  const size_t bytes = kElements * sizeof(float);
  Check(cudaMalloc(&device.x, bytes), "cudaMalloc");
  Check(cudaMalloc(&device.y, bytes), "cudaMalloc");
  Check(cudaMallocHost(&device.host, bytes), "cudaMallocHost");
  Check(cudaStreamCreate(&device.stream), "cudaStreamCreate");
  cudaGraph_t graph = nullptr;
  Check(cudaStreamBeginCapture(device.stream, cudaStreamCaptureModeGlobal), "begin capture");
  Launch(device, 2.0f);
  Launch(device, 0.5f);
  Check(cudaMemsetAsync(device.y, 0, bytes, device.stream), "captured fill");
  Check(cudaStreamEndCapture(device.stream, &graph), "end capture");
  Check(cudaGraphInstantiate(&device.graph, graph, 0), "instantiate");
  return device;
}

void Step(const Device& device, bool threads) {
  const size_t bytes = kElements * sizeof(float);
  Check(cudaMemcpyAsync(device.x, device.host, bytes, cudaMemcpyHostToDevice, device.stream),
        "copy");
  Check(cudaMemsetAsync(device.y, 0, bytes, device.stream), "fill");
  for (int i = 0; i < 3; ++i) Launch(device, 1.5f);
  Add<<<kElements / 256, 256, 0, device.stream>>>(device.x, device.y, kElements);
  Check(cudaGraphLaunch(device.graph, device.stream), "graph");
  if (threads) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&device] {
        for (int n = 0; n < 500; ++n) Launch(device, 1.0f);
      });
    }
    for (std::thread& thread : all) thread.join();
  }
  Check(cudaMemcpyAsync(device.host, device.x, bytes, cudaMemcpyDeviceToHost, device.stream),
        "copy");
  Check(cudaGetLastError(), "launch");
}

void ForkAndWait() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const char* ending = argc > 1 ? argv[1] : "return";
  const auto is = [ending](const char* name) { return std::strcmp(ending, name) == 0; };
  const Device device = Prepare();
  for (int step = 0; step < kSteps; ++step) {
    nvtxRangePushA("step");
    Step(device, is("threads"));
    nvtxRangePop();
    if (is("fork")) ForkAndWait();
    // No synchronising: work of a step runs on into the next ones.
  }
  if (is("reset")) {
    Check(cudaDeviceReset(), "reset");
    const Device again = Prepare();
    Launch(again, 1.0f);
    Check(cudaDeviceSynchronize(), "synchronize");
  }
  Check(cudaDeviceSynchronize(), "synchronize");
  if (is("_exit")) _exit(0);
  if (is("term")) {
    raise(SIGTERM);
    pause();
  }
  return 0;
}
