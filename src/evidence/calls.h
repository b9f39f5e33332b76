// What a call of the CUDA, HIP or Unified Runtime or of a driver is, by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace perfgate {

enum class CallKind : uint8_t {
  kOther,
  kKernelLaunch,
  kGraphLaunch,
  kTransfer,      // an asynchronous copy or fill; may rightly leave no GPU record (zero bytes)
  kBlockingCopy,  // a copy that makes the host wait for it
  kSync,          // makes the host wait for the GPU
  kDeviceMalloc,
  kBeginCapture,
  kEndCapture,
};

CallKind ClassifyCall(std::string_view name);

// False: the names of this runtime's calls say nothing.
bool IsOfKnownRuntime(std::string_view call);

// Calls that run kernels, so that they owe GPU work.
inline bool LaunchesKernels(CallKind kind) {
  return kind == CallKind::kKernelLaunch || kind == CallKind::kGraphLaunch;
}

// Calls that put work on the GPU.
inline bool IsLaunch(CallKind kind) {
  return LaunchesKernels(kind) || kind == CallKind::kTransfer || kind == CallKind::kBlockingCopy;
}

// Calls that make the host wait.
inline bool Waits(CallKind kind) {
  return kind == CallKind::kSync || kind == CallKind::kBlockingCopy;
}

}  // namespace perfgate
