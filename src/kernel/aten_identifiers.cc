// Which operator an identifier of ATen's sources computes: "GeluCUDAKernelImpl" -> "gelu".
#include <cctype>
#include <string>
#include <unordered_map>

#include "kernel/families.h"

namespace perfgate {
namespace {

// Identifiers whose operator cannot be read off by rule: a word, and who computes it.
struct Identifiers {
  std::string_view word;
  std::string_view names;  // separated by blanks
};

constexpr Identifiers kIdentifiers[] = {
    {"__lshift__", "lshift_kernel_cuda"},
    {"__rshift__", "rshift_kernel_cuda"},
    {"_amp_foreach_non_finite_check_and_unscale",
     "_amp_foreach_non_finite_check_and_unscale_cuda_ "
     "amp_non_finite_check_and_unscale_cuda_ "
     "_amp_non_finite_check_and_unscale_cuda_"},
    {"_amp_update_scale", "_amp_update_scale_cuda_kernel"},
    {"_cdist_backward", "cdist_backward_kernel_cuda_impl"},
    {"_cdist_forward", "cdist_kernel_cuda_impl"},
    {"_chunk_cat", "chunk_cat_cuda_kernel"},
    {"_fused_adagrad", "FusedAdagradMathFunctor"},
    {"_fused_adam", "AdamCapturableFunctor AdamFunctor AdamFunctorMaster"},
    {"_fused_adamw", "FusedAdamMathFunctor"},
    {"_fused_lamb", "LAMBStage1Functor LAMBStage2Functor"},
    {"_fused_sgd", "FusedSgdMathFunctor SGDFunctor"},
    {"_pdist_backward", "pdist_backward_kernel_cuda_impl"},
    {"_pdist_forward", "pdist_kernel_cuda_impl"},
    {"_prelu_kernel_backward", "prelu_backward_kernel"},
    {"_sample_dirichlet", "launch_dirichlet_kernel"},
    {"_standard_gamma", "launch_gamma_kernel"},
    {"_thnn_fused_gru_cell", "gru_cell_forward"},
    {"_thnn_fused_gru_cell_backward", "gru_cell_backward"},
    {"_thnn_fused_lstm_cell", "lstm_cell_forward"},
    {"_thnn_fused_lstm_cell_backward", "lstm_cell_backward"},
    {"_transform_bias_rescale_qkv",
     "transform_bias_rescale_qkv_add_padding_kernel "
     "transform_bias_rescale_qkv_kernel"},
    {"_weight_int4pack_mm", "tinygemm_m16n8k16_chunk_kernel"},
    {"adaptive_avg_pool2d", "adaptive_average_pool adaptive_average_pool_nhwc"},
    {"adaptive_avg_pool2d_backward",
     "adaptive_average_gradinput adaptive_average_gradinput_nhwc "
     "atomic_adaptive_average_gradinput"},
    {"adaptive_avg_pool3d", "adaptiveaveragepool"},
    {"adaptive_avg_pool3d_backward", "adaptiveaveragegradinput atomicadaptiveaveragegradinput"},
    {"adaptive_max_pool2d", "adaptivemaxpool"},
    {"adaptive_max_pool2d_backward", "adaptivemaxgradinput atomicadaptivemaxgradinput"},
    {"add", "AxpbyFunctor plus"},
    {"addcmul",
     "PointwiseOpListFunctor PointwiseOpScalarFunctor "
     "addcmul_cuda_scalar_tensor2_kernel"},
    {"all", "and_kernel_cuda"},
    {"aminmax", "MinMaxOps"},
    {"any", "or_kernel_cuda"},
    {"arange", "arange_cuda_out"},
    {"argmax", "ArgMaxOps"},
    {"argmin", "ArgMinOps"},
    {"avg_pool3d", "avg_pool3d_cuda_update_output"},
    {"avg_pool3d_backward",
     "avg_pool3d_cuda_update_grad_input avg_pool3d_cuda_update_grad_input_atomic "
     "avg_pool3d_single_backward_out_frame_stride1"},
    {"batch_norm",
     "batch_norm_calc_invstd batch_norm_collect_statistics_kernel "
     "batch_norm_transform_input_kernel"},
    {"bernoulli", "bernoulli_tensor_cuda_kernel"},
    {"binomial", "binomial_cuda"},
    {"cat", "CatArrayBatchedCopy"},
    {"clamp", "launch_clamp_scalar"},
    {"col2im", "vol2im_kernel col2im_batched_kernel"},
    {"compare", "CompareFunctor"},
    {"conj_physical", "conj_kernel_cuda"},
    {"convolution",
     "conv_depthwise2d_forward_kernel conv_depthwise2d_forward_kernel_generic "
     "conv_depthwise3d_cuda_kernel"},
    {"convolution_backward",
     "conv_depthwise2d_backward_kernel conv_depthwise2d_grad_weight_kernel "
     "conv_depthwise3d_cuda_backward_input_kernel "
     "conv_depthwise3d_cuda_backward_weight_kernel"},
    {"copy",
     "Copy bfloat16_copy_kernel_cuda bfloat16tofloat32_copy_kernel_cuda "
     "copy_device_to_device direct_copy_kernel_cuda float16_copy_kernel_cuda "
     "float16tofloat32_copy_kernel_cuda float8_copy_kernel_cuda "
     "matrix_to_m16n8k16_Bint4_layout"},
    {"cumsum", "tensor_kernel_scan_innermost_dim tensor_kernel_scan_outer_dim"},
    {"dequantize",
     "dequantize_tensor_per_tensor_affine_cuda "
     "dequantize_tensor_per_channel_affine_cuda "
     "dequantize_tensor_per_channel_float_qparams_cuda"},
    {"div", "div_trunc_kernel_cuda divides"},
    {"dropout", "fused_dropout_kernel fused_dropout_kernel_vec"},
    {"embedding_bag",
     "EmbeddingBag_updateOutputKernel_max EmbeddingBag_updateOutputKernel_sum_mean"},
    {"embedding_bag_backward", "EmbeddingBag_accGradParametersKernel_max compute_grad_weight_bags"},
    {"embedding_dense_backward",
     "compute_grad_weight compute_grad_weight_atomic_accumulate "
     "compute_num_of_partial_segments embedding_backward_feature_kernel "
     "krn_partial_segment_offset krn_partial_to_segment_idx "
     "krn_partials_per_segment sum_and_scatter"},
    {"eq", "CompareEqFunctor"},
    {"exponential", "exponential_kernel"},
    {"fake_quantize_per_channel_affine", "_fake_quant_per_channel_cachemask_cuda_helper"},
    {"fake_quantize_per_tensor_affine",
     "fake_quantize_tensor_cachemask_kernel_cuda "
     "fake_quantize_tensor_cachemask_tensor_qparams_kernel_cuda"},
    {"floor_divide", "div_floor_kernel_cuda"},
    {"group_norm", "ComputeFusedParamsCUDAKernel GroupNorm1dForward GroupNormKernelImplInternal"},
    {"group_norm_backward",
     "Compute1dBackwardFusedParamsCUDAKernel ComputeBackwardFusedParamsCUDAKernel "
     "ComputeInternalGradientsCUDAKernel GammaBeta1dBackwardCUDAKernel1 "
     "GammaBeta1dBackwardCUDAKernel2 GammaBetaBackwardCUDAKernel1 "
     "GammaBetaBackwardCUDAKernel2 GroupNorm1dBackward "
     "GroupNormBackwardKernelImplInternal"},
    {"histc", "kernelHistogram1D"},
    {"huber_loss", "huber_kernel_cuda"},
    {"huber_loss_backward", "huber_backward_cuda_kernel"},
    {"igamma", "CalcIgamma"},
    {"im2col", "vol2col_kernel"},
    {"index", "index_elementwise_kernel vectorized_index_kernel"},
    {"index_add", "indexAddLargeIndex indexAddSmallIndex indexFuncLargeIndex indexFuncSmallIndex"},
    {"index_put",
     "indexing_backward_kernel indexing_backward_kernel_quantized "
     "indexing_backward_kernel_small_stride indexing_backward_kernel_stride_1"},
    {"index_select", "indexSelectLargeIndex indexSelectSmallIndex vectorized_gather_kernel"},
    {"kthvalue", "gatherKthValue"},
    {"layer_norm",
     "LayerNormForwardCUDAKernel RowwiseMomentsCUDAKernel "
     "vectorized_layer_norm_kernel vectorized_layer_norm_kernel_impl"},
    {"layer_norm_backward",
     "GammaBetaBackwardCUDAKernel GammaBetaBackwardCUDAKernelTemplate "
     "GammaBetaBackwardSimpleCUDAKernel LayerNormBackwardCUDAKernel "
     "cuComputeGradGammaBeta cuComputeGradInput cuComputePartGradGammaBeta "
     "layer_norm_grad_input_kernel layer_norm_grad_input_kernel_vectorized"},
    {"log_sigmoid_forward", "launch_log_sigmoid_forward_kernel"},
    {"masked_fill", "cuda_masked_fill_kernel_quantized"},
    {"masked_scatter", "launch_masked_scatter_kernel"},
    {"max", "MaxNanFunctor MaxOps"},
    {"max_pool2d_with_indices", "MaxPoolForward max_pool_forward_nchw max_pool_forward_nhwc"},
    {"max_pool2d_with_indices_backward",
     "MaxPoolBackward max_pool_backward_nchw max_pool_backward_nhwc"},
    {"max_unpool2d", "max_unpooling2d_forward_kernel"},
    {"max_unpool2d_backward", "max_unpooling2d_backward_kernel"},
    {"max_unpool3d", "max_unpooling3d_forward_kernel"},
    {"max_unpool3d_backward", "max_unpooling3d_backward_kernel"},
    {"maximum", "maximum"},
    {"median", "gatherMedian"},
    {"min", "MinNanFunctor MinOps"},
    {"minimum", "minimum"},
    {"mode", "compute_mode"},
    {"mse_loss", "mse_kernel_cuda"},
    {"mse_loss_backward", "mse_backward_cuda_kernel"},
    {"mul", "ScaleFunctor multiplies"},
    {"multi_margin_loss", "MultiMarginLoss_forward_kernel"},
    {"multi_margin_loss_backward", "MultiMarginLoss_backward_kernel"},
    {"multinomial", "renormRowsL1 sampleMultinomialOnce sampleMultinomialWithReplacement"},
    {"nansum", "NanSumOps"},
    {"native_dropout_backward", "masked_scale_kernel"},
    {"neg", "neg_conj_kernel_cuda negate"},
    {"nll_loss2d_backward", "cunn_SpatialClassNLLCriterion_updateGradInput_kernel"},
    {"nll_loss2d_forward", "cunn_SpatialClassNLLCriterion_updateOutput_kernel"},
    {"nll_loss_backward",
     "cunn_ClassNLLCriterion_updateGradInput_kernel "
     "nll_loss_backward_reduce_cuda_kernel_2d"},
    {"nll_loss_forward",
     "cunn_ClassNLLCriterion_updateOutput_kernel "
     "nll_loss_forward_reduce_cuda_kernel_2d"},
    {"norm",
     "AbsMaxOps AbsMinOps L2NormFunctor LpMaxFunctor LpNormFunctor NormOneOps "
     "NormOps NormTwoOps NormZeroOps lpmax_cleanup lpnorm_cleanup"},
    {"normal", "normal_and_transform"},
    {"pow", "power_functor reverse_power_functor"},
    {"prod", "ReductionMulOp"},
    {"quantize_per_channel",
     "quantize_tensor_per_channel_affine_cuda "
     "quantize_tensor_per_channel_float_qparams_cuda"},
    {"quantize_per_tensor", "quantize_tensor_per_tensor_affine_cuda"},
    {"random", "random_from_to_kernel random_full_64_bits_range_kernel random_kernel"},
    {"randperm", "randperm_handle_duplicate_keys_kernel"},
    {"relu", "relu_quantized_cuda_"},
    {"renorm", "renorm_scale_factor_impl"},
    {"replication_pad1d", "replication_pad_forward_kernel1d"},
    {"replication_pad2d", "replication_pad_forward_kernel2d"},
    {"replication_pad2d_backward", "replication_pad_backward_kernel"},
    {"replication_pad3d", "replication_pad_forward_kernel3d"},
    {"round", "round_decimals_kernel_cuda"},
    {"scan", "transform_vals calc_block_sums final_scan_kernel"},
    {"scatter_gather",
     "_cuda_scatter_gather_internal_kernel _scatter_gather_elementwise_kernel "
     "_cuda_scatter_fill_internal_kernel"},
    {"smooth_l1_loss", "smooth_l1_kernel_cuda"},
    {"smooth_l1_loss_backward", "smooth_l1_backward_cuda_kernel"},
    {"softmax",
     "cuda_sparse_coo_softmax_kernel cunn_SoftMaxForward cunn_SoftMaxForwardGmem "
     "cunn_SoftMaxForwardReg cunn_SoftMaxForwardSmem cunn_SpatialSoftMaxForward "
     "softmax_warp_forward"},
    {"softmax_backward",
     "cuda_sparse_coo_softmax_backward_kernel cunn_SoftMaxBackward "
     "cunn_SoftMaxBackwardSmem softmax_warp_backward"},
    {"softshrink_backward", "shrink_backward_kernel"},
    {"sort",
     "bitonicSortKVInPlace fill_index_and_segment_kernel "
     "fill_reverse_indices_kernel radixSortKVInPlace sort_postprocess_kernel "
     "warpMergeSortKVInPlace"},
    {"special_xlog1py", "xlog1py_kernel_cuda"},
    {"split_with_sizes_copy", "split_with_sizes_copy_out_contiguous_no_cast_kernel"},
    {"sub", "minus"},
    {"sum", "ReductionAddOp"},
    {"topk",
     "computeBlockwiseKthCounts computeBlockwiseWithinKCounts gatherTopK mbtopk "
     "radixFindKthValues sbtopk"},
    {"tril", "triu_tril_kernel"},
    {"trunc", "Truncf"},
    {"unfold_backward", "_unfold_backward_internal_kernel"},
    {"uniform", "uniform_and_transform"},
    {"var", "WelfordOps"},
    {"weight_norm", "weight_norm_fwd_first_dim_kernel weight_norm_fwd_last_dim_kernel"},
    {"weight_norm_backward", "weight_norm_bwd_first_dim_kernel weight_norm_bwd_last_dim_kernel"},
};

std::unordered_map<std::string_view, std::string_view> MakeIdentifiers() {
  std::unordered_map<std::string_view, std::string_view> table;
  for (const Identifiers& row : kIdentifiers) {
    std::string_view names = row.names;
    while (!names.empty()) {
      size_t end = std::min(names.find(' '), names.size());
      table.emplace(names.substr(0, end), row.word);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return table;
}

std::string SnakeCase(std::string_view text) {
  std::string snake;
  for (char c : text) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      if (!snake.empty() && snake.back() != '_') snake += '_';
      snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      snake += c;
    }
  }
  return snake;
}

// Prefixes and suffixes that ATen gives to functors and kernels.
std::string_view Stem(std::string_view identifier, bool* marked) {
  std::string_view stem = identifier;
  for (std::string_view prefix : {"CUDAFunctor_", "CUDAFunctorOnSelf_", "CUDAFunctorOnOther_"}) {
    if (!stem.starts_with(prefix)) continue;
    stem.remove_prefix(prefix.size());
    *marked = true;
  }
  for (bool again = true; again;) {
    again = false;
    for (std::string_view suffix :
         {"_kernel_cuda", "_cuda_kernel", "_kernel_impl",   "CUDAKernelImpl",
          "CUDAKernel",   "KernelImpl",   "Kernel",         "_kernel",
          "_out_frame",   "Functor",      "_functor",       "_cuda",
          "_impl",        "Ops",          "_scalar",        "_tensor",
          "_out",         "_vectorized",  "_tensor_scalar", "_opmath",
          "Scalar"}) {
      if (stem.size() <= suffix.size() || !stem.ends_with(suffix)) continue;
      stem.remove_suffix(suffix.size());
      *marked = again = true;
    }
  }
  return stem;
}

// The operator of several words that an identifier goes on from:
// "upsample_nearest2d_backward_nhwc_out_frame".
std::string LongestPrefix(std::string_view identifier) {
  size_t words = 0;
  std::string_view best;
  for (size_t at = identifier.find('_', 1); at != std::string_view::npos;
       at = identifier.find('_', at + 1)) {
    if (++words < 2) continue;
    const OperatorFacts* facts = FindOperator(identifier.substr(0, at));
    if (facts != nullptr && facts->kind == OperatorKind::kComputing) best = facts->word;
  }
  return best.empty() ? "" : OperatorWord(best);
}

}  // namespace

std::string AtenWord(std::string_view identifier) {
  static const std::unordered_map<std::string_view, std::string_view> kTable = MakeIdentifiers();
  if (auto found = kTable.find(identifier); found != kTable.end()) {
    return std::string(found->second);
  }
  if (identifier.starts_with("CatArrayBatchedCopy")) return "cat";
  if (identifier.starts_with("batch_norm_")) {
    bool backward = identifier.find("backward") != std::string_view::npos;
    return backward ? "batch_norm_backward" : "batch_norm";
  }
  if (identifier.starts_with("cunn_") && identifier.find("SoftMax") != std::string_view::npos) {
    bool backward = identifier.find("Backward") != std::string_view::npos;
    return backward ? "softmax_backward" : "softmax";
  }
  // By ATen's customs, or by the spelling of a type: at::native::Sqrt<float>.
  bool marked = !identifier.empty() && std::isupper(static_cast<unsigned char>(identifier[0])) != 0;
  std::string snake = SnakeCase(Stem(identifier, &marked));
  if (!marked) return LongestPrefix(identifier);
  if (snake.starts_with("_") && FindOperator(snake) == nullptr) snake.erase(0, 1);
  const OperatorFacts* facts = FindOperator(snake);
  if (facts == nullptr) return LongestPrefix(identifier);
  return facts->kind == OperatorKind::kView ? "" : OperatorWord(snake);
}

}  // namespace perfgate
