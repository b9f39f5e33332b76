// smNN_xmma_<op>_<A B types>_<...>_<layout>_tilesize128x128x64[_stage4][_warpsize2x2x1]...: kernels
// of cuBLAS and cuDNN. NVIDIA does not document the names.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

// "f16f16" -> "f16", "bf16f32" -> "bf16": the type that a slot begins with, "" if it is none.
std::string_view FirstOfPair(std::string_view pair) {
  for (std::string_view first :
       {"bf16", "f16", "f32", "f64", "tf32", "e4m3", "e5m2", "i8", "u8", "i32", "s8"}) {
    if (pair.size() > first.size() && pair.starts_with(first)) return first;
  }
  return "";
}

// Three slots: operands and result, compute and accumulator, epilogue: "bf16bf16_bf16f32_f32",
// "i8i32_i8i32_i32", "e5m2e4m3f16_e5m2e4m3f32_f32", "f32f32_tf32f32_f32" for TF32.
void XmmaTypes(const std::vector<std::string_view>& tokens, size_t at, KernelInfo* info) {
  if (at + 1 >= tokens.size()) return;
  std::string_view slot = tokens[at];
  std::string_view operand = FirstOfPair(slot);
  for (std::string_view next = operand; !next.empty(); next = FirstOfPair(slot)) {
    slot.remove_prefix(next.size());
  }
  info->in_dtype = tokens[at + 1].starts_with("tf32") ? "tf32" : DtypeOf(operand);
  info->out_dtype = DtypeOf(slot);
}

// xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::fprop::Kernel_traits<Ampere_hmma_fp32_traits<
// ...>>>: a kernel by its C++ type.
bool DecodeXmmaType(const NameParts& name, KernelInfo* info) {
  if (!name.callee.starts_with("xmma")) return false;
  std::string_view callee = name.callee.substr(0, 1024);
  auto holds = [&](std::string_view part) { return callee.find(part) != std::string_view::npos; };
  info->library = "xmma";
  info->short_name = "xmma " + std::string(name.function.substr(0, 50));
  bool aux = holds("split_k_kernel") || holds("segment_k_reduction") || holds("reorder_");
  bool backward = holds("dgrad") || holds("wgrad");
  if (aux) {
    info->family = Family::kGemmAux;
  } else if (holds("batchnorm::") && !holds("kernel_matmul")) {
    info->family = Family::kNorm;
    info->ops = {backward ? "batch_norm_backward" : "batch_norm"};
  } else if (backward || holds("fprop") || holds("implicit_gemm")) {
    info->family = Family::kConv;
    info->ops = {backward ? "convolution_backward" : "convolution"};
  } else if (holds("gemm::")) {
    info->family = Family::kGemm;
    info->ops = {"mm"};
  } else {
    info->opaque = true;
  }
  if (info->family != Family::kGemm && info->family != Family::kConv) return true;
  if (holds("_ffma_")) info->tensor_core = TensorCore::kNo;
  if (holds("hmma_") || holds("imma_") || holds("gmma_")) info->tensor_core = TensorCore::kYes;
  return true;
}

// Adds up the parts that the kernel of the same name without "split_k" left: on an H200, a product
// of fp32 is 5 or 16 parts of 13 us and one of these of 3 us.
void DecodeXmmaReducer(KernelInfo* info) {
  info->family = Family::kGemmAux;
  info->short_name = "split-K reduce";
  if (!info->out_dtype.empty()) info->short_name += " " + info->out_dtype;
}

}  // namespace

bool DecodeXmma(const NameParts& name, KernelInfo* info) {
  if (DecodeXmmaType(name, info)) return true;
  if (!name.function.starts_with("sm") || name.function.find("_xmma_") > 6) return false;
  std::vector<std::string_view> tokens = Tokens(name.function);
  if (tokens.size() < 4) return false;
  info->library = "xmma";
  info->arch = tokens[0];
  auto holds = [&](std::string_view part) {
    return name.function.find(part) != std::string_view::npos;
  };
  bool backward = holds("dgrad") || holds("wgrad");
  bool conv = backward || holds("fprop") || holds("implicit_gemm") || holds("convolution");
  size_t at = 3;
  while (at < tokens.size() && at < 12 && FirstOfPair(tokens[at]).empty()) ++at;
  XmmaTypes(tokens, at, info);
  if (holds("_execute_split_k_kernel")) {
    DecodeXmmaReducer(info);
    return true;
  }
  info->family = conv ? Family::kConv : Family::kGemm;
  info->ops = {!conv ? "mm" : backward ? "convolution_backward" : "convolution"};
  bool ffma = holds("ffma") || holds("_ff_");
  for (size_t i = at; i < tokens.size(); ++i) {
    std::string_view token = tokens[i];
    if (token.starts_with("tilesize")) info->tile = token.substr(8);
    if (token.starts_with("stage")) info->stages = SmallNumber(token.substr(5));
    if (token.starts_with("splitK") || token.starts_with("splitk")) info->split_k = 1;
    if (token == "bias" || token == "relu") info->epilogue = token;
    if (info->layout.empty() && i + 1 < tokens.size() &&
        (tokens[i + 1] == "n" || token == "nhwckrsc") && i >= at + 3) {
      info->layout = token;
    }
  }
  if (ffma) {
    info->tensor_core = TensorCore::kNo;
  } else if (holds("_tensor")) {
    info->tensor_core = TensorCore::kYes;
  } else if (!info->in_dtype.empty() && info->in_dtype != "fp64") {
    info->tensor_core = info->in_dtype == "fp32" ? TensorCore::kNo : TensorCore::kYes;
  }
  info->short_name = std::string(conv ? "conv " : "xmma ") + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

}  // namespace perfgate
