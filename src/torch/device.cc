#include "torch/device.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <charconv>
#include <fstream>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

bool DriverIsThere() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  dlclose(driver);
  return true;
}

c10::DeviceIndex ParseIndex(const std::string& text) {
  int index = 0;
  const std::string digits = text.size() > 5 ? text.substr(5) : "0";
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (fault != std::errc() || end != digits.data() + digits.size() || index < 0 || index > 127) {
    throw UsageFault("PERFGATE_DEVICE='" + text + "': expected auto, cpu, cuda or cuda:N");
  }
  return static_cast<c10::DeviceIndex>(index);
}

c10::Device OpenCuda(const std::string& text) {
  const c10::DeviceIndex index = ParseIndex(text);
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw WorkloadFault("device " + text + ": this LibTorch cannot load its CUDA part (" +
                        dlerror() + "); set device: cpu, or use a LibTorch built with CUDA");
  }
  const int count = torch::cuda::device_count();
  if (index >= count) {
    throw WorkloadFault("device " + text + ": LibTorch sees " + std::to_string(count) +
                        " GPUs; set device: cpu, or see what nvidia-smi says");
  }
  return {c10::DeviceType::CUDA, index};
}

// The value of `key = '...'` in the wheel's version.py; "" if there is none.
std::string FromVersionFile(const std::string& key) {
  std::ifstream file(TorchFolder() / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + " ") && !line.starts_with(key + ":")) continue;
    const size_t open = line.find('\'');
    if (open == std::string::npos) return "";
    return line.substr(open + 1, line.find('\'', open + 1) - open - 1);
  }
  return "";
}

}  // namespace

c10::Device OpenDevice(const std::string& text) {
  if (text == "cpu") return c10::DeviceType::CPU;
  if (text == "auto") return DriverIsThere() ? OpenCuda("cuda") : c10::Device(c10::DeviceType::CPU);
  if (text == "cuda" || text.starts_with("cuda:")) return OpenCuda(text);
  throw UsageFault("PERFGATE_DEVICE='" + text + "': expected auto, cpu, cuda or cuda:N");
}

void Synchronize(c10::Device device) { torch::cuda::synchronize(device.index()); }

std::filesystem::path TorchFolder() {
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    throw WorkloadFault(std::string("cannot tell where libtorch_cpu.so is: ") + dlerror());
  }
  dlclose(library);
  return std::filesystem::weakly_canonical(map->l_name).parent_path().parent_path();
}

std::map<std::string, std::string> Environment(c10::Device device) {
  std::map<std::string, std::string> environment = {
      {"torch", FromVersionFile("__version__")},          {"cuda", FromVersionFile("cuda")},
      {"torch_git", FromVersionFile("git_version")},      {"cpu_isa", at::get_cpu_capability()},
      {"threads", std::to_string(at::get_num_threads())}, {"device", device.str()},
      {"writer", "perfgate-torch " PERFGATE_VERSION},
  };
  if (environment["torch"].empty()) environment["torch"] = TORCH_VERSION;  // no wheel
  std::erase_if(environment, [](const auto& item) { return item.second.empty(); });
  return environment;
}

}  // namespace perfgate::runner
