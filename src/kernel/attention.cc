// Fused attention: FlashAttention 2 and 3, the memory-efficient fmha_cutlass kernels, cuDNN's.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

constexpr std::string_view kForward = "scaled_dot_product_attention";
constexpr std::string_view kBackward = "scaled_dot_product_attention_backward";

void Attention(bool backward, std::string_view library, KernelInfo* info) {
  info->family = Family::kAttention;
  info->library = library;
  info->ops = {std::string(backward ? kBackward : kForward)};
  info->tensor_core = TensorCore::kYes;
}

void LabelAttention(std::string_view what, bool backward, KernelInfo* info) {
  info->short_name = std::string(what) + (backward ? " bwd" : " fwd");
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  if (!info->tile.empty()) info->short_name += " " + info->tile;
}

// cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_...
bool DecodeCudnn(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("cudnn_generated_") ||
      name.function.find("_sdpa_") == std::string_view::npos) {
    return false;
  }
  bool backward = name.function.find("_bprop") != std::string_view::npos;
  Attention(backward, "cudnn", info);
  for (std::string_view token : Tokens(name.function)) {
    if (token.starts_with("sm") && info->arch.empty()) info->arch = token;
    if (info->tile.empty() && IsTile(token)) info->tile = token;
    // "f16" is a class: bf16 kernels say it too. 8-bit types are what they say.
    if (token == "f8" || token == "mxfp8") info->in_dtype = "fp8";
  }
  LabelAttention("cudnn attention", backward, info);
  return true;
}

// fmha_cutlassF_bf16_aligned_64x64_rf_sm80
bool DecodeMemoryEfficient(const NameParts& name, KernelInfo* info) {
  if (!name.function.starts_with("fmha_cutlass")) return false;
  bool backward = name.function.starts_with("fmha_cutlassB");
  Attention(backward, "fmha_cutlass", info);
  for (std::string_view token : Tokens(name.function)) {
    if (std::string_view dtype = DtypeOf(token); !dtype.empty()) {
      info->in_dtype = info->out_dtype = dtype;
    }
    if (info->tile.empty() && IsTile(token)) info->tile = token;
    if (token.starts_with("sm")) info->arch = token;
  }
  if (info->in_dtype == "fp32") info->tensor_core = TensorCore::kUnknown;
  LabelAttention("fmha", backward, info);
  return true;
}

std::string_view ElementType(std::string_view text) {
  if (text.find("bfloat16_t") != std::string_view::npos) return "bf16";
  if (text.find("half_t") != std::string_view::npos) return "fp16";
  if (text.find("float_e4m3_t") != std::string_view::npos) return "fp8_e4m3";
  return "";
}

// The traits <head dim, tile M, tile N, warps, ...> of FlashAttention 2.
std::string TraitsTile(std::string_view arguments) {
  size_t open = arguments.find("_traits<");
  if (open == std::string_view::npos) return "";
  std::vector<std::string_view> traits = SplitTopLevel(arguments.substr(open + 8), ',', 3);
  if (traits.size() < 3) return "";
  for (std::string_view number : traits) {
    if (!IsDigits(number) || number.size() > 6) return "";
  }
  return std::string(traits[1]) + "x" + std::string(traits[2]) + "x" + std::string(traits[0]);
}

bool DecodeFlash(const NameParts& name, KernelInfo* info) {
  std::string_view callee = name.callee;
  bool version2 = name.function.starts_with("flash_fwd") || name.function.starts_with("flash_bwd");
  bool version3 = callee.find("flash::FlashAttn") != std::string_view::npos ||
                  callee.find("flash::enable_sm") != std::string_view::npos ||
                  name.callee.starts_with("flash::compute_attn_ws");
  if (!version2 && !version3) return false;
  bool backward = name.function.starts_with("flash_bwd") ||
                  callee.find("FlashAttnBwd") != std::string_view::npos;
  Attention(backward, "flash", info);
  // Parts of one attention call that prepare or gather: no attention of their own.
  for (std::string_view part :
       {"combine", "Combine", "dot_do_o", "convert_dq", "Preprocess", "Postprocess", "prepare"}) {
    if (callee.substr(0, callee.find("_traits")).find(part) == std::string_view::npos) continue;
    info->family = Family::kReduction;
    info->ops = {"attention_part"};
    info->tensor_core = TensorCore::kUnknown;
    info->short_name = "flash " + std::string(part);
    return true;
  }
  info->in_dtype = info->out_dtype = ElementType(callee);
  if (version3) info->arch = "sm90";
  info->tile = TraitsTile(name.arguments);
  if (name.function.find("splitkv") != std::string_view::npos) info->split_k = 1;
  LabelAttention(info->split_k != 0 ? "flash split-kv" : "flash", backward, info);
  return true;
}

struct AttentionKernel {
  std::string_view function;  // what it starts with
  std::string_view library;
  bool backward;
};

// Others by their function: the memory-efficient kernels of xformers and PyTorch before they got
// names of their own, FlashAttention 1 and 4, TensorRT's, AOTriton's.
constexpr AttentionKernel kOthers[] = {
    {"attention_kernel_backward_batched", "fmha_cutlass", true},
    {"attention_kernel_batched", "fmha_cutlass", false},
    {"fmha_fwd_loop_kernel", "flash", false},
    {"fmha_bwd_loop_kernel", "flash", true},
    {"fmha_dgrad_", "flash", true},
    {"fmha_fprop_", "flash", false},
    {"fmha_v2_", "tensorrt", false},
    {"fmhaSm", "tensorrt_llm", false},
    {"attn_fwd", "aotriton", false},
    {"bwd_kernel_dk_dv", "aotriton", true},
    {"bwd_kernel_dq", "aotriton", true},
    {"bwd_kernel_fuse", "aotriton", true},
};

bool DecodeOther(const NameParts& name, KernelInfo* info) {
  std::string_view function = name.function;
  for (const AttentionKernel& known : kOthers) {
    bool whole = known.library == "aotriton";
    if (whole ? function != known.function : !function.starts_with(known.function)) continue;
    Attention(known.backward, known.library, info);
    info->tensor_core = TensorCore::kUnknown;
    info->in_dtype = info->out_dtype = ElementType(name.arguments);
    LabelAttention(known.library, known.backward, info);
    return true;
  }
  // FlashAttention 4 is written in CuTe's Python: its classes stand in the kernel's name.
  if (!function.starts_with("kernel_cutlass_kernel_")) return false;
  bool backward = function.find("FlashAttentionBackward") != std::string_view::npos;
  if (!backward && function.find("FlashAttentionForward") == std::string_view::npos) return false;
  Attention(backward, "flash", info);
  LabelAttention("flash", backward, info);
  return true;
}

}  // namespace

bool DecodeAttention(const NameParts& name, KernelInfo* info) {
  return DecodeCudnn(name, info) || DecodeMemoryEfficient(name, info) || DecodeFlash(name, info) ||
         DecodeOther(name, info);
}

}  // namespace perfgate
