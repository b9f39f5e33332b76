// Copies and fills of the driver: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
#include "kernel/families.h"

namespace perfgate {
namespace {

// "memcpy128", "memcpy32_post": the driver's kernels for copies inside the GPU. CUPTI shows them
// for the copies of a CUDA graph that was made before it was loaded; otherwise these are "Memcpy
// DtoD".
bool IsCopyKernel(std::string_view text) {
  constexpr std::string_view kStart = "memcpy", kEnd = "_post";
  if (!text.starts_with(kStart)) return false;
  text.remove_prefix(kStart.size());
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  return IsDigits(text);
}

}  // namespace

bool DecodeMemory(const NameParts& name, KernelInfo* info) {
  std::string_view text = name.exact;
  bool copy = text.starts_with("Memcpy ") || IsCopyKernel(text);
  if (!copy && !text.starts_with("Memset")) return false;
  info->family = Family::kMemory;
  info->ops = {copy ? "copy" : "fill"};
  info->short_name = text.substr(0, 60);
  return true;
}

}  // namespace perfgate
