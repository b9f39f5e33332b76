// Kernels that widely used extensions bring along: vLLM, SGLang, FlashInfer, xformers, Apex,
// Transformer Engine, DeepGEMM, Marlin, bitsandbytes. Only names that say whose they are; anybody
// may call a kernel `rms_norm_kernel`.
#include "base/text.h"
#include "kernel/families.h"

namespace perfgate {
namespace {

struct KnownKernel {
  std::string_view library;
  std::string_view scope;     // what the callee starts with, after `(anonymous namespace)::`
  std::string_view function;  // what the function starts with
  Family family;
  std::string_view word;  // "": a kernel that moves or prepares, no operator of its own
};

constexpr KnownKernel kKnown[] = {
    // Collectives first: they stand among other kernels of the same namespaces.
    {"vllm", "vllm::", "cross_device_reduce", Family::kCollective, "all_reduce"},
    {"aiter", "aiter::", "cross_device_reduce", Family::kCollective, "all_reduce"},
    {"aiter", "aiter::", "reduce_scatter_cross_device", Family::kCollective, "reduce_scatter"},
    {"aiter", "aiter::", "allreduce", Family::kCollective, "all_reduce"},
    {"sglang", "sglang::", "cross_device_reduce", Family::kCollective, "all_reduce"},
    {"flashinfer", "flashinfer::trtllm_allreduce", "allreduce", Family::kCollective, "all_reduce"},
    {"tensorrt_llm", "tensorrt_llm::", "oneShotAllReduce", Family::kCollective, "all_reduce"},
    {"tensorrt_llm", "tensorrt_llm::", "twoShotAllReduce", Family::kCollective, "all_reduce"},
    {"tensorrt_llm", "tensorrt_llm::", "allreduce", Family::kCollective, "all_reduce"},
    {"deep_ep", "deep_ep::", "dispatch", Family::kCollective, "all_to_all"},
    {"deep_ep", "deep_ep::", "combine", Family::kCollective, "all_to_all"},
    {"deep_ep", "deep_ep::", "", Family::kCollective, ""},
    {"symm_mem", "one_shot_all_reduce", "", Family::kCollective, "all_reduce"},
    {"symm_mem", "two_shot_all_reduce", "", Family::kCollective, "all_reduce"},
    {"symm_mem", "multimem_all_reduce", "", Family::kCollective, "all_reduce"},
    {"symm_mem", "multimem_one_shot_reduce", "", Family::kCollective, "reduce_scatter"},
    {"symm_mem", "multimem_all_gather", "", Family::kCollective, "all_gather"},
    {"vllm", "vllm::", "act_and_mul_kernel", Family::kPointwise, "act_and_mul"},
    {"perfgate", "perfgate::", "act_and_mul_kernel", Family::kPointwise, "act_and_mul"},
    {"vllm", "vllm::", "activation_kernel", Family::kPointwise, "activation"},
    {"vllm", "vllm::", "rms_norm", Family::kNorm, "rms_norm"},
    {"vllm", "vllm::", "fused_add_rms_norm", Family::kNorm, "rms_norm"},
    {"vllm", "vllm::", "rotary_embedding_kernel", Family::kPointwise, "rotary_embedding"},
    {"vllm", "vllm::", "batched_rotary_embedding_kernel", Family::kPointwise, "rotary_embedding"},
    {"vllm", "vllm::", "reshape_and_cache", Family::kCopy, "copy"},
    {"vllm", "vllm::", "concat_and_cache", Family::kCopy, "copy"},
    {"vllm", "vllm::", "copy_blocks_kernel", Family::kCopy, "copy"},
    {"vllm", "vllm::", "paged_attention_v2_reduce", Family::kReduction, "attention_part"},
    {"vllm", "vllm::", "paged_attention", Family::kAttention, "scaled_dot_product_attention"},
    {"vllm", "vllm::", "merge_attn_states", Family::kReduction, "attention_part"},
    {"vllm", "vllm::", "scaled_fp8_quant", Family::kPointwise, "quantize"},
    {"vllm", "vllm::", "dynamic_per_token_scaled_fp8_quant", Family::kPointwise, "quantize"},
    {"vllm", "vllm::", "static_scaled_int8_quant", Family::kPointwise, "quantize"},
    {"vllm", "vllm::", "dynamic_scaled_int8_quant", Family::kPointwise, "quantize"},
    {"vllm", "vllm::", "per_token_group_quant", Family::kPointwise, "quantize"},
    {"vllm", "vllm::moe::", "topk", Family::kSort, "topk"},
    {"vllm", "vllm::moe::", "grouped_topk", Family::kSort, "topk"},
    {"vllm", "vllm::moe::", "moe_align_block_size", Family::kIndexing, "moe_align"},
    {"vllm", "vllm::moe::", "count_and_sort_expert_tokens", Family::kIndexing, "moe_align"},
    {"vllm", "vllm::moe::", "moe_sum", Family::kReduction, "sum"},
    {"flashinfer", "flashinfer::", "BatchPrefillWith", Family::kAttention,
     "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "BatchDecodeWith", Family::kAttention,
     "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "SinglePrefillWith", Family::kAttention,
     "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "SingleDecodeWith", Family::kAttention,
     "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "PrefillWithKVCache", Family::kAttention,
     "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "BatchMLA", Family::kAttention, "scaled_dot_product_attention"},
    {"flashinfer", "flashinfer::", "PersistentVariableLengthMergeStates", Family::kReduction,
     "attention_part"},
    {"flashinfer", "flashinfer::", "MergeState", Family::kReduction, "attention_part"},
    {"flashinfer", "flashinfer::", "VariableLengthMergeStates", Family::kReduction,
     "attention_part"},
    {"flashinfer", "flashinfer::norm::", "", Family::kNorm, "rms_norm"},
    {"flashinfer", "flashinfer::activation::", "act_and_mul", Family::kPointwise, "act_and_mul"},
    {"flashinfer", "flashinfer::", "BatchQKApplyRotary", Family::kPointwise, "rotary_embedding"},
    {"flashinfer", "flashinfer::", "AppendPagedKVCache", Family::kCopy, "copy"},
    {"flashinfer", "flashinfer::sampling::", "", Family::kRandom, "multinomial"},
    {"apex", "cuApplyLayerNorm", "", Family::kNorm, "layer_norm"},
    {"apex", "cuApplyRMSNorm", "", Family::kNorm, "rms_norm"},
    {"apex", "cuComputeGradInput", "", Family::kNorm, "layer_norm_backward"},
    {"apex", "cuComputePartGradGammaBeta", "", Family::kNorm, "layer_norm_backward"},
    {"apex", "cuComputeGradGammaBeta", "", Family::kNorm, "layer_norm_backward"},
    {"apex", "layer_norm::ln_fwd", "", Family::kNorm, "layer_norm"},
    {"apex", "layer_norm::ln_bwd", "", Family::kNorm, "layer_norm_backward"},
    {"apex", "scaled_upper_triang_masked_softmax_warp_forward", "", Family::kSoftmax, "softmax"},
    {"apex", "scaled_upper_triang_masked_softmax_warp_backward", "", Family::kSoftmax,
     "softmax_backward"},
    {"apex", "scaled_masked_softmax_warp_forward", "", Family::kSoftmax, "softmax"},
    {"apex", "scaled_masked_softmax_warp_backward", "", Family::kSoftmax, "softmax_backward"},
    {"apex", "scaled_softmax_warp_forward", "", Family::kSoftmax, "softmax"},
    {"apex", "scaled_softmax_warp_backward", "", Family::kSoftmax, "softmax_backward"},
    {"transformer_engine", "transformer_engine::", "rmsnorm_fwd", Family::kNorm, "rms_norm"},
    {"transformer_engine", "transformer_engine::", "rmsnorm_bwd", Family::kNorm,
     "rms_norm_backward"},
    {"transformer_engine", "transformer_engine::", "ln_fwd", Family::kNorm, "layer_norm"},
    {"transformer_engine", "transformer_engine::", "ln_bwd", Family::kNorm, "layer_norm_backward"},
    {"transformer_engine", "transformer_engine::", "cast_", Family::kCopy, "copy"},
    {"transformer_engine", "transformer_engine::", "transpose_", Family::kCopy, "copy"},
    {"transformer_engine", "transformer_engine::", "fused_rope_forward", Family::kPointwise,
     "rotary_embedding"},
    {"transformer_engine", "transformer_engine::", "fused_rope_backward", Family::kPointwise,
     "rotary_embedding_backward"},
    {"deep_gemm", "deep_gemm::", "transpose", Family::kCopy, "copy"},
    {"deep_gemm", "deep_gemm::", "", Family::kGemm, "mm"},
    {"marlin", "marlin::Marlin", "", Family::kGemm, "mm"},
    {"marlin", "marlin_moe_wna16::Marlin", "", Family::kGemm, "mm"},
    {"marlin", "marlin::gptq_marlin_repack", "", Family::kCopy, "copy"},
    {"awq", "vllm::awq::gemm_forward_4bit", "", Family::kGemm, "mm"},
    {"awq", "vllm::awq::dequantize_weights", "", Family::kPointwise, "dequantize"},
    {"bitsandbytes", "kgemm_4bit_inference_naive", "", Family::kGemv, "mv"},
    {"bitsandbytes", "kDequantizeBlockwise", "", Family::kPointwise, "dequantize"},
    {"bitsandbytes", "kQuantizeBlockwise", "", Family::kPointwise, "quantize"},
    {"tensorrt", "bert::", "softmax", Family::kSoftmax, "softmax"},
    {"tensorrt", "bert::", "skipLayerNorm", Family::kNorm, "layer_norm"},
};

// "vllm::act_and_mul_kernel<c10::BFloat16, ..., &(c10::BFloat16 vllm::silu_kernel<...>(...))>"
std::vector<std::string> Operators(std::string_view word, std::string_view arguments) {
  if (word.empty()) return {};
  if (word != "act_and_mul" && word != "activation") return {std::string(word)};
  std::vector<std::string> ops;
  for (std::string_view activation : {"silu", "gelu", "relu", "swigluoai"}) {
    if (arguments.find(activation) == std::string_view::npos) continue;
    ops.emplace_back(activation);
    break;
  }
  if (word == "act_and_mul") ops.emplace_back("mul");
  return ops;
}

std::string_view WithoutAnonymous(std::string_view callee) {
  for (std::string_view anonymous : {"(anonymous namespace)::", "<unnamed>::"}) {
    if (callee.starts_with(anonymous)) callee.remove_prefix(anonymous.size());
  }
  return callee;
}

}  // namespace

bool DecodeKnown(const NameParts& name, KernelInfo* info) {
  std::string_view callee = WithoutAnonymous(name.callee);
  const KnownKernel* found = nullptr;
  for (const KnownKernel& known : kKnown) {
    if (!callee.starts_with(known.scope) || !name.function.starts_with(known.function)) continue;
    found = &known;
    break;
  }
  if (found == nullptr) return false;
  info->library = found->library;
  info->family = found->family;
  info->ops = Operators(found->word, name.arguments);
  bool matrix = found->family == Family::kAttention || found->family == Family::kGemm;
  if (found->library == "deep_gemm" || found->library == "marlin") {
    if (matrix) info->tensor_core = TensorCore::kYes;
    if (name.function.find("fp8") != std::string_view::npos) info->in_dtype = "fp8_e4m3";
  } else if (!matrix && found->family != Family::kCollective) {
    for (std::string_view argument : SplitTopLevel(name.arguments, ',', 4)) {
      std::string_view dtype = IsDigits(argument) ? "" : DtypeOf(argument);
      if (!dtype.empty() && info->in_dtype.empty()) info->in_dtype = dtype;
    }
  }
  info->short_name = std::string(found->library) + " " +
                     (info->ops.empty() ? std::string(name.function.substr(0, 40)) : info->ops[0]);
  if (!info->in_dtype.empty()) info->short_name += " " + info->in_dtype;
  return true;
}

}  // namespace perfgate
