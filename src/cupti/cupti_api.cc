#include "cupti/cupti_api.h"

#include <dlfcn.h>

#include <ctime>
#include <string_view>

namespace perfgate::cupti {
namespace {

constexpr uint32_t kOldestVersion = 18;  // of CUDA 12.0
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kToolkit[] = {"/usr/local/cuda/lib64/libcupti.so",
                                    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

void* Open(const std::string& library) {
  for (const char* name : kNames) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return handle;
  }
  if (!library.empty()) return ::dlopen(library.c_str(), RTLD_NOW);
  for (const char* name : kNames) {
    if (void* handle = ::dlopen(name, RTLD_NOW)) return handle;
  }
  for (const char* name : kToolkit) {
    if (void* handle = ::dlopen(name, RTLD_NOW)) return handle;
  }
  return nullptr;
}

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000" and of "__cudaLaunchKernel_v13000".
std::string PlainName(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  const size_t suffix = name.rfind("_v");
  constexpr size_t kShortestVersion = 4;  // "_v2" is another call, "_v3020" the same one
  if (suffix == std::string_view::npos || name.size() - suffix - 2 < kShortestVersion) {
    return std::string(name);
  }
  const std::string_view digits = name.substr(suffix + 2);
  const bool version = digits.find_first_not_of("0123456789") == std::string_view::npos;
  return std::string(version ? name.substr(0, suffix) : name);
}

}  // namespace

int64_t CuptiApi::Now() const {
  uint64_t ns = 0;
  if (cuptiGetTimestamp != nullptr && cuptiGetTimestamp(&ns) == CUPTI_SUCCESS) {
    return static_cast<int64_t>(ns);
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::string CuptiApi::Text(CUptiResult result) const {
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "unknown";
  return std::string(text) + " (" + std::to_string(static_cast<int>(result)) + ")";
}

std::string LoadCupti(const std::string& library, CuptiApi& api) {
  void* handle = Open(library);
  if (handle == nullptr) {
    const char* error = library.empty() ? nullptr : ::dlerror();
    return std::string("CUPTI (libcupti.so.13 or .12) is not there") +
           (error == nullptr ? "" : std::string(": ") + error) +
           "; install it (pip install nvidia-cuda-cupti, or the package cuda-cupti) and point "
           "PERFGATE_CUPTI_LIB at it";
  }
#define PERFGATE_CUPTI_OPTIONAL(name) \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(handle, #name));
#define PERFGATE_CUPTI_REQUIRED(name) \
  PERFGATE_CUPTI_OPTIONAL(name)       \
  if (api.name == nullptr)            \
    return "this CUPTI is too old (no " #name "); CUDA 12 or newer is needed";
  PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_REQUIRED, PERFGATE_CUPTI_OPTIONAL)
#undef PERFGATE_CUPTI_REQUIRED
#undef PERFGATE_CUPTI_OPTIONAL
  api.cuptiGetVersion(&api.version);
  if (api.version >= kOldestVersion) return "";
  return "CUPTI " + std::to_string(api.version) + " is too old; CUDA 12 or newer is needed";
}

std::vector<std::string> CallNames(const CuptiApi& api, CUpti_CallbackDomain domain) {
  constexpr uint32_t kMost = 4096;
  constexpr uint32_t kGap = 64;  // this many unknown numbers in a row: the end
  std::vector<std::string> names(1);
  uint32_t unknown = 0;
  for (uint32_t id = 1; id < kMost && unknown < kGap; ++id) {
    const char* name = nullptr;
    const bool known =
        api.cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr;
    names.push_back(known ? PlainName(name) : "");
    unknown = known ? 0 : unknown + 1;
  }
  return names;
}

}  // namespace perfgate::cupti
