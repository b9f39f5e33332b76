// smNN_xmma_<op>_<A B types>_<...>_<layout>_tilesize128x128x64[_stage4][_warpsize2x2x1]...: kernels
// of cuBLAS and cuDNN. NVIDIA does not document the names.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

// "f16f16" -> "f16", "bf16bf16" -> "bf16": the type of the first operand.
std::string_view FirstHalf(std::string_view pair) {
  std::string_view half = pair.substr(0, pair.size() / 2);
  return pair.size() % 2 == 0 && half == pair.substr(pair.size() / 2) ? half : "";
}

void Types(const std::vector<std::string_view>& tokens, size_t at, KernelInfo* info) {
  if (at + 2 >= tokens.size()) return;
  info->in_dtype = DtypeOf(FirstHalf(tokens[at]));
  info->out_dtype = DtypeOf(tokens[at + 2]);
  if (tokens[at + 1].starts_with("tf32")) {
    info->in_dtype = "tf32";
  } else if (tokens[at + 1].starts_with("bf16")) {
    info->out_dtype = "bf16";
  } else if (tokens[at + 1].starts_with("f16")) {
    info->out_dtype = "fp16";
  }
}

}  // namespace

bool DecodeXmma(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("sm") || name.function.find("_xmma_") > 6) return false;
  std::vector<std::string_view> tokens = Tokens(name.function);
  if (tokens.size() < 4) return false;
  info->library = "xmma";
  info->arch = tokens[0];
  bool conv = tokens[2] != "gemm";
  info->family = conv ? Family::kConv : Family::kGemm;
  info->ops = {conv ? (tokens[2] == "fprop" ? "convolution" : "convolution_backward") : "mm"};
  size_t at = 3;
  while (at < tokens.size() && (tokens[at] == "implicit" || tokens[at] == "gemm")) ++at;
  Types(tokens, at, info);
  bool ffma = name.function.find("ffma") != std::string_view::npos ||
              name.function.find("_ff_") != std::string_view::npos;
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
  } else if (!info->in_dtype.empty() && info->in_dtype != "fp32" && info->in_dtype != "fp64") {
    info->tensor_core = TensorCore::kYes;
  } else if (info->in_dtype == "fp32") {
    info->tensor_core =
        name.function.find("tensor") != std::string_view::npos ? TensorCore::kYes : TensorCore::kNo;
  }
  info->short_name = std::string(conv ? "conv " : "xmma ") + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

}  // namespace perfgate
