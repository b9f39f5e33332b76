// Kernels that Inductor generates: triton_poi_fused_gelu_mul_0 on the GPU, cpp_fused_gelu_mul_0 and
// graph_0_cpp_fused_gelu_mul_0 on the CPU; and names known by a function name alone.
#include <algorithm>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

struct Category {
  std::string_view prefix;  // "poi"
  std::string_view label;
  Family family;
};

constexpr Category kCategories[] = {
    {"poi", "", Family::kPointwise},     {"red", " red", Family::kReduction},
    {"per", " red", Family::kReduction}, {"tem", " gemm", Family::kGemm},
    {"mm", " gemm", Family::kGemm},      {"for", " foreach", Family::kPointwise},
    {"spl", " scan", Family::kScan},     {"unk", "", Family::kOther},
    {"mix", "", Family::kReduction},
};

// Templates are GEMMs, convolutions or attention; reductions are norms or softmax, by their set.
Family RefinedFamily(Family family, const std::vector<std::string>& ops) {
  if (family != Family::kGemm && family != Family::kReduction && family != Family::kPointwise &&
      family != Family::kOther) {
    return family;
  }
  for (const std::string& word : ops) {
    const OperatorFacts* facts = FindOperator(word);
    if (facts == nullptr) continue;
    if (family == Family::kGemm || family == Family::kOther) {
      if (facts->family == Family::kConv || facts->family == Family::kAttention ||
          facts->family == Family::kGemm) {
        return facts->family;
      }
    } else if (family == Family::kReduction &&
               (facts->family == Family::kNorm || facts->family == Family::kSoftmax)) {
      return facts->family;
    }
  }
  return family;
}

std::string Label(std::string_view what, const std::vector<std::string>& ops) {
  std::string label = std::string(what) + " ";
  for (size_t i = 0; i < ops.size(); ++i) {
    if (label.size() + ops[i].size() > 56) return label + "+...";
    if (i > 0) label += "+";
    label += ops[i];
  }
  return label;
}

std::string_view WithoutNumber(std::string_view text) {
  size_t last = text.rfind('_');
  if (last != std::string_view::npos && IsDigits(text.substr(last + 1)))
    text = text.substr(0, last);
  return text;
}

// The name that Inductor gave it, as people know it from traces, unless it is too long for a table.
std::string ShortName(std::string_view name, std::string_view generator,
                      const std::vector<std::string>& ops) {
  constexpr size_t kLongest = 44;
  const std::string_view unnumbered = WithoutNumber(name);
  if (unnumbered.size() <= kLongest) return std::string(unnumbered);
  return Label(std::string(generator), ops);
}

bool DecodeTriton(std::string_view function, KernelInfo* info) {
  size_t fused = function.find("_fused_");
  if (!function.starts_with("triton_") || fused == std::string_view::npos || fused > 12)
    return false;
  std::string_view prefix = fused > 7 ? function.substr(7, fused - 7) : "";
  info->library = "inductor";
  std::string_view label;
  for (const Category& category : kCategories) {
    if (category.prefix != prefix) continue;
    info->family = category.family;
    label = category.label;
  }
  info->ops = OperatorSet(WithoutNumber(function.substr(fused + 7)));
  // It lays out what an attention kernel reads or wrote: no pointwise kernel computes one.
  if (prefix == "poi") {
    std::erase_if(info->ops, [](const std::string& word) {
      return word.starts_with("_scaled_dot_product_") || word == "scaled_dot_product_attention";
    });
  }
  info->opaque = IsDigits(function.substr(fused + 7));  // triton_poi_fused_3: of no operator
  if (info->opaque) info->ops.clear();
  info->family = RefinedFamily(info->family, info->ops);
  info->short_name = ShortName(function, "triton" + std::string(label), info->ops);
  return true;
}

// A region on the CPU says no category: its heaviest operator gives the family.
bool DecodeCpp(std::string_view function, KernelInfo* info) {
  constexpr std::string_view kMark = "cpp_fused_";
  size_t at = function.find(kMark);
  if (at == std::string_view::npos) return false;
  std::string_view before = function.substr(0, at);
  bool ours = before.empty() || (before.starts_with("graph_") && before.ends_with('_'));
  if (!ours) return false;
  info->library = "inductor";
  info->ops = OperatorSet(WithoutNumber(function.substr(at + kMark.size())));
  info->family = Family::kPointwise;
  for (const std::string& word : info->ops) {
    const OperatorFacts* facts = FindOperator(word);
    if (facts == nullptr || info->family == Family::kSoftmax || info->family == Family::kNorm)
      continue;
    if (facts->family == Family::kReduction || facts->family == Family::kNorm ||
        facts->family == Family::kSoftmax || facts->family == Family::kGemm) {
      info->family = facts->family;
    }
  }
  info->short_name = ShortName(function.substr(at), "cpp", info->ops);
  return true;
}

}  // namespace

bool DecodeInductor(const NameParts& name, KernelInfo* info) {
  const std::string_view function = WithoutSpecialisation(WithoutHash(name.function));
  return DecodeTriton(function, info) || DecodeCpp(function, info);
}

void DecodeOpaque(const NameParts& name, KernelInfo* info) {
  bool plain = name.function.size() == name.exact.size() &&
               name.exact.find_first_of(" <>(){}:") == std::string_view::npos;
  info->opaque = true;
  // Triton and PTX kernels carry their function's bare name.
  if (plain && (name.exact.starts_with("triton_") || name.exact.ends_with("_kernel"))) {
    info->library = "triton";
  }
  std::string_view label = name.function.empty() ? name.exact : name.function;
  info->short_name = label.substr(0, 60);
}

}  // namespace perfgate
