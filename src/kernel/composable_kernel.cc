// AMD's Composable Kernel:
// ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<layouts, types, operators,
// (GemmSpecialization)0, block size, M, N, K, ...>, ...> and its successor ck_tile::kentry<...,
// ck_tile::FmhaFwdKernel<...>>.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Inside CK `unsigned short` is bf16: its bhalf_t.
std::string_view CkType(std::string_view type) {
  return type == "unsigned short" || type == "ushort" ? "bf16" : DtypeOf(type);
}

// The first run of types in the arguments: A, B, accumulator, shuffle, (D tensors,) result.
void RunOfTypes(const std::vector<std::string_view>& arguments, KernelInfo* info) {
  std::vector<std::string_view> types;
  for (std::string_view argument : arguments) {
    bool tensors = argument.starts_with("ck::Tuple<") && !Holds(argument, "tensor_layout");
    std::string_view type = CkType(argument);
    if (type.empty() && !tensors && !types.empty()) break;
    if (!type.empty() && !IsDigits(argument)) types.push_back(type);
  }
  if (types.size() < 3) return;
  info->in_dtype = types.front();
  info->out_dtype = types.back();
}

// As CUTLASS says it: row-major is `t`.
void Layout(const std::vector<std::string_view>& arguments, KernelInfo* info) {
  if (arguments.size() < 2) return;
  for (size_t i = 0; i < 2; ++i) {
    if (!Holds(arguments[i].substr(0, 64), "tensor_layout::gemm::")) return;
    info->layout += arguments[i].ends_with("RowMajor") ? 't' : 'n';
  }
}

// M, N, K of a block stand behind an enumerator: "(GemmSpecialization)2, 256 threads, M, N, K",
// with three block sizes of scales before them in block-scaled GEMMs;
// "(InMemoryDataOperationEnum)0, prefetches, 256 threads, M, N, K" in older kernels.
void Tile(std::string_view gridwise, const std::vector<std::string_view>& arguments,
          KernelInfo* info) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool newer = Holds(arguments[i], "GemmSpecialization)");
    bool older = Holds(arguments[i], "InMemoryDataOperationEnum)") && Holds(gridwise, "MultipleD");
    if (!newer && !older) continue;
    bool scaled = Holds(gridwise, "ABScale") || Holds(gridwise, "BlockScale") ||
                  Holds(gridwise, "blockscale");
    size_t at = i + (older ? 3 : scaled ? 5 : 2);
    if (at + 2 >= arguments.size()) return;
    for (size_t k = at; k < at + 3; ++k) {
      if (SmallNumber(arguments[k]) == 0) return;
    }
    info->tile = std::string(arguments[at]) + "x" + std::string(arguments[at + 1]) + "x" +
                 std::string(arguments[at + 2]);
    return;
  }
}

void DecodeMatrix(const NameParts& name, KernelInfo* info) {
  std::string_view function = name.function;
  bool conv = Holds(function, "conv") || Holds(function, "bwd_weight");
  bool backward = Holds(function, "bwd");
  info->family = conv ? Family::kConv : Family::kGemm;
  info->ops = {!conv ? "mm" : backward ? "convolution_backward" : "convolution"};
  if (Holds(function, "xdl") || Holds(function, "wmma") || Holds(name.arguments, "_xdl")) {
    info->tensor_core = TensorCore::kYes;
  } else if (Holds(function, "_dl_") || Holds(function, "dlops")) {
    info->tensor_core = TensorCore::kNo;
  }
  std::string_view gridwise = name.arguments.substr(0, name.arguments.find('<'));
  std::vector<std::string_view> arguments = SplitTopLevel(InsideTemplate(name.arguments), ',');
  Layout(arguments, info);
  RunOfTypes(arguments, info);
  Tile(gridwise, arguments, info);
}

bool DecodeCk(const NameParts& name, KernelInfo* info) {
  std::string_view function = name.function;
  bool matrix = Holds(function, "gemm") || Holds(function, "conv");
  if (matrix && !Holds(function, "softmax")) {
    DecodeMatrix(name, info);
  } else if (Holds(function, "softmax") && Holds(function, "gemm")) {
    info->family = Family::kAttention;
    info->ops = {"scaled_dot_product_attention"};
    info->tensor_core = TensorCore::kYes;
  } else if (Holds(function, "normalization") || Holds(function, "layernorm")) {
    info->family = Family::kNorm;
    info->ops = {"layer_norm"};
  } else if (Holds(function, "softmax")) {
    info->family = Family::kSoftmax;
    info->ops = {"softmax"};
  } else if (Holds(function, "reduce")) {
    info->family = Family::kReduction;
    info->ops = {"reduce"};
  } else {
    info->opaque = true;
  }
  return true;
}

struct TileKernel {
  std::string_view mark;
  Family family;
  std::string_view word;
};

constexpr TileKernel kTileKernels[] = {
    {"FmhaFwdSplitKVCombine", Family::kReduction, "attention_part"},
    {"FmhaBwdOGradDotO", Family::kReduction, "attention_part"},
    {"FmhaBwdConvertQGrad", Family::kReduction, "attention_part"},
    {"FmhaFwdAppendKV", Family::kCopy, "copy"},
    {"FmhaBwd", Family::kAttention, "scaled_dot_product_attention_backward"},
    {"FmhaFwd", Family::kAttention, "scaled_dot_product_attention"},
    {"FmhaBatchPrefill", Family::kAttention, "scaled_dot_product_attention"},
    {"UnifiedAttention", Family::kAttention, "scaled_dot_product_attention"},
    {"Rmsnorm2d", Family::kNorm, "rms_norm"},
    {"Layernorm2d", Family::kNorm, "layer_norm"},
    {"GroupedConvolution", Family::kConv, "convolution"},
    {"FusedMoeGemm", Family::kGemm, "mm"},
    {"GemmKernel", Family::kGemm, "mm"},
    {"Flatmm", Family::kGemm, "mm"},
    {"TopkSoftmax", Family::kSort, "topk"},
    {"MoeSorting", Family::kSort, "sort"},
    {"Reduce", Family::kReduction, "reduce"},
};

bool DecodeTileKernel(const NameParts& name, KernelInfo* info) {
  std::string_view kernel = name.arguments.substr(0, 512);
  for (const TileKernel& known : kTileKernels) {
    if (!Holds(kernel, known.mark)) continue;
    info->family = known.family;
    info->ops = {std::string(known.word)};
    bool matrix = known.family == Family::kAttention || known.family == Family::kGemm;
    if (matrix) info->tensor_core = TensorCore::kYes;
    if (Holds(kernel, "Bf16")) info->in_dtype = info->out_dtype = "bf16";
    if (Holds(kernel, "Fp16")) info->in_dtype = info->out_dtype = "fp16";
    return true;
  }
  info->opaque = true;
  return true;
}

}  // namespace

bool DecodeComposableKernel(const NameParts& name, KernelInfo* info) {
  bool tile = name.callee.starts_with("ck_tile::");
  if (!tile && !name.callee.starts_with("ck::")) return false;
  info->library = "ck";
  if (tile) {
    DecodeTileKernel(name, info);
  } else {
    DecodeCk(name, info);
  }
  info->short_name = "ck " + (info->ops.empty() ? std::string(name.function) : info->ops[0]);
  if (!info->tile.empty()) info->short_name += " " + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

}  // namespace perfgate
