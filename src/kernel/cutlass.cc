// CUTLASS 2 (cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8) and CUTLASS 3
// (cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_void_f16_128x256x64_2x1x1_0_tnn_align8_...),
// bare or as template argument of a wrapper such as cutlass::Kernel2<...>.
#include <algorithm>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

bool IsTranspose(std::string_view token) {
  return (token.size() == 2 || token.size() == 3) &&
         token.find_first_not_of("nt") == std::string_view::npos;
}

// The word that holds the instruction: "s16816gemm", "sgemm", "gemm", "s16816fprop".
bool IsInstruction(std::string_view token) {
  return token.ends_with("gemm") || token.ends_with("fprop") || token.ends_with("dgrad") ||
         token.ends_with("wgrad");
}

void OperandClass(std::string_view token, KernelInfo* info) {
  if (token == "simt") info->tensor_core = TensorCore::kNo;
  if (token == "tensorop" || token == "wmma") info->tensor_core = TensorCore::kYes;
}

void CutlassInstruction(std::string_view token, KernelInfo* info) {
  bool conv = !token.ends_with("gemm");
  info->family = conv ? Family::kConv : Family::kGemm;
  info->ops = {!conv ? "mm" : token.ends_with("fprop") ? "convolution" : "convolution_backward"};
  if (token == "sgemm") info->in_dtype = info->out_dtype = "fp32";
  if (token == "dgemm") info->in_dtype = info->out_dtype = "fp64";
  if (token == "hgemm") info->in_dtype = info->out_dtype = "fp16";
  // m16n8k8 with fp32 operands runs in TF32.
  if (token == "s1688gemm" && info->in_dtype.empty()) info->in_dtype = "tf32";
}

void Finish(bool bias, KernelInfo* info) {
  if (bias && info->ops == std::vector<std::string>{"mm"}) info->ops = {"addmm"};
  info->short_name = "cutlass " + info->tile;
  if (info->tensor_core == TensorCore::kNo) info->short_name += " simt";
  if (bias) info->short_name += " bias";
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
}

void DecodeVersion2(const std::vector<std::string_view>& tokens, KernelInfo* info) {
  info->library = "cutlass2";
  size_t at = 1;
  if (at < tokens.size() && IsDigits(tokens[at])) info->arch = "sm" + std::string(tokens[at++]);
  bool seen_instruction = false;
  int tiles = 0;
  for (; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    std::string_view dtype = DtypeOf(token);
    if (!seen_instruction) OperandClass(token, info);
    if (!seen_instruction && !dtype.empty()) info->in_dtype = dtype;
    if (!seen_instruction && IsInstruction(token)) {
      seen_instruction = true;
      CutlassInstruction(token, info);
    } else if (seen_instruction && tiles == 0 && !dtype.empty()) {
      info->out_dtype = dtype;
      if (info->in_dtype.empty() || info->in_dtype == "tf32") info->in_dtype = dtype;
    } else if (IsTile(token)) {
      if (tiles == 0) info->tile = token;
      if (tiles == 1) info->stages = SmallNumber(token.substr(token.find('x') + 1));
      ++tiles;
    } else if (tiles > 0 && (IsTranspose(token) || token == "nhwc")) {
      info->layout = token;
    } else if (token.starts_with("splitK") || token.starts_with("splitk")) {
      info->split_k = 1;
    }
  }
  Finish(false, info);
}

void DecodeVersion3(const std::vector<std::string_view>& tokens, KernelInfo* info) {
  info->library = "cutlass3";
  bool seen_instruction = false;
  bool bias = false;
  bool relu = false;
  int tiles = 0;
  std::vector<std::string_view> dtypes;
  for (size_t at = 1; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    if (token.starts_with("sm") && info->arch.empty()) info->arch = token;
    if (!seen_instruction) OperandClass(token, info);
    if (!seen_instruction && IsInstruction(token)) {
      seen_instruction = true;
      CutlassInstruction(token, info);
    } else if (seen_instruction && tiles == 0 && (token == "void" || !DtypeOf(token).empty())) {
      dtypes.push_back(token);
    } else if (IsTile(token)) {
      if (tiles++ == 0) info->tile = token;
    } else if (tiles == 2 && IsDigits(token)) {
      info->stages = SmallNumber(token);
    } else if (tiles > 0 && info->layout.empty() && IsTranspose(token)) {
      info->layout = token;
    } else {
      bias = bias || token == "bias";
      relu = relu || token == "relu";
    }
  }
  if (!dtypes.empty()) info->in_dtype = DtypeOf(dtypes.front());
  if (dtypes.size() >= 4) info->out_dtype = DtypeOf(dtypes.back());  // A B accumulator C D
  info->epilogue = bias && relu ? "bias_relu" : bias ? "bias" : relu ? "relu" : "none";
  Finish(bias, info);
}

}  // namespace

bool DecodeCutlass(const NameParts& name, KernelInfo* info) {
  std::string_view text = name.function.starts_with("cutlass") ? name.function : name.arguments;
  if (text.starts_with("cutlass3x_")) {
    DecodeVersion3(Tokens(text.substr(0, text.find_first_of("<>, "))), info);
    return true;
  }
  if (text.starts_with("cutlass_") && text.find("gemm") == std::string_view::npos &&
      text.find("fprop") == std::string_view::npos && text.find("grad") == std::string_view::npos) {
    return false;
  }
  if (text.starts_with("cutlass_")) {
    DecodeVersion2(Tokens(text.substr(0, text.find_first_of("<>, :"))), info);
    return true;
  }
  if (!name.callee.starts_with("cutlass::")) return false;
  info->library = "cutlass3";  // a CUTLASS kernel by its C++ type: it says little in words
  bool gemm = name.arguments.find("Gemm") != std::string_view::npos ||
              name.arguments.find("gemm::") != std::string_view::npos;
  bool conv = name.arguments.find("conv::") != std::string_view::npos;
  info->family = conv ? Family::kConv : gemm ? Family::kGemm : Family::kOther;
  if (conv || gemm) info->ops = {conv ? "convolution" : "mm"};
  info->short_name = conv ? "cutlass conv" : gemm ? "cutlass gemm" : "cutlass kernel";
  info->opaque = !conv && !gemm;
  return true;
}

}  // namespace perfgate
