#include "cupti/process_facts.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "cupti/json_line.h"

namespace perfgate::cupti {
namespace {

// A function of a library that the process has loaded; nullptr if it has not.
template <typename Function>
Function* Loaded(const char* library, const char* name) {
  void* handle = *library == '\0' ? nullptr : ::dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle, name));
}

// The driver's functions by the names of the symbols that cuda.h stands for.
constexpr const char* kDriver = "libcuda.so.1";

int Attribute(CUdevice device, CUdevice_attribute attribute) {
  auto* get = Loaded<decltype(::cuDeviceGetAttribute)>(kDriver, "cuDeviceGetAttribute");
  int value = 0;
  return get != nullptr && get(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

std::string DeviceName(CUdevice device) {
  auto* get = Loaded<decltype(::cuDeviceGetName)>(kDriver, "cuDeviceGetName");
  std::array<char, 256> name{};
  const bool known = get != nullptr && get(name.data(), name.size() - 1, device) == CUDA_SUCCESS;
  return known ? name.data() : "";
}

size_t DeviceMemory(CUdevice device) {
  auto* get = Loaded<CUresult(size_t*, CUdevice)>(kDriver, "cuDeviceTotalMem_v2");
  size_t bytes = 0;
  return get != nullptr && get(&bytes, device) == CUDA_SUCCESS ? bytes : 0;
}

// "GPU-6b0d…", as nvidia-smi says it.
std::string DeviceUuid(CUdevice device) {
  constexpr std::string_view kHex = "0123456789abcdef";
  auto* get = Loaded<CUresult(CUuuid*, CUdevice)>(kDriver, "cuDeviceGetUuid_v2");
  CUuuid uuid{};
  if (get == nullptr || get(&uuid, device) != CUDA_SUCCESS) return "";
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

int DeviceCount() {
  auto* get = Loaded<decltype(::cuDeviceGetCount)>(kDriver, "cuDeviceGetCount");
  int count = 0;
  return get != nullptr && get(&count) == CUDA_SUCCESS ? count : 0;
}

void AddDevices(JsonLine& keys) {
  keys.Raw("\"deviceProperties\":[");
  for (int device = 0, count = DeviceCount(); device < count; ++device) {
    keys.Raw(device == 0 ? "\n" : ",\n").Raw("{\"id\":").Number(device);
    keys.Raw(",\"name\":").Raw(Quoted(DeviceName(device)));
    keys.Raw(",\"totalGlobalMem\":").Number(DeviceMemory(device));
    keys.Raw(",\"computeMajor\":");
    keys.Number(Attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    keys.Raw(",\"computeMinor\":");
    keys.Number(Attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    keys.Raw(",\"numSms\":");
    keys.Number(Attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    keys.Raw(",\"uuid\":").Raw(Quoted(DeviceUuid(device))).Raw("}");
  }
  keys.Raw("],\n");
}

// Paths of all libraries of the process.
std::vector<std::string> Libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        if (info->dlpi_name != nullptr) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

std::string PathOf(const std::vector<std::string>& libraries, std::string_view name) {
  for (const std::string& path : libraries) {
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    if (file.starts_with(name)) return path;
  }
  return "";
}

// "2.11.0+cu130" of a line `__version__ = '2.11.0+cu130'`; "" if the file has none.
std::string VersionIn(const std::string& file) {
  constexpr std::string_view kKey = "__version__";
  std::FILE* lines = std::fopen(file.c_str(), "re");
  if (lines == nullptr) return "";
  std::string version;
  std::array<char, 256> buffer{};
  while (version.empty() && std::fgets(buffer.data(), buffer.size(), lines) != nullptr) {
    const std::string_view line = buffer.data();
    if (!line.starts_with(kKey)) continue;
    const size_t open = line.find_first_of("'\"");
    const size_t close = line.find_last_of("'\"");
    if (open < close) version = line.substr(open + 1, close - open - 1);
  }
  std::fclose(lines);
  return version;
}

// A Python package's version, from a file beside the folder of one of its libraries.
std::string PackageVersion(const std::string& library, const char* file) {
  const size_t folder = library.rfind('/');
  const size_t package = folder == std::string::npos || folder == 0
                             ? std::string::npos
                             : library.rfind('/', folder - 1);
  if (package == std::string::npos) return "";
  return VersionIn(library.substr(0, package + 1) + file);
}

std::string CublasVersion(const std::string& library) {
  auto* get = Loaded<int(int, int*)>(library.c_str(), "cublasGetProperty");
  if (get == nullptr) return "";
  std::string text;
  for (int part = 0; part < 3; ++part) {  // major, minor, patch
    int value = 0;
    if (get(part, &value) != 0) return "";
    text += (part == 0 ? "" : ".") + std::to_string(value);
  }
  return text;
}

std::string CudnnVersion(const std::string& library) {
  auto* get = Loaded<size_t()>(library.c_str(), "cudnnGetVersion");
  return get == nullptr ? "" : std::to_string(get());
}

int RuntimeVersion() {
  auto* get =
      Loaded<int(int*)>(PathOf(Libraries(), "libcudart.so").c_str(), "cudaRuntimeGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? version : 0;
}

int DriverVersion() {
  auto* get = Loaded<decltype(::cuDriverGetVersion)>(kDriver, "cuDriverGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == CUDA_SUCCESS ? version : 0;
}

void AddVersion(JsonLine& keys, std::string_view key, int version) {
  if (version > 0) keys.Raw("\"").Raw(key).Raw("\":").Number(version).Raw(",\n");
}

}  // namespace

bool HasContext() {
  auto* get = Loaded<decltype(::cuDevicePrimaryCtxGetState)>(kDriver, "cuDevicePrimaryCtxGetState");
  if (get == nullptr) return false;
  for (int device = 0, count = DeviceCount(); device < count; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (get(device, &flags, &active) == CUDA_SUCCESS && active != 0) return true;
  }
  return false;
}

std::string HeaderKeys(const Config& config, const CuptiApi& api, int64_t base_ns) {
  JsonLine keys;
  keys.Raw("\"perfgate_profiler\":\"cupti\",\"perfgate_writer\":\"perfgate-cupti\",\n");
  keys.Raw("\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":").Number(base_ns).Raw(",\n");
  keys.Raw("\"cupti_version\":").Number(api.version).Raw(",\n");
  AddVersion(keys, "cuda_driver_version", DriverVersion());
  AddVersion(keys, "cuda_runtime_version", RuntimeVersion());
  if (config.rank >= 0) {
    keys.Raw("\"distributedInfo\":{\"rank\":").Number(config.rank);
    if (config.world_size > 0) keys.Raw(",\"world_size\":").Number(config.world_size);
    keys.Raw("},\n");
  }
  AddDevices(keys);
  return keys.text();
}

std::string EnvironmentKeys() {
  const std::vector<std::string> libraries = Libraries();
  const std::map<std::string, std::string> facts = {
      {"cublas", CublasVersion(PathOf(libraries, "libcublas.so"))},
      {"cudnn", CudnnVersion(PathOf(libraries, "libcudnn.so"))},
      {"torch", PackageVersion(PathOf(libraries, "libtorch_cpu.so"), "version.py")},
      {"triton", PackageVersion(PathOf(libraries, "libtriton.so"), "__init__.py")},
  };
  JsonLine keys;
  keys.Raw("\"perfgate_environment\":{");
  bool first = true;
  for (const auto& [name, value] : facts) {
    if (value.empty()) continue;
    keys.Raw(first ? "" : ",").Raw(Quoted(name)).Raw(":").Raw(Quoted(value));
    first = false;
  }
  keys.Raw("},\n");
  return keys.text();
}

}  // namespace perfgate::cupti
