// cuBLAS kernels that are neither nvjet nor xmma: ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_
// stages_64x3_nn, ampere_sgemm_128x128_nn, split-K reducers, GEMV; and bmm_ of TensorRT-LLM.
#include <array>

#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

constexpr std::array<std::string_view, 6> kGenerations = {"maxwell", "pascal", "volta",
                                                          "turing",  "ampere", "hopper"};

bool IsGeneration(std::string_view word) {
  for (std::string_view generation : kGenerations) {
    if (generation == word) return true;
  }
  return false;
}

std::string_view ArchOf(std::string_view generation) {
  if (generation == "volta") return "sm70";
  if (generation == "turing") return "sm75";
  if (generation == "ampere") return "sm80";
  if (generation == "hopper") return "sm90";
  return "";
}

// "s16816gemm": 'd' or 's' or 'h', an instruction shape for tensor cores, "gemm".
void LegacyInstruction(std::string_view token, KernelInfo* info) {
  std::string_view inner = token.substr(0, token.size() - 4);  // without "gemm"
  bool shape = inner.size() > 1 && IsDigits(inner.substr(inner.size() - 1));
  info->tensor_core = shape ? TensorCore::kYes : TensorCore::kNo;
  if (shape) return;
  std::string_view dtype = inner == "s"   ? "fp32"
                           : inner == "d" ? "fp64"
                           : inner == "h" ? "fp16"
                                          : "";
  if (inner == "c" || inner == "z") dtype = inner == "c" ? "complex64" : "complex128";
  info->in_dtype = info->out_dtype = dtype;
}

bool DecodeLegacy(const NameParts& name, KernelInfo* info) {
  size_t first = name.function.find('_');
  if (first == std::string_view::npos || !IsGeneration(name.function.substr(0, first)))
    return false;
  if (name.function.find("gemm") == std::string_view::npos) return false;
  std::vector<std::string_view> tokens = Tokens(name.function);
  info->family = Family::kGemm;
  info->library = "cublas";
  info->arch = ArchOf(tokens[0]);
  info->ops = {"mm"};
  bool seen_instruction = false;
  bool stages_next = false;
  for (size_t at = 1; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    std::string_view dtype = DtypeOf(token == "h" ? "fp16" : token == "i" ? "int8" : token);
    if (!seen_instruction && !dtype.empty()) {
      info->in_dtype = dtype;
    } else if (!seen_instruction && token.ends_with("gemm")) {
      seen_instruction = true;
      LegacyInstruction(token, info);
    } else if (seen_instruction && info->tile.empty() && !dtype.empty()) {
      info->out_dtype = dtype;
      if (info->in_dtype.empty()) {  // ampere_s16816gemm_bf16_...: the result is fp32
        info->in_dtype = dtype;
        info->out_dtype = "fp32";
      }
    } else if (IsTile(token)) {
      if (info->tile.empty()) info->tile = token;
      if (stages_next) info->stages = SmallNumber(token.substr(token.find('x') + 1));
    } else if (token.size() == 2 && token.find_first_not_of("nt") == std::string_view::npos) {
      info->layout = token;
    } else if (token.starts_with("splitK") || token.starts_with("splitk")) {
      info->split_k = 1;
    }
    stages_next = token == "stages";
  }
  info->short_name = "cublas " + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

// Template arguments that name a type, in order.
std::vector<std::string_view> Dtypes(std::string_view arguments) {
  std::vector<std::string_view> dtypes;
  for (std::string_view argument : SplitTopLevel(arguments, ',')) {
    std::string_view dtype = DtypeOf(argument);
    if (!dtype.empty() && argument != "int" && argument != "bool" && argument != "long") {
      dtypes.push_back(dtype);
    }
  }
  return dtypes;
}

bool DecodeSplitK(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("splitKreduce") && !name.function.starts_with("splitK_reduce")) {
    return false;
  }
  info->family = Family::kGemmAux;
  info->library = "cublas";
  // <.., compute type, bias type, ..., float, out type, bias type, ...>: only the result is sure.
  std::vector<std::string_view> dtypes = Dtypes(name.arguments);
  if (dtypes.size() >= 2) {
    info->in_dtype = dtypes[0];
    info->out_dtype = dtypes[1];
  }
  info->short_name = "split-K reduce";
  if (!info->out_dtype.empty()) info->short_name += " " + info->out_dtype;
  return true;
}

bool DecodeGemv(const NameParts& name, KernelInfo* info) {
  std::string_view function = name.function;
  bool gemv = function.starts_with("gemv") || name.callee.find("gemvx::") != std::string_view::npos;
  bool skinny = function.starts_with("gemmSN") || function.starts_with("gemmk1") ||
                function.starts_with("dot_kernel") || function.starts_with("reduce_1Block_kernel");
  if (!gemv && !skinny) return false;
  bool dot = function.starts_with("dot_") || function.starts_with("reduce_1Block");
  info->family = dot ? Family::kReduction : gemv ? Family::kGemv : Family::kGemm;
  info->library = "cublas";
  info->tensor_core = TensorCore::kNo;
  info->ops = {dot ? "dot" : gemv ? "mv" : "mm"};
  std::vector<std::string_view> dtypes = Dtypes(name.arguments);
  if (!dtypes.empty()) info->in_dtype = dtypes[0];
  if (dtypes.size() >= 3) info->out_dtype = dtypes[2];
  info->short_name = dot ? "dot" : gemv ? "gemv" : "gemm skinny";
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

// bmm_E4m3_E4m3E4m3_Fp32_t128x64x128u2_s6_...: out, A and B, accumulator, tile, stages.
bool DecodeTensorRt(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("bmm_") && !name.function.starts_with("gemm_")) return false;
  std::vector<std::string_view> tokens = Tokens(name.function);
  if (tokens.size() < 5 || tokens[4].size() < 2 || tokens[4][0] != 't') return false;
  size_t end = tokens[4].find('u');
  if (!IsTile(tokens[4].substr(1, end == std::string_view::npos ? end : end - 1))) return false;
  auto dtype = [](std::string_view token) -> std::string_view {
    if (token.starts_with("E4m3")) return "fp8_e4m3";
    if (token.starts_with("E2m1")) return "fp4";
    if (token.starts_with("Bfloat16")) return "bf16";
    if (token.starts_with("Fp16")) return "fp16";
    return token.starts_with("Fp32") ? "fp32" : "";
  };
  info->family = Family::kGemm;
  info->library = "tensorrt_llm";
  info->tensor_core = TensorCore::kYes;
  info->ops = {name.function.starts_with("bmm_") ? "bmm" : "mm"};
  info->out_dtype = dtype(tokens[1]);
  info->in_dtype = dtype(tokens[2]);
  info->tile = tokens[4].substr(1, end == std::string_view::npos ? end : end - 1);
  if (tokens.size() > 5 && tokens[5].starts_with("s")) {
    info->stages = SmallNumber(tokens[5].substr(1));
  }
  for (std::string_view token : tokens) {
    if (token.size() == 2 && token.find_first_not_of("NT") == std::string_view::npos) {
      info->layout = token;
    }
  }
  info->short_name = "trtllm bmm " + info->tile + " " + info->in_dtype;
  return true;
}

}  // namespace

bool DecodeCublas(const NameParts& name, KernelInfo* info) {
  return DecodeLegacy(name, info) || DecodeSplitK(name, info) || DecodeGemv(name, info) ||
         DecodeTensorRt(name, info);
}

}  // namespace perfgate
