// Copies and fills: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
#include <algorithm>
#include <array>
#include <utility>

#include "kernel/families.h"

namespace perfgate {
namespace {

// "memcpy128", "memcpy32_post", "memset32": the driver's kernels for copies inside the GPU and for
// fills. CUPTI shows them for those of a CUDA graph that was made before it was subscribed to;
// otherwise these are "Memcpy DtoD" and "Memset".
bool IsDriverKernel(std::string_view text, std::string_view start) {
  constexpr std::string_view kEnd = "_post";
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  return IsDigits(text);
}

// "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBufferAligned.kd": the kernels by which ROCm's
// runtime copies and fills (BlitName in rocclr/device/rocm/rocblit.hpp of ROCm/clr). It has others,
// which do neither: "__amd_rocclr_initHeap".
bool IsRocmKernel(std::string_view text, std::string_view verb) {
  constexpr std::string_view kStart = "__amd_rocclr_";
  if (!text.starts_with(kStart)) return false;
  text.remove_prefix(kStart.size());
  if (!text.starts_with(verb)) return false;
  text.remove_prefix(verb.size());
  return text.starts_with("Buffer") || text.starts_with("Image");
}

// roctracer's names.
constexpr std::array kRoctracerCopies = {
    std::pair{std::string_view("CopyHostToDevice"), CopyDirection::kHostToDevice},
    std::pair{std::string_view("CopyDeviceToHost"), CopyDirection::kDeviceToHost},
    std::pair{std::string_view("CopyDeviceToDevice"), CopyDirection::kDeviceToDevice},
};

// Where the two ends stand: "HtoD (", "M2D)". Intel tells the host's own memory (M) from what SYCL
// allocated there (H).
CopyDirection DirectionOfEnds(std::string_view text) {
  const size_t length = std::min(text.find_first_of(" )"), text.size());
  const bool word = length == 4 && text.substr(1, 2) == "to";
  if (!word && !(length == 3 && text[1] == '2')) return CopyDirection::kUnknown;
  constexpr std::string_view kEnds = "HMDAPS";
  const char from = text[0], to = text[length - 1];
  if (kEnds.find(from) == std::string_view::npos || kEnds.find(to) == std::string_view::npos) {
    return CopyDirection::kUnknown;
  }
  const bool from_host = from == 'H' || from == 'M', to_host = to == 'H' || to == 'M';
  if (from_host && to == 'D') return CopyDirection::kHostToDevice;
  if (from == 'D' && to_host) return CopyDirection::kDeviceToHost;
  if (from == 'D' && to == 'D') return CopyDirection::kDeviceToDevice;
  return CopyDirection::kOther;
}

}  // namespace

MemoryKernel MemoryKernelOf(std::string_view name) {
  if (IsDriverKernel(name, "memcpy") || IsRocmKernel(name, "copy")) return MemoryKernel::kCopy;
  if (IsDriverKernel(name, "memset") || IsRocmKernel(name, "fill")) return MemoryKernel::kFill;
  return MemoryKernel::kNone;
}

// Between host and device copy engines do it; a kernel may, for small ones of pinned memory, but
// does not say so.
CopyDirection DirectionOfCopy(std::string_view name) {
  if (MemoryKernelOf(name) == MemoryKernel::kCopy) return CopyDirection::kDeviceToDevice;
  for (const auto& [start, direction] : kRoctracerCopies) {
    if (name.starts_with(start)) return direction;
  }
  // Kineto's, and Level Zero's: "zeCommandListAppendMemoryCopy(M2D)".
  for (const std::string_view start : {"Memcpy ", "zeCommandListAppendMemoryCopy("}) {
    if (name.starts_with(start)) return DirectionOfEnds(name.substr(start.size()));
  }
  return CopyDirection::kUnknown;
}

bool DecodeMemory(const NameParts& name, KernelInfo* info) {
  std::string_view text = name.exact;
  const bool copy = text.starts_with("Memcpy ") || DirectionOfCopy(text) != CopyDirection::kUnknown;
  const bool fill = text.starts_with("Memset") || MemoryKernelOf(text) == MemoryKernel::kFill;
  if (!copy && !fill) return false;
  info->family = Family::kMemory;
  info->ops = {copy ? "copy" : "fill"};
  info->short_name = text.substr(0, 60);
  return true;
}

}  // namespace perfgate
