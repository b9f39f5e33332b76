#include "torch/gpu.h"

#include <dlfcn.h>

#include <filesystem>

#include "torch/fault.h"

namespace perfgate::runner {

std::unique_ptr<Gpu> OpenGpu(c10::Device device) {
  const std::filesystem::path library =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libperfgate_torch_cuda.so";
  // Never closed: CUDA calls back into it until the process ends.
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    throw WorkloadFault("device " + device.str() + ": cannot load perfgate-torch's CUDA part (" +
                        dlerror() + "); keep it beside perfgate-torch, of the same build");
  }
  const auto open = reinterpret_cast<OpenGpuFunction>(dlsym(opened, kOpenGpuSymbol));
  if (open == nullptr) {
    throw WorkloadFault(library.string() + " is of another build than perfgate-torch; build both");
  }
  return std::unique_ptr<Gpu>(open(device.index()));
}

}  // namespace perfgate::runner
