#include "cupti/calls.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace perfgate::cupti {
namespace {

constexpr std::array<std::string_view, 27> kCheap = {"cudaGetDevice",
                                                     "cudaSetDevice",
                                                     "cudaGetLastError",
                                                     "cudaPeekAtLastError",
                                                     "cudaGetErrorName",
                                                     "cudaGetErrorString",
                                                     "cudaDriverGetVersion",
                                                     "cudaRuntimeGetVersion",
                                                     "cudaDeviceGetAttribute",
                                                     "cudaDeviceGetStreamPriorityRange",
                                                     "cudaStreamIsCapturing",
                                                     "cudaStreamGetCaptureInfo",
                                                     "cudaStreamGetPriority",
                                                     "cudaStreamGetFlags",
                                                     "cudaStreamGetId",
                                                     "cudaStreamGetDevice",
                                                     "cudaStreamQuery",
                                                     "cudaEventCreate",
                                                     "cudaEventDestroy",
                                                     "cudaEventQuery",
                                                     "cudaPointerGetAttributes",
                                                     "cudaFuncGetAttributes",
                                                     "cudaFuncSetAttribute",
                                                     "cudaGetFuncBySymbol",
                                                     "cudaOccupancy",
                                                     "cudaThreadExchangeStreamCaptureMode",
                                                     "cudaPushCallConfiguration"};

constexpr std::array<std::string_view, 8> kOfUse = {
    "cuLaunch",    "cuGraphLaunch",        "cuMemcpy",          "cuMemset", "cuMemAlloc",
    "cuMemCreate", "cuStreamBeginCapture", "cuStreamEndCapture"};

bool StartsWithAny(std::string_view name, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<CallInfo> Describe(std::vector<std::string> names, bool is_driver) {
  std::vector<CallInfo> calls;
  calls.reserve(names.size());
  for (std::string& name : names) {
    const bool recorded = is_driver ? IsDriverCallOfUse(name) : !name.empty() && !IsCheapCall(name);
    const bool launches = IsLaunchCall(name);
    const bool begins = BeginsCapture(name);
    const bool ends = EndsCapture(name);
    calls.push_back({std::move(name), recorded, launches, begins, ends});
  }
  return calls;
}

}  // namespace

bool IsCheapCall(std::string_view name) {
  return StartsWithAny(name, kCheap) || name == "cudaPopCallConfiguration";
}

bool IsDriverCallOfUse(std::string_view name) {
  return StartsWithAny(name, kOfUse) || name.find("Synchronize") != std::string_view::npos;
}

bool IsLaunchCall(std::string_view name) {
  if (name.find("LaunchHostFunc") != std::string_view::npos) return false;
  return name.starts_with("cudaLaunch") || name.starts_with("cuLaunch") ||
         name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
}

bool BeginsCapture(std::string_view name) {
  return name.starts_with("cudaStreamBeginCapture") || name.starts_with("cuStreamBeginCapture");
}

bool EndsCapture(std::string_view name) {
  return name.starts_with("cudaStreamEndCapture") || name.starts_with("cuStreamEndCapture");
}

CallTables::CallTables(const CuptiApi& api)
    : runtime(Describe(CallNames(api, CUPTI_CB_DOMAIN_RUNTIME_API), false)),
      driver(Describe(CallNames(api, CUPTI_CB_DOMAIN_DRIVER_API), true)) {}

}  // namespace perfgate::cupti
