// The shipped table of operators. Words without namespace and trailing `_` or `_out`, sorted within
// their lists only for reading. Adding an operator is adding its word to a list.
#include <string>
#include <unordered_map>

#include "kernel/families.h"

namespace perfgate {
namespace {

struct List {
  OperatorKind kind;
  Family family;
  std::string_view words;  // separated by blanks or new lines
};

constexpr List kLists[] = {
    {OperatorKind::kComputing, Family::kGemm, R"(
        addmm mm bmm baddbmm addbmm addmm_activation _addmm_activation _scaled_mm _int_mm
        _scaled_grouped_mm _grouped_mm _weight_int4pack_mm _weight_int8pack_mm
        mkldnn_linear _mkl_linear _linear_pointwise mkldnn_linear_pointwise mkl_linear
        packed_linear linear_dynamic linear_relu_dynamic qlinear qlinear_pointwise
        chain_matmul outer ger tensordot _sparse_mm mkldnn__linear_pointwise
        mkldnn_rnn_layer einsum_mm rnn _cudnn_rnn _cudnn_rnn_backward miopen_rnn
        miopen_rnn_backward mkldnn_rnn_layer_backward cdist _cdist_forward _cdist_backward
        _pdist_forward _pdist_backward _weight_int4pack_mm_for_cpu _weight_int4pack_mm_with_scales_and_zeros
        _mixed_dtypes_linear _sparse_semi_structured_linear _sparse_semi_structured_mm
        _sparse_semi_structured_addmm _cslt_sparse_mm _scaled_mm_v2 _scaled_grouped_mm_v2
        _dyn_quant_matmul_4bit sparse_sampled_addmm _sparse_addmm trilinear _trilinear
        _wrapped_linear_prepack _wrapped_quantized_linear_prepacked linear_relu
        linear_dynamic_fp16 _linear_pointwise_binary)"},
    {OperatorKind::kComputing, Family::kGemv, "addmv mv dot vdot addr"},
    {OperatorKind::kComputing, Family::kConv, R"(
        convolution cudnn_convolution mkldnn_convolution thnn_conv2d _slow_conv2d_forward
        slow_conv3d _convolution_pointwise mkldnn__convolution_pointwise
        slow_conv3d_forward conv_depthwise3d _conv_depthwise2d cudnn_convolution_add_relu
        cudnn_convolution_relu convolution_backward cudnn_convolution_transpose
        miopen_convolution miopen_convolution_transpose miopen_depthwise_convolution
        miopen_convolution_relu miopen_convolution_add_relu convolution_backward_overrideable
        mkldnn_convolution_backward _slow_conv2d_backward conv_tbc conv_tbc_backward
        cudnn_convolution_backward cudnn_convolution_backward_input
        cudnn_convolution_backward_weight thnn_conv_depthwise2d thnn_conv_depthwise2d_forward
        thnn_conv2d_forward thnn_conv2d_backward cudnn_convolution_transpose_backward
        slow_conv_transpose2d slow_conv_transpose3d slow_conv_dilated2d
        convolution_overrideable mkldnn_convolution_pointwise)"},
    {OperatorKind::kComputing, Family::kAttention, R"(
        _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu
        _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
        _flash_attention_forward _efficient_attention_forward _cudnn_attention_forward
        _scaled_dot_product_fused_attention_overrideable
        _scaled_dot_product_fused_attention_overrideable_backward flex_attention
        _scaled_dot_product_flash_attention_backward _flash_attention_backward
        _scaled_dot_product_flash_attention_for_cpu_backward _efficient_attention_backward
        _scaled_dot_product_efficient_attention_backward _cudnn_attention_backward
        _scaled_dot_product_cudnn_attention_backward flex_attention_backward
        scaled_dot_product_attention_backward _native_multi_head_attention
        _transform_bias_rescale_qkv _triton_scaled_dot_attention
        _triton_multi_head_attention _scaled_dot_product_flash_attention_backward_for_cpu
        _flash_attn_forward
        _flash_attn_backward _flash_attn_varlen_forward _flash_attn_varlen_backward
        _scaled_dot_product_attention_math_for_mps_backward)"},
    {OperatorKind::kComputing, Family::kSoftmax, R"(
        _softmax _log_softmax _safe_softmax _masked_softmax _softmax_backward_data
        _log_softmax_backward_data _masked_softmax_backward softmax_backward log_softmax_backward
        prepare_softmax_online)"},
    {OperatorKind::kComputing, Family::kNorm, R"(
        native_layer_norm native_layer_norm_backward layer_norm_backward native_group_norm
        native_group_norm_backward native_batch_norm native_batch_norm_backward
        cudnn_batch_norm cudnn_batch_norm_backward _native_batch_norm_legit
        _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
        _batch_norm_with_update batch_norm_backward batch_norm_stats batch_norm_elemt
        batch_norm_backward_reduce batch_norm_backward_elemt
        batch_norm_gather_stats_with_counts batch_norm_update_stats _fused_rms_norm
        _fused_rms_norm_backward linalg_vector_norm norm renorm _weight_norm_interface
        miopen_batch_norm miopen_batch_norm_backward local_response_norm rms_norm_backward
        group_norm_backward weight_norm weight_norm_backward _weight_norm
        _weight_norm_interface_backward thnn_batch_norm native_norm _batch_norm_no_update _batch_norm_with_update_functional
        batch_norm_gather_stats)"},
    {OperatorKind::kComputing, Family::kReduction, R"(
        sum mean prod max min amax amin aminmax argmax argmin all any var std var_mean
        std_mean logsumexp nansum count_nonzero median nanmedian mode norm_except_dim
        nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward mse_loss
        mse_loss_backward smooth_l1_loss smooth_l1_loss_backward l1_loss
        binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits
        kl_div huber_loss huber_loss_backward _ctc_loss _ctc_loss_backward
        cross_entropy_loss avg_pool2d avg_pool2d_backward avg_pool3d
        max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d_with_indices
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d
        mkldnn_max_pool2d mkldnn_adaptive_avg_pool2d _low_memory_max_pool_with_offsets
        trace equal segment_reduce bincount histc _amp_foreach_non_finite_check_and_unscale
        xor_sum pool _foreach_norm _foreach_max reduce _amp_update_scale adaptive_avg_pool3d
        _adaptive_avg_pool3d adaptive_avg_pool2d_backward adaptive_avg_pool3d_backward
        _adaptive_avg_pool3d_backward adaptive_max_pool2d_backward adaptive_max_pool3d
        adaptive_max_pool3d_backward avg_pool3d_backward max_pool3d_with_indices_backward
        fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d
        fractional_max_pool3d_backward quantized_max_pool2d segment_reduce_backward
        _segment_reduce_backward ctc_loss ctc_loss_backward l1_loss_backward
        soft_margin_loss soft_margin_loss_backward multi_margin_loss
        multi_margin_loss_backward multilabel_margin_loss_forward
        multilabel_margin_loss_backward poisson_nll_loss _aminmax _cudnn_ctc_loss miopen_ctc_loss histogram quantile nanquantile
        linalg_matrix_norm dist norm_backward attention_part)"},
    {OperatorKind::kComputing, Family::kPointwise, R"(
        add sub rsub mul div remainder fmod floor_divide true_divide pow neg abs sign sgn
        exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin
        acos atan sinh cosh asinh acosh atanh atan2 floor ceil round trunc frac erf erfc
        erfinv lgamma digamma sigmoid sigmoid_backward tanh tanh_backward relu relu6
        leaky_relu leaky_relu_backward gelu gelu_backward silu silu_backward mish
        mish_backward elu elu_backward selu celu softplus softplus_backward hardtanh
        hardtanh_backward hardswish hardswish_backward hardsigmoid hardsigmoid_backward
        prelu _prelu_kernel _prelu_kernel_backward softshrink hardshrink glu glu_backward
        glu_jvp threshold threshold_backward log_sigmoid_forward log_sigmoid_backward logit
        clamp clamp_min clamp_max maximum minimum fmax fmin where eq ne lt le gt ge isnan
        isinf isneginf isposinf isfinite nan_to_num logical_and logical_or logical_not
        logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor __and__ __or__ __xor__
        __lshift__ __rshift__ bitwise_left_shift bitwise_right_shift addcmul addcdiv lerp
        masked_fill fill zero zeros_fill copysign hypot polar complex view_as_complex_copy
        real_copy conj_physical angle ldexp nextafter sinc i0 heaviside gcd lcm polygamma
        logaddexp logaddexp2 xlogy special_xlog1py _foreach_add _foreach_sub _foreach_mul
        _foreach_div _foreach_sqrt _foreach_addcmul _foreach_addcdiv _foreach_lerp
        _foreach_neg _foreach_zero _foreach_pow _foreach_reciprocal
        _foreach_sign _foreach_abs _foreach_maximum _foreach_minimum _foreach_clamp_min
        _foreach_clamp_max _foreach_exp _foreach_log _foreach_rsqrt quantize_per_tensor
        quantize_per_channel dequantize fake_quantize_per_tensor_affine
        fake_quantize_per_channel_affine
        _fake_quantize_per_tensor_affine_cachemask_tensor_qparams convert_element_type
        _conj_physical upsample_nearest2d upsample_bilinear2d upsample_nearest1d
        upsample_linear1d upsample_bicubic2d _upsample_bilinear2d_aa
        upsample_nearest2d_backward upsample_bilinear2d_backward grid_sampler_2d
        grid_sampler_3d reflection_pad1d reflection_pad2d replication_pad1d
        replication_pad2d constant_pad_nd compare affine_grid_generator affine_grid_generator_backward pixel_shuffle
        _add_relu cross linalg_cross tril triu signbit frexp igamma igammac rrelu
        rrelu_with_noise rrelu_with_noise_backward relu6_backward
        _thnn_fused_lstm_cell _thnn_fused_gru_cell
        _thnn_fused_lstm_cell_backward _thnn_fused_gru_cell_backward
        _thnn_differentiable_lstm_cell_backward softshrink_backward hardshrink_backward
        logit_backward clamp_tensor special_erfcx special_i0e special_i1 special_i1e
        special_entr special_ndtri special_log_ndtr special_zeta
        _foreach_acos _foreach_asin _foreach_atan _foreach_cosh _foreach_erfc _foreach_sinh
        _foreach_tan _masked_scale _fake_quantize_learnable_per_channel_affine
        _fake_quantize_learnable_per_channel_affine_backward
        _fake_quantize_learnable_per_tensor_affine
        _fake_quantize_learnable_per_tensor_affine_backward mvlgamma
        _upsample_bicubic2d_aa_backward _upsample_nearest_exact1d_backward
        _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward
        cudnn_grid_sampler cudnn_grid_sampler_backward cudnn_affine_grid_generator
        cudnn_affine_grid_generator_backward deg2rad rad2deg float_power positive special_expit
        _foreach_round _foreach_floor _foreach_ceil _foreach_trunc _foreach_frac
        _foreach_sigmoid _foreach_tanh _foreach_cos _foreach_sin _foreach_erf
        _foreach_log1p _foreach_log2 _foreach_log10 _foreach_expm1 _foreach_lgamma
        dequantize_per_tensor dequantize_per_channel quantize_per_tensor_dynamic
        _make_per_tensor_quantized_tensor _fused_moving_avg_obs_fq_helper
        fused_moving_avg_obs_fake_quant fake_quantize_per_tensor_affine_cachemask
        fake_quantize_per_channel_affine_cachemask quantize upsample_nearest3d
        upsample_nearest3d_backward upsample_trilinear3d upsample_trilinear3d_backward
        upsample_bicubic2d_backward upsample_linear1d_backward upsample_nearest1d_backward
        _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
        _upsample_bicubic2d_aa _upsample_bilinear2d_aa_backward grid_sampler_2d_backward
        grid_sampler_3d_backward reflection_pad3d reflection_pad1d_backward
        reflection_pad2d_backward reflection_pad3d_backward replication_pad3d
        replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward
        pixel_unshuffle channel_shuffle affine_grid rotary_embedding
        rotary_embedding_backward activation mul_relu)"},
    {OperatorKind::kComputing, Family::kIndexing, R"(
        embedding embedding_dense_backward embedding_renorm _embedding_bag
        _embedding_bag_forward_only embedding_bag _embedding_bag_backward index
        index_select index_put _index_put_impl _unsafe_index _unsafe_index_put
        _unsafe_masked_index _unsafe_masked_index_put_accumulate index_add index_copy
        index_fill index_reduce gather scatter scatter_add scatter_reduce take put
        masked_select masked_scatter scatter_gather nonzero nonzero_static take_along_dim
        one_hot searchsorted bucketize _masked_scatter roll flip rot90 repeat_interleave
        unfold_backward im2col col2im slice_backward select_backward gather_backward
        slice_scatter select_scatter diagonal_scatter fft_fft2
        _fft_r2c _fft_c2r _fft_c2c max_unpool2d max_unpool3d
        embedding_bag_backward _embedding_bag_dense_backward
        _embedding_bag_per_sample_weights_backward embedding_backward scatter_value
        masked_select_backward diagonal_backward unfold_copy moe_align
        argwhere isin coalesce _coalesce to_sparse
        _to_sparse_csr sparse_mask as_strided_scatter index_select_backward)"},
    {OperatorKind::kComputing, Family::kCopy, R"(
        cat _cat stack_copy _chunk_cat repeat split_with_sizes_copy split_copy unbind_copy
        _nested_from_padded nested_to_padded_tensor nested_from_padded_tensor
        _foreach_copy block_diag)"},
    {OperatorKind::kComputing, Family::kRandom, R"(
        normal uniform bernoulli exponential random geometric cauchy log_normal multinomial
        poisson randperm native_dropout native_dropout_backward _fused_dropout dropout
        inductor_random inductor_randint inductor_seeds rand_like_compute binomial
        _sample_dirichlet _dirichlet_grad _standard_gamma_grad normal_functional
        _fill_mem_eff_dropout_mask _cudnn_init_dropout_state _standard_gamma dropout_backward alpha_dropout feature_dropout
       )"},
    {OperatorKind::kComputing, Family::kSort,
     R"(
        sort topk kthvalue unique _unique _unique2 unique_dim unique_consecutive msort
        unique_dim_consecutive)"},
    {OperatorKind::kComputing, Family::kScan, R"(
        cumsum cumprod cummax cummin logcumsumexp _cummax_helper _cummin_helper _cumsum
        _cumprod _logcumsumexp scan associative_scan)"},
    {OperatorKind::kComputing, Family::kOptimizer, R"(
        _fused_adam _fused_adamw _fused_sgd _fused_adagrad _fused_lamb)"},
    {OperatorKind::kComputing, Family::kOther, R"(
        arange range linspace logspace eye linalg_cholesky_ex _linalg_svd _linalg_eigh
        linalg_inv_ex _linalg_solve_ex linalg_lu_factor_ex linalg_qr triangular_solve
        linalg_solve_triangular cholesky cholesky_inverse cholesky_solve linalg_lu linalg_lu_solve
        linalg_lstsq linalg_matrix_exp _linalg_slogdet _linalg_eigvals geqrf ormqr
        linalg_householder_product hann_window hamming_window blackman_window lu_unpack linalg_eig _linalg_det tril_indices triu_indices)"},
    {OperatorKind::kComputing, Family::kCollective, R"(
        all_reduce all_gather reduce_scatter all_to_all send_recv broadcast
        all_gather_into_tensor reduce_scatter_tensor all_to_all_single)"},

    {OperatorKind::kView, Family::kOther, R"(
        t transpose transpose_copy numpy_T matrix_H mT mH permute view view_as reshape
        reshape_as _unsafe_view _reshape_alias as_strided expand expand_as squeeze
        unsqueeze slice select split split_with_sizes chunk unbind narrow detach alias
        flatten unflatten ravel movedim moveaxis swapaxes swapdims diagonal unfold
        lift_fresh view_as_real view_as_complex real imag broadcast_to broadcast_tensors
        tensor_split hsplit vsplit dsplit unsafe_split unsafe_split_with_sizes unsafe_chunk
        conj _conj _neg_view atleast_1d atleast_2d atleast_3d squeeze_multiple adjoint
        _reinterpret_tensor reinterpret_tensor _unpack_dual _fw_primal _make_dual)"},

    {OperatorKind::kCopy, Family::kCopy, R"(
        copy clone contiguous to _to_copy lift_fresh_copy _conj_copy view_copy expand_copy
        permute_copy t_copy squeeze_copy unsqueeze_copy detach_copy alias_copy as_strided_copy
        _reshape_copy _reshape_alias_copy diagonal_copy narrow_copy view_as_real_copy
        _lazy_clone _to_cpu type_as float_copy pin_memory _pin_memory
        cpu cuda _copy_from _copy_from_and_resize to_mkldnn to_dense
        mkldnn_reorder_linear_weight mkldnn_reorder_conv2d_weight copy_to assign_tensors)"},

    {OperatorKind::kAllocation, Family::kOther, R"(
        empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize
        resize_as _resize_output _empty_affine_quantized empty_quantized
        create_tensor_from_blob empty_strided_cpu empty_strided_cuda delete_tensor_object)"},

    {OperatorKind::kMetadata, Family::kOther, R"(
        resolve_conj resolve_neg result_type is_nonzero item _local_scalar_dense size numel
        dim stride is_same_size requires_grad requires_grad_ set set_ is_contiguous
        storage_offset can_cast promote_types is_floating_point is_complex is_pinned
        _has_compatible_shallow_copy_type sym_size sym_numel sym_stride sym_storage_offset
        _assert_async _assert_scalar _assert_tensor_metadata retain_grad output_nr _version
        is_leaf record_stream _functional_assert_scalar _functional_sym_constrain_range
        sym_constrain_range sym_constrain_range_for_size is_coalesced is_set_to dense_dim
        sparse_dim _has_same_storage_numel _use_cudnn_ctc_loss _cudnn_rnn_flatten_weight
        _linalg_check_errors _print _nested_tensor_size _fused_sdp_choice _backward data set_data
        rename align_as cudnn_is_acceptable get_device device dtype layout is_distributed
        record_param_comms)"},

    // Known, but made of other operators: a call counts only if nothing below it counts. Listed so
    // that names of fused kernels are cut right.
    {OperatorKind::kOther, Family::kGemm,
     "linear matmul bilinear einsum multi_dot kron inner lstm gru"},
    {OperatorKind::kOther, Family::kConv, "conv1d conv2d conv3d _convolution conv_transpose2d"},
    {OperatorKind::kOther, Family::kAttention, R"(
        scaled_dot_product_attention _scaled_dot_product_attention_math
        multi_head_attention _scaled_dot_product_attention_math_for_mps)"},
    {OperatorKind::kOther, Family::kSoftmax, "softmax log_softmax"},
    {OperatorKind::kOther, Family::kNorm, R"(
        layer_norm group_norm batch_norm _batch_norm_impl_index instance_norm rms_norm
        batch_norm_with_update)"},
    {OperatorKind::kOther, Family::kReduction, R"(
        cross_entropy nll_loss nll_loss_nd max_pool2d max_pool1d adaptive_avg_pool2d
        avg_pool1d)"},
    {OperatorKind::kOther, Family::kPointwise, R"(
        zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full
        scalar_tensor pad diff lift square_ sub_scalar)"},
    {OperatorKind::kOther, Family::kCopy, "stack hstack vstack concat concatenate tile meshgrid"},
    {OperatorKind::kOther, Family::kRandom, "rand randn randint rand_like randn_like randint_like"},
    {OperatorKind::kOther, Family::kIndexing, "argsort index_select_backward"},
};

std::unordered_map<std::string_view, OperatorFacts> MakeTable() {
  std::unordered_map<std::string_view, OperatorFacts> table;
  for (const List& list : kLists) {
    std::string_view words = list.words;
    while (true) {
      size_t begin = words.find_first_not_of(" \n");
      if (begin == std::string_view::npos) break;
      size_t end = std::min(words.find_first_of(" \n", begin), words.size());
      std::string_view word = words.substr(begin, end - begin);
      table.emplace(word, OperatorFacts{word, list.kind, list.family});
      words.remove_prefix(end);
    }
  }
  return table;
}

}  // namespace

const OperatorFacts* FindOperator(std::string_view word) {
  static const std::unordered_map<std::string_view, OperatorFacts> kTable = MakeTable();
  auto found = kTable.find(word);
  return found == kTable.end() ? nullptr : &found->second;
}

}  // namespace perfgate
