#include "kernel/kernel.h"

#include <array>

#include "kernel/families.h"

namespace perfgate {
namespace {

constexpr std::array<std::string_view, 18> kFamilies = {
    "gemm",      "gemm_aux", "gemv",      "conv",       "attention", "pointwise",
    "reduction", "norm",     "softmax",   "copy",       "indexing",  "random",
    "sort",      "scan",     "optimizer", "collective", "memory",    "other"};

constexpr size_t kShortNameLength = 60;

// In this order: attention kernels wear CUTLASS wrappers.
constexpr std::array kDecoders = {
    DecodeMemory,   DecodeNccl,         DecodeAttention,
    DecodeNvjet,    DecodeXmma,         DecodeCutlass,
    DecodeRocm,     DecodeCublas,       DecodeComposableKernel,
    DecodeInductor, DecodeKnown,        DecodeAten,
    DecodeLibrary,  DecodeOperatorCall,
};

}  // namespace

std::string_view ToString(Family family) { return kFamilies[static_cast<size_t>(family)]; }

std::optional<Family> FindFamily(std::string_view name) {
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    if (kFamilies[i] == name) return static_cast<Family>(i);
  }
  return std::nullopt;
}

KernelInfo DecodeKernelName(std::string_view exact) {
  std::string demangled = Demangled(WithoutSuffix(exact));
  NameParts name = CutName(demangled.empty() ? exact : demangled);
  KernelInfo info;
  info.canonical = CanonicalName(name);
  bool known = false;
  for (auto* decode : kDecoders) {
    known = decode(name, &info);
    if (known) break;
  }
  if (!known) DecodeOpaque(name, &info);
  if (info.short_name.size() > kShortNameLength) {
    size_t end = kShortNameLength;
    while (end > 0 && (info.short_name[end] & 0xC0) == 0x80) --end;  // no half of a character
    info.short_name.resize(end);
  }
  return info;
}

}  // namespace perfgate
