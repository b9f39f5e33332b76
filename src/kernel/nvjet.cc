// nvjet_[smNN_]<types>_<tile>_<kblock x
// stages>_<cluster>[_2cta]_<h|v>_bz[_coopA][_splitK][_bias]_TNT and, on sm12x,
// nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN. There is no public
// specification; the letters were read off experiments.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

std::string_view LetterType(char letter) {
  switch (letter) {
    case 't':
      return "bf16";
    case 'h':
      return "fp16";
    case 's':
      return "fp32";
    case 'd':
      return "fp64";
    case 'q':
      return "fp8_e4m3";
    case 'r':
      return "fp8_e5m2";
    case 'o':
      return "fp4";
    case 'i':
      return "int32";
    case 'b':
      return "int8";
    default:
      return "";
  }
}

// The words that cuBLASLt has for it: "bias", "gelubias", "reluauxbias" (`aux` also stores what the
// backward pass needs).
std::string_view Epilogue(std::string_view token) {
  bool bias = token.ends_with("bias");
  if (bias) token.remove_suffix(4);
  if (token.ends_with("aux")) token.remove_suffix(3);
  if (token == "badd") return "bias";  // beta * C, a bias with as many rows as the result
  if (token == "gelu") return bias ? "bias_gelu" : "gelu";
  if (token == "relu") return bias ? "bias_relu" : "relu";
  return bias && token.empty() ? "bias" : "";
}

bool IsLayout(std::string_view token) {
  return (token.size() == 3 || token.size() == 4) &&
         token.find_first_not_of("NT") == std::string_view::npos;
}

}  // namespace

bool DecodeNvjet(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("nvjet_")) return false;
  info->family = Family::kGemm;
  info->library = "nvjet";
  info->tensor_core = TensorCore::kYes;
  std::vector<std::string_view> tokens = Tokens(name.function);
  size_t at = 1;
  if (at < tokens.size() && tokens[at].starts_with("sm")) info->arch = tokens[at++];
  if (at < tokens.size()) {
    std::string_view letters = tokens[at++];
    if (letters.size() >= 3) {  // in, compute, out; or A, B, C, compute, D
      info->in_dtype = LetterType(letters.front());
      info->out_dtype = LetterType(letters.back());
    }
  }
  int tiles = 0;
  for (; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    if (IsTile(token)) {
      if (tiles == 0) info->tile = token;
      if (tiles == 1 && info->stages == 0)
        info->stages = SmallNumber(token.substr(token.find('x') + 1));
      ++tiles;
    } else if (tiles == 1 && info->stages == 0 && IsDigits(token)) {
      info->stages = SmallNumber(token);
    } else if (token == "splitK") {
      info->split_k = 1;
    } else if (std::string_view known = Epilogue(token); !known.empty()) {
      info->epilogue = known;
    } else if (IsLayout(token)) {
      info->layout = token;
    }
  }
  bool whole = !info->layout.empty();  // else something cut it
  if (whole && info->epilogue.empty()) info->epilogue = "none";
  bool bias = info->epilogue.starts_with("bias");
  info->ops = {bias ? "addmm" : "mm"};
  info->short_name = "nvjet";
  if (!info->tile.empty()) info->short_name += " " + info->tile;
  if (info->split_k != 0) info->short_name += " splitK";
  if (!info->epilogue.empty() && info->epilogue != "none") info->short_name += " " + info->epilogue;
  if (info->in_dtype != info->out_dtype) {
    info->short_name += " " + info->in_dtype + "->" + info->out_dtype;
  } else if (!info->in_dtype.empty() && info->in_dtype != "bf16") {
    info->short_name += " " + info->in_dtype;
  }
  return true;
}

}  // namespace perfgate
