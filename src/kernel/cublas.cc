// cuBLAS kernels that are neither nvjet nor xmma: ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_
// stages_64x3_nn, ampere_sgemm_128x128_nn, split-K reducers, GEMV; cuDNN's convolutions of the same
// grammar (volta_scudnn_128x64_relu_interior_nn_v1); and bmm_ of TensorRT-LLM.
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

// Where "gemm", "cudnn" or "gcgemm" begins in a word that ends with it, else npos.
size_t LegacyEnd(std::string_view token) {
  for (std::string_view ending : {"gcgemm", "gemm", "cudnn"}) {
    if (token.ends_with(ending)) return token.size() - ending.size();
  }
  return std::string_view::npos;
}

// "s16816gemm", "i8816cudnn": a shape is that of a tensor core's instruction.
void LegacyInstruction(std::string_view token, KernelInfo* info) {
  std::string_view inner = token.substr(0, LegacyEnd(token));
  bool shape = inner.size() > 1 && IsDigits(inner.substr(inner.size() - 1));
  info->tensor_core = shape ? TensorCore::kYes : TensorCore::kNo;
}

bool DecodeLegacy(const NameParts& name, KernelInfo* info) {
  size_t first = name.function.find('_');
  if (first == std::string_view::npos || !IsGeneration(name.function.substr(0, first)))
    return false;
  bool conv = name.function.find("cudnn") != std::string_view::npos;
  if (!conv && name.function.find("gemm") == std::string_view::npos) return false;
  std::vector<std::string_view> tokens = Tokens(name.function);
  info->family = conv ? Family::kConv : Family::kGemm;
  info->library = conv ? "cudnn" : "cublas";
  info->arch = ArchOf(tokens[0]);
  info->ops = {conv ? "convolution" : "mm"};
  std::string_view result, instruction, operands;
  bool stages_next = false;
  for (size_t at = 1; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    std::string_view dtype = token.starts_with("int8x") ? "int8" : DtypeOf(token);
    if (instruction.empty() && !dtype.empty()) {
      result = dtype;
    } else if (instruction.empty() && LegacyEnd(token) != std::string_view::npos) {
      instruction = token;
      LegacyInstruction(token, info);
    } else if (!instruction.empty() && info->tile.empty() && !dtype.empty()) {
      operands = dtype;
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
  if (!instruction.empty()) GemmTypes(result, instruction, operands, info);
  info->short_name = info->library + (conv ? " conv " : " ") + info->tile;
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

// Kernels beside a GEMM of cuBLASLt: epilogues and reductions of their own.
bool DecodeLtAux(const NameParts& name, KernelInfo* info) {
  if (!name.callee.starts_with("cublasLt::")) return false;
  info->family = Family::kGemmAux;
  info->library = "cublas";
  info->short_name = "cublasLt " + std::string(name.function.substr(0, 40));
  return true;
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
  bool skinny = false;  // and other GEMMs without tensor cores
  for (std::string_view prefix :
       {"gemmSN", "gemmk1", "dot_kernel", "reduce_1Block_kernel", "gemm_kernel1x1_core",
        "gemm_kernel2x1_core", "batch_gemm_kernel", "sgemm_largek", "dgemm_largek",
        "magma_sgemmEx_kernel", "magma_hgemmEx_kernel"}) {
    skinny = skinny || function.starts_with(prefix);
  }
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

// What the letter before the instruction's shape says: the accumulator, and with it the operands
// and the result where no other type is named.
std::string_view Accumulator(std::string_view instruction) {
  switch (instruction[0]) {
    case 's':
      return "fp32";
    case 'd':
      return "fp64";
    case 'h':
      return "fp16";
    case 'i':
      return "int32";
    case 'c':
      return "complex64";
    case 'z':
      return "complex128";
    default:
      return "";
  }
}

}  // namespace

void GemmTypes(std::string_view result, std::string_view instruction, std::string_view operands,
               KernelInfo* info) {
  std::string_view accumulator = Accumulator(instruction);
  info->in_dtype = operands.empty() ? accumulator : operands;
  info->out_dtype = result.empty() ? accumulator : result;
  // m16n8k8 with fp32 operands runs in TF32.
  bool tf32 = instruction.find("tf32") != std::string_view::npos ||
              (operands.empty() && instruction.starts_with("s1688"));
  if (tf32) info->in_dtype = "tf32";
}

bool DecodeCublas(const NameParts& name, KernelInfo* info) {
  return DecodeLegacy(name, info) || DecodeSplitK(name, info) || DecodeGemv(name, info) ||
         DecodeTensorRt(name, info) || DecodeLtAux(name, info);
}

}  // namespace perfgate
