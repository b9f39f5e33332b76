#include "torch/device.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

c10::DeviceIndex ParseIndex(const std::string& text) {
  int index = 0;
  const std::string digits = text.size() > 5 ? text.substr(5) : "0";
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (fault != std::errc() || end != digits.data() + digits.size() || index < 0 || index > 127) {
    throw UsageFault("PERFGATE_DEVICE='" + text + "': expected auto, cpu, cuda or cuda:N");
  }
  return static_cast<c10::DeviceIndex>(index);
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

// The driver's own library, while it lives; null where no driver is installed.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {}
  ~Driver() {
    if (library_ != nullptr) dlclose(library_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool installed() const { return library_ != nullptr; }

  // The highest CUDA that it serves: 12080 for 12.8; 0 if it does not say.
  int CudaVersion() const {
    int version = 0;
    const auto get = Find<int (*)(int*)>("cuDriverGetVersion");
    return get != nullptr && get(&version) == 0 ? version : 0;
  }

  // "" if it is up.
  std::string Fault() const {
    const auto init = Find<int (*)(unsigned)>("cuInit");
    const int code = init == nullptr ? -1 : init(0);
    if (code == 0) return "";
    const char* text = nullptr;
    const auto get = Find<int (*)(int, const char**)>("cuGetErrorString");
    if (get != nullptr) get(code, &text);
    return text != nullptr ? text : "cuInit fails with " + std::to_string(code);
  }

 private:
  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
};

// Why LibTorch sees no GPU at all.
std::string WhyNoGpu(const Driver& driver) {
  if (!driver.installed()) {
    return "no NVIDIA driver is installed (libcuda.so.1); set device: cpu, or install it";
  }
  const std::string cuda = FromVersionFile("cuda");
  const int version = driver.CudaVersion();
  if (version > 0 && !cuda.empty() && version / 1000 < std::atoi(cuda.c_str())) {
    return fmt::format(
        "the driver is too old: it serves CUDA {}.{}, this LibTorch is built for {}; update the "
        "driver, or use a LibTorch built for an older CUDA",
        version / 1000, version % 1000 / 10, cuda);
  }
  const std::string fault = driver.Fault();
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return fmt::format("the driver gives no GPU ({}{}); set device: cpu, or see what nvidia-smi says",
                     fault.empty() ? "LibTorch sees none" : fault,
                     visible == nullptr ? "" : fmt::format("; CUDA_VISIBLE_DEVICES={}", visible));
}

c10::Device OpenCuda(const std::string& text) {
  const c10::DeviceIndex index = ParseIndex(text);
  const Driver driver;
  if (!driver.installed()) throw WorkloadFault("device " + text + ": " + WhyNoGpu(driver));
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw WorkloadFault("device " + text + ": this LibTorch cannot load its CUDA part (" +
                        dlerror() + "); set device: cpu, or use a LibTorch built with CUDA");
  }
  const int count = torch::cuda::device_count();
  if (count == 0) throw WorkloadFault("device " + text + ": " + WhyNoGpu(driver));
  if (index >= count) {
    throw WorkloadFault(fmt::format("device {}: there {}; the last is cuda:{}", text,
                                    count == 1 ? "is 1 GPU" : fmt::format("are {} GPUs", count),
                                    count - 1));
  }
  return {c10::DeviceType::CUDA, index};
}

// Of the triton that is installed beside LibTorch, used or not; "" if there is none.
std::string TritonVersion() {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(TorchFolder().parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("triton-") || !name.ends_with(".dist-info")) continue;
    return name.substr(7, name.size() - 7 - std::string_view(".dist-info").size());
  }
  return "";
}

}  // namespace

c10::Device OpenDevice(const std::string& text) {
  if (text == "cpu") return c10::DeviceType::CPU;
  if (text == "auto") {
    return Driver().installed() ? OpenCuda("cuda") : c10::Device(c10::DeviceType::CPU);
  }
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
  if (device.is_cuda()) environment["triton"] = TritonVersion();
  if (environment["torch"].empty()) environment["torch"] = TORCH_VERSION;  // no wheel
  std::erase_if(environment, [](const auto& item) { return item.second.empty(); });
  return environment;
}

}  // namespace perfgate::runner
