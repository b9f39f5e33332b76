#include "evidence/calls.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace perfgate {
namespace {

// Runtimes whose calls are CUDA's under another name: AMD's, Moore Threads', Enflame's, MetaX's.
constexpr std::array<std::string_view, 7> kCudaLike = {"cuda", "cu",   "hip", "musa",
                                                       "mu",   "tops", "mc"};

struct Prefix {
  std::string_view text;  // of the name without the runtime's own prefix
  CallKind kind;
};

// The first prefix that fits decides. Names carry version suffixes (_v2, _v10000, _ptsz).
constexpr std::array kPrefixes = {
    Prefix{"GraphLaunch", CallKind::kGraphLaunch},
    Prefix{"LaunchKernel", CallKind::kKernelLaunch},
    Prefix{"LaunchCooperativeKernel", CallKind::kKernelLaunch},
    Prefix{"ModuleLaunchKernel", CallKind::kKernelLaunch},
    Prefix{"ModuleLaunchCooperativeKernel", CallKind::kKernelLaunch},
    Prefix{"ExtLaunch", CallKind::kKernelLaunch},
    Prefix{"ExtModuleLaunchKernel", CallKind::kKernelLaunch},
    Prefix{"HccModuleLaunchKernel", CallKind::kKernelLaunch},
    Prefix{"DrvLaunchKernel", CallKind::kKernelLaunch},
    Prefix{"LaunchByPtr", CallKind::kKernelLaunch},
    Prefix{"LaunchGrid", CallKind::kKernelLaunch},
    Prefix{"StreamBeginCapture", CallKind::kBeginCapture},
    Prefix{"StreamEndCapture", CallKind::kEndCapture},
    Prefix{"DeviceSynchronize", CallKind::kSync},
    Prefix{"StreamSynchronize", CallKind::kSync},
    Prefix{"EventSynchronize", CallKind::kSync},
    Prefix{"CtxSynchronize", CallKind::kSync},
    Prefix{"MallocHost", CallKind::kOther},
    Prefix{"MallocArray", CallKind::kDeviceMalloc},
    Prefix{"Malloc", CallKind::kDeviceMalloc},
    Prefix{"MemAllocHost", CallKind::kOther},
    Prefix{"MemAlloc", CallKind::kDeviceMalloc},
    Prefix{"MemCreate", CallKind::kDeviceMalloc},
    Prefix{"ExtMalloc", CallKind::kDeviceMalloc},
};

constexpr std::array<std::string_view, 3> kIntel = {"ur", "pi", "ze"};

// Calls of Intel's Unified Runtime and of its forerunner. Level Zero's (ze...) stand inside them
// and own no work of their own.
constexpr std::array kUnifiedRuntime = {
    Prefix{"EnqueueKernelLaunch", CallKind::kKernelLaunch},
    Prefix{"EnqueueCooperativeKernelLaunch", CallKind::kKernelLaunch},
    Prefix{"EnqueueUSMMemcpy", CallKind::kTransfer},
    Prefix{"EnqueueUSMFill", CallKind::kTransfer},
    Prefix{"EnqueueMem", CallKind::kTransfer},
    Prefix{"extUSMEnqueueMem", CallKind::kTransfer},
    Prefix{"EventWait", CallKind::kSync},
    Prefix{"EventsWait", CallKind::kSync},
    Prefix{"QueueFinish", CallKind::kSync},
    Prefix{"USMDeviceAlloc", CallKind::kDeviceMalloc},
    Prefix{"extUSMDeviceAlloc", CallKind::kDeviceMalloc},
};

// "cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2", "hipMemcpyWithStream", "cudaMemset2DAsync".
CallKind ClassifyTransfer(std::string_view rest) {
  const bool copy = rest.starts_with("Memcpy");
  if (!copy && !rest.starts_with("Memset")) return CallKind::kOther;
  if (rest.find("Async") != std::string_view::npos) return CallKind::kTransfer;
  // Fills do not wait. A plain copy does.
  return copy ? CallKind::kBlockingCopy : CallKind::kTransfer;
}

}  // namespace

bool IsOfKnownRuntime(std::string_view call) {
  const auto starts = [call](std::string_view vendor) { return call.starts_with(vendor); };
  return std::any_of(kCudaLike.begin(), kCudaLike.end(), starts) ||
         std::any_of(kIntel.begin(), kIntel.end(), starts);
}

CallKind ClassifyCall(std::string_view name) {
  for (const std::string_view vendor : kCudaLike) {
    if (!name.starts_with(vendor)) continue;
    const std::string_view rest = name.substr(vendor.size());
    for (const Prefix& prefix : kPrefixes) {
      if (rest.starts_with(prefix.text)) return prefix.kind;
    }
    return ClassifyTransfer(rest);
  }
  for (const std::string_view vendor : {"ur", "pi"}) {
    if (!name.starts_with(vendor)) continue;
    for (const Prefix& prefix : kUnifiedRuntime) {
      if (name.substr(vendor.size()).starts_with(prefix.text)) return prefix.kind;
    }
  }
  return CallKind::kOther;
}

}  // namespace perfgate
