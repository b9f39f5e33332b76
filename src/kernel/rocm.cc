// Kernels of ROCm's libraries: Tensile (rocBLAS, hipBLASLt), MIOpen, AOTriton and AITER. Those of
// Composable Kernel are in composable_kernel.cc.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

bool IsNumberAfter(std::string_view token, std::string_view prefix) {
  return token.starts_with(prefix) && IsDigits(token.substr(prefix.size()));
}

// One type letter of Tensile, "" if it is none; how many characters it took in `*length`.
std::string_view TensileType(std::string_view text, size_t* length) {
  *length = 2;
  if (text.starts_with("F8")) return "fp8_e4m3";
  if (text.starts_with("B8")) return "fp8_e5m2";
  if (text.starts_with("I8")) return "int8";
  *length = 1;
  switch (text.empty() ? ' ' : text[0]) {
    case 'H':
      return "fp16";
    case 'B':
      return "bf16";
    case 'S':
      return "fp32";
    case 'D':
      return "fp64";
    case 'C':
      return "complex64";
    case 'Z':
      return "complex128";
    case 'I':
      return "int32";
    case 'X':
      return "tf32";
    default:
      return "";
  }
}

std::vector<std::string_view> TensileTypes(std::string_view token) {
  std::vector<std::string_view> types;
  while (!token.empty() && types.size() < 6) {
    size_t length = 0;
    std::string_view type = TensileType(token, &length);
    if (type.empty()) return {};
    types.push_back(type);
    token.remove_prefix(length);
    if (token.starts_with('N') && type.starts_with("fp8")) token.remove_prefix(1);  // fnuz
  }
  return types;
}

// "HHS": in, out, compute; "F8B8BS": A, B, out, compute; "SB": in, and B says that beta is used;
// "B_BS": in, then out and compute.
void TensileTypes(std::string_view token, std::string_view next, KernelInfo* info) {
  std::vector<std::string_view> types = TensileTypes(token);
  if (types.empty()) return;
  info->in_dtype = types[0];
  if (types.size() == 1) {
    std::vector<std::string_view> more = next == "BH" ? TensileTypes("") : TensileTypes(next);
    info->out_dtype = more.size() >= 2 ? more[0] : types[0];
  } else if (types.size() == 2) {
    info->out_dtype = token.ends_with('B') ? types[0] : types[1];
  } else {
    info->out_dtype = types[types.size() - 2];
  }
}

void TensileOption(std::string_view token, KernelInfo* info) {
  if (token.starts_with("MT") && IsTile(token.substr(2))) {
    info->tile = token.substr(2);
  } else if (token.starts_with("MI") && IsTile(token.substr(2))) {
    info->tensor_core = TensorCore::kYes;  // a matrix instruction
  } else if (IsNumberAfter(token, "TT") && info->tensor_core == TensorCore::kUnknown) {
    info->tensor_core = TensorCore::kNo;  // tiles of threads: vector instructions
  } else if (token.starts_with("ISA") && token.size() > 3 && token != "ISA000") {
    info->arch = "gfx" + std::string(token.substr(3));
  } else if (token.starts_with("GSU")) {
    size_t end = std::min(token.find_first_not_of("0123456789", 3), token.size());
    int factor = SmallNumber(token.substr(3, end - 3));
    if (factor > 1) info->split_k = factor;
  } else if (IsNumberAfter(token, "SK") && token != "SK0") {
    info->split_k = 1;  // stream-K
  }
}

// Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_..._GSU1_..._ISA90a_...; `i` and `j` are M and N,
// `l` is K, `k` the batch, in the order of memory. "Bias" is what the kernel can do, not what it
// did.
bool DecodeTensile(const NameParts& name, KernelInfo* info) {
  size_t start = name.function.find("Cijk_");
  if (start == std::string_view::npos || (start != 0 && !name.function.starts_with("Custom_"))) {
    return false;
  }
  std::vector<std::string_view> tokens = Tokens(name.function.substr(start));
  info->library = "tensile";
  bool gemm = tokens.size() > 3 && tokens[1].size() == 4 && tokens[1][0] == 'A' &&
              tokens[2].size() == 4 && tokens[2][0] == 'B';
  if (!gemm || name.function.find("PostGSU") != std::string_view::npos) {
    info->family = Family::kGemmAux;  // scales C by beta, or sums the parts of a split K
    info->short_name = "tensile aux";
    return true;
  }
  info->family = Family::kGemm;
  info->ops = {"mm"};
  info->layout = tokens[1] == "Alik" ? "t" : "n";
  info->layout += tokens[2] == "Bjlk" ? 't' : 'n';
  TensileTypes(tokens[3], tokens.size() > 4 ? tokens[4] : "", info);
  for (std::string_view token : Tokens(name.function.substr(start), 256)) {
    TensileOption(token, info);
  }
  info->short_name = "tensile " + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

struct MiopenKernel {
  std::string_view text;
  Family family;
  std::string_view word;
};

// By a part of the function's name; the first that fits counts.
constexpr MiopenKernel kMiopen[] = {
    {"igemm_fwd_gtc", Family::kConv, "convolution"},
    {"igemm_bwd_gtc", Family::kConv, "convolution_backward"},
    {"igemm_wrw_gtc", Family::kConv, "convolution_backward"},
    {"igemm_v4r1", Family::kConv, "convolution"},
    {"gridwise_generic_reduce", Family::kReduction, "reduce"},
    {"gridwise_convolution_backward", Family::kConv, "convolution_backward"},
    {"gridwise_convolution", Family::kConv, "convolution"},
    {"miopenSp3AsmConv", Family::kConv, "convolution"},
    {"miopenGcnAsmConv", Family::kConv, "convolution"},
    {"miopenGcnAsmWinograd", Family::kConv, "convolution"},
    {"miopenGcnAsmBNBwd", Family::kNorm, "batch_norm_backward"},
    {"MIOpenBatchNormFwd", Family::kNorm, "batch_norm"},
    {"MIOpenBatchNormActivFwd", Family::kNorm, "batch_norm"},
    {"MIOpenBatchNormBwd", Family::kNorm, "batch_norm_backward"},
    {"MIOpenBatchNorm", Family::kNorm, "batch_norm"},
    {"MIOpenConv", Family::kConv, "convolution"},
    {"MIOpenCvBwdWrW", Family::kConv, "convolution_backward"},
    {"MIOpenCvD3x3_WSR0", Family::kConv, "convolution"},
    {"MIOpenLayernormFwd", Family::kNorm, "layer_norm"},
    {"mloPooling", Family::kReduction, "pool"},
    {"MIOpenNeuron", Family::kPointwise, "relu"},
    {"gcnAsmConv", Family::kConv, "convolution"},
    {"naive_conv_", Family::kConv, "convolution"},
    {"Op1dTensor", Family::kPointwise, "add"},
    {"Op2dTensor", Family::kPointwise, "add"},
    {"Op3dTensor", Family::kPointwise, "add"},
    {"Op4dTensor", Family::kPointwise, "add"},
    {"OpTensor", Family::kPointwise, "add"},
    {"SubTensorOpWithScalar", Family::kPointwise, "fill"},
    {"SubTensorOpWithCastTensor", Family::kCopy, "copy"},
    {"SubTensorOpWithSubTensor", Family::kCopy, "copy"},
    {"batched_transpose_", Family::kCopy, "copy"},
    {"transpose_NCHW2CNHW", Family::kCopy, "copy"},
    {"transpose_CNHW2NCHW", Family::kCopy, "copy"},
    {"Im2d2Col", Family::kIndexing, "im2col"},
    {"Im2Col", Family::kIndexing, "im2col"},
    {"Col2Im2d", Family::kIndexing, "col2im"},
};

// igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x128x32_wt32x32x8_...: gtcx are matrix instructions.
bool DecodeMiopen(const NameParts& name, KernelInfo* info) {
  std::string_view function = name.function;
  const MiopenKernel* found = nullptr;
  for (const MiopenKernel& mark : kMiopen) {
    if (!function.starts_with(mark.text)) continue;
    found = &mark;
    break;
  }
  if (found == nullptr) return false;
  info->library = "miopen";
  info->family = found->family;
  info->ops = {std::string(found->word)};
  bool backward = function.find("_bwd_") != std::string_view::npos ||
                  function.find("_wrw_") != std::string_view::npos;
  if (info->family == Family::kConv && backward) info->ops = {"convolution_backward"};
  if (function.starts_with("igemm_")) {
    bool matrix = function.find("_gtcx") != std::string_view::npos;
    info->tensor_core = matrix ? TensorCore::kYes : TensorCore::kUnknown;
  }
  if (function.starts_with("naive_conv_")) info->tensor_core = TensorCore::kNo;
  for (std::string_view token : Tokens(function)) {
    if (token.starts_with("bt") && IsTile(token.substr(2))) info->tile = token.substr(2);
    if (token == "nhwc" || token == "nchw" || token == "ndhwc") info->layout = token;
    if (token.starts_with("gfx")) info->arch = token;
    std::string_view dtype = DtypeOf(token);
    if (!dtype.empty() && info->in_dtype.empty()) info->in_dtype = info->out_dtype = dtype;
  }
  info->short_name = "miopen " + info->ops[0];
  if (!info->tile.empty()) info->short_name += " " + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

// rocblas_gemvn_kernel<...>, rocblas_gemvt_warp_reduce_kernel<...>, rocblas_dot_kernel...
bool DecodeRocblas(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("rocblas_")) return false;
  std::string_view rest = name.function.substr(8);
  info->library = "rocblas";
  if (rest.starts_with("gemv")) {
    info->family = Family::kGemv;
    info->ops = {"mv"};
  } else if (rest.starts_with("gemm") || rest.starts_with("internal_gemm")) {
    info->family = Family::kGemm;
    info->ops = {"mm"};
  } else if (rest.starts_with("dot")) {
    info->family = Family::kReduction;
    info->ops = {"dot"};
  } else {
    info->opaque = true;
  }
  for (std::string_view argument : SplitTopLevel(name.arguments, ',')) {
    if (IsDigits(argument) || argument == "int" || argument == "bool" || argument == "long") {
      continue;
    }
    if (info->in_dtype.empty()) info->in_dtype = DtypeOf(argument);
  }
  info->short_name = "rocblas " + std::string(rest.substr(0, 40));
  return true;
}

}  // namespace

bool DecodeRocm(const NameParts& name, KernelInfo* info) {
  return DecodeTensile(name, info) || DecodeMiopen(name, info) || DecodeRocblas(name, info);
}

}  // namespace perfgate
