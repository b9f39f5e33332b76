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
  std::string_view before, instruction, after;
  int tiles = 0;
  for (; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    std::string_view dtype = DtypeOf(token);
    if (instruction.empty()) OperandClass(token, info);
    if (instruction.empty() && !dtype.empty()) before = dtype;
    if (instruction.empty() && IsInstruction(token)) {
      instruction = token;
      CutlassInstruction(token, info);
    } else if (!instruction.empty() && tiles == 0 && !dtype.empty()) {
      after = dtype;
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
  if (!instruction.empty()) GemmTypes(before, instruction, after, info);
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

// cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> > -> "128x256x64"
std::string TileOf(std::string_view tuple) {
  std::string tile;
  for (std::string_view number : SplitTopLevel(InsideTemplate(tuple), ',', 4)) {
    std::string_view digits = InsideTemplate(number);
    if (!IsDigits(digits) || digits.size() > 6) return "";
    if (!tile.empty()) tile += 'x';
    tile += digits;
  }
  return IsTile(tile) ? tile : "";
}

// CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<stages, cluster, schedule>, tile, A, stride, B,
// ...>
void DecodeCollective(std::string_view arguments, KernelInfo* info) {
  size_t at = arguments.find("CollectiveMma<");
  if (at == std::string_view::npos) return;
  std::vector<std::string_view> parts = SplitTopLevel(InsideTemplate(arguments.substr(at)), ',', 6);
  if (parts.size() < 3) return;
  info->tile = TileOf(parts[1]);
  info->in_dtype = DtypeOf(parts[2]);
  size_t sm = parts[0].find("MainloopSm");
  if (sm == std::string_view::npos) return;
  info->tensor_core = TensorCore::kYes;
  size_t end = parts[0].find_first_not_of("0123456789", sm + 10);
  info->arch = "sm" + std::string(parts[0].substr(sm + 10, end - sm - 10));
  std::vector<std::string_view> policy = SplitTopLevel(InsideTemplate(parts[0]), ',', 2);
  if (!policy.empty()) info->stages = SmallNumber(policy[0]);
}

// A CUTLASS kernel by its C++ type.
void DecodeByType(std::string_view arguments, KernelInfo* info) {
  auto holds = [&](std::string_view part) {
    return arguments.find(part) != std::string_view::npos;
  };
  info->library = "cutlass3";
  bool conv = holds("conv::");
  bool gemm = holds("Gemm") || holds("gemm::");
  info->family = conv ? Family::kConv : gemm ? Family::kGemm : Family::kOther;
  if (conv || gemm) info->ops = {conv ? "convolution" : "mm"};
  if (holds("OpClassTensorOp")) info->tensor_core = TensorCore::kYes;
  if (holds("OpClassSimt")) info->tensor_core = TensorCore::kNo;
  DecodeCollective(arguments, info);
  info->short_name = conv ? "cutlass conv" : gemm ? "cutlass gemm" : "cutlass kernel";
  if (holds("GroupProblemShape")) info->short_name = "cutlass grouped gemm";
  if (!info->tile.empty()) info->short_name += " " + info->tile;
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  info->opaque = !conv && !gemm;
}

}  // namespace

bool DecodeCutlass(const NameParts& name, KernelInfo* info) {
  std::string_view text = name.function.starts_with("cutlass") ? name.function : name.arguments;
  if (text.starts_with("cutlass3x_")) {
    DecodeVersion3(Tokens(text.substr(0, text.find_first_of("<>, "))), info);
    return true;
  }
  size_t end = 0;
  while (end < text.size() && IsWordChar(text[end])) ++end;
  bool named = text.starts_with("cutlass_") && !text.substr(end).starts_with("::");
  if (named) {
    text = text.substr(0, end);
    bool matrix = text.find("gemm") != std::string_view::npos ||
                  text.find("fprop") != std::string_view::npos ||
                  text.find("grad") != std::string_view::npos;
    if (matrix) DecodeVersion2(Tokens(text), info);
    return matrix;
  }
  bool ours =
      name.callee.starts_with("cutlass") && name.callee.find("::") != std::string_view::npos;
  if (!ours) return false;
  DecodeByType(name.arguments, info);
  return true;
}

}  // namespace perfgate
