// Names of fused attention and of convolutions, as seen in traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "kernel/kernel.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;

constexpr TensorCore kYes = TensorCore::kYes;
constexpr TensorCore kNo = TensorCore::kNo;
constexpr TensorCore kUnknown = TensorCore::kUnknown;

struct AttentionRow {
  int row;  // of the list of real names; 0: another one
  std::string_view name;
  bool backward;
  std::string_view library, arch, dtype, tile;
  int split_k;
  TensorCore tensor_core;
};

// clang-format off
constexpr AttentionRow kAttention[] = {
    // The memory-efficient kernels
    {48, "fmha_cutlassF_bf16_aligned_64x64_rf_sm80", false, "fmha_cutlass", "sm80", "bf16", "64x64", 0, kYes},
    {49, "fmha_cutlassF_bf16_aligned_64x128_rf_sm80", false, "fmha_cutlass", "sm80", "bf16", "64x128", 0, kYes},
    {50, "fmha_cutlassB_bf16_aligned_128x128_k128_sm80", true, "fmha_cutlass", "sm80", "bf16", "128x128", 0, kYes},
    {0, "fmha_cutlassB_f16_aligned_64x64_k64_dropout_sm75", true, "fmha_cutlass", "sm75", "fp16", "64x64", 0, kYes},
    {0, "fmha_cutlassF_f32_aligned_64x64_rf_sm80", false, "fmha_cutlass", "sm80", "fp32", "64x64", 0, kUnknown},
    {0, "void attention_kernel_batched_impl<AttentionKernel<cutlass::bfloat16_t, cutlass::arch::Sm80, true, 64, 64, 64, true, true> >(int)", false, "fmha_cutlass", "", "bf16", "", 0, kUnknown},
    // FlashAttention 2, 3 and 4
    {51, "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, false, false>(pytorch_flash::Flash_fwd_params)", false, "flash", "", "bf16", "128x128x64", 0, kYes},
    {0, "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<flash::Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, cutlass::half_t> >(flash::Flash_bwd_params)", true, "flash", "", "fp16", "64x128x128", 0, kYes},
    {52, "void pytorch_flash::flash_fwd_splitkv_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 64, 256, 4, false, false, cutlass::half_t> >(pytorch_flash::Flash_fwd_params)", false, "flash", "", "fp16", "64x256x64", 1, kYes},
    {53, "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<176>, cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::Sm90> > > >(int)", false, "flash", "sm90", "bf16", "", 0, kYes},
    {53, "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnBwdSm90<flash::CollectiveMainloopBwdSm90<2, cutlass::half_t> > > >(int)", true, "flash", "sm90", "fp16", "", 0, kYes},
    {0, "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__tensorptrbf16gmemalign16", false, "flash", "", "", "", 0, kYes},
    // cuDNN: "f16" is said of bf16 too
    {54, "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_kernel0_0", false, "cudnn", "sm80", "", "128x64x64", 0, kYes},
    {55, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0", false, "cudnn", "sm90", "", "64x128x128", 0, kYes},
    {56, "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_cga1x1x1_kernel0_0", true, "cudnn", "sm90", "", "64x64x128", 0, kYes},
    {57, "cudnn_generated_fort_native_sdpa_sm100_flash_fprop_f16_knob_1_128x128x128_4x1x1_cga1x1x1_kernel0_0", false, "cudnn", "sm100", "", "128x128x128", 0, kYes},
    {0, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_f8_knob_3_128x128x128_4x1x1_cga1x1x1_kernel0_0", false, "cudnn", "sm90", "fp8", "128x128x128", 0, kYes},
    // ROCm
    {0, "attn_fwd.kd", false, "aotriton", "", "", "", 0, kUnknown},
    {0, "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<FmhaFwdBf16> > >(int)", false, "ck", "", "bf16", "", 0, kYes},
    {0, "void ck_tile::kentry<256, 1, ck_tile::FmhaBwdDQDKDVKernel<ck_tile::TileFmhaTraits<FmhaBwdFp16> > >(int)", true, "ck", "", "fp16", "", 0, kYes},
};
// clang-format on

TEST(AttentionNames, SayDirectionTypeTileAndSplit) {
  for (const AttentionRow& row : kAttention) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, Family::kAttention);
    EXPECT_THAT(info.ops, ElementsAre(row.backward ? "scaled_dot_product_attention_backward"
                                                   : "scaled_dot_product_attention"));
    EXPECT_EQ(info.library, row.library);
    EXPECT_EQ(info.arch, row.arch);
    EXPECT_EQ(info.in_dtype, row.dtype);
    EXPECT_EQ(info.tile, row.tile);
    EXPECT_EQ(info.split_k, row.split_k);
    EXPECT_EQ(info.tensor_core, row.tensor_core);
    EXPECT_FALSE(info.opaque);
  }
}

TEST(AttentionNames, PartsThatGatherAreNoAttentionOfTheirOwn) {
  for (std::string_view name :
       {"void pytorch_flash::flash_fwd_splitkv_combine_kernel<"  // row 52
        "pytorch_flash::Flash_fwd_kernel_traits<64, 64, 256, 4, false, false, cutlass::half_t>, 4, "
        "1, true>(pytorch_flash::Flash_fwd_params)",
        "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64> >(int)",
        "void pytorch_flash::flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<64> >(int)",
        "void ck_tile::kentry<64, 2, ck_tile::FmhaBwdOGradDotOKernel<FmhaBwdFp16> >(int)"}) {
    EXPECT_THAT(DecodeKernelName(name).ops, ElementsAre("attention_part")) << name;
    EXPECT_EQ(DecodeKernelName(name).family, Family::kReduction) << name;
  }
}

struct ConvRow {
  int row;
  std::string_view name;
  bool backward;
  std::string_view library, arch, in, out, layout, tile;
  TensorCore tensor_core;
};

// clang-format off
constexpr ConvRow kConvolutions[] = {
    {58, "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn", false, "xmma", "sm90", "bf16", "bf16", "nhwckrsc", "128x128x64", kYes},
    {59, "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8>(T::Params)", false, "cutlass2", "", "bf16", "bf16", "nhwc", "256x64", kYes},
    {0, "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816wgrad_analytic_f16_64x64_32x6_nhwc_align8>(T::Params)", true, "cutlass2", "", "fp16", "fp16", "nhwc", "64x64", kYes},
    {0, "sm80_xmma_dgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn", true, "xmma", "sm80", "tf32", "fp32", "nhwckrsc", "128x128x16", kYes},
    {0, "sm80_xmma_depthwise_convolution_wgrad_tiling_f16f16_f32f32_f32_nhwckrsc_nhwc_tilesize8x8x64_stage3_warpsize1x1x1_g64_execute_kernel__5x_cudnn", true, "xmma", "sm80", "fp16", "fp16", "nhwckrsc", "8x8x64", kYes},
    {0, "turing_fp16_s1688cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", false, "cudnn", "sm75", "fp16", "fp16", "tn", "256x128", kYes},
    {0, "volta_scudnn_128x64_relu_interior_nn_v1", false, "cudnn", "sm70", "fp32", "fp32", "nn", "128x64", kNo},
    {0, "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int)", false, "cudnn", "", "", "", "", "", kUnknown},
    {0, "void cudnn::cnn::wgrad2d_grouped_direct_kernel<false, true, int, float, float, float>(int)", true, "cudnn", "", "", "", "", "", kUnknown},
    {0, "void cudnn::winograd_nonfused::winogradForwardFilter4x4<float, float>(int)", false, "cudnn", "", "fp32", "fp32", "", "", kUnknown},
};
// clang-format on

TEST(ConvolutionNames, StayApartCanonicallyFromAttentionToo) {
  std::set<std::string> canonical;
  for (const ConvRow& row : kConvolutions) canonical.insert(DecodeKernelName(row.name).canonical);
  for (const AttentionRow& row : kAttention) canonical.insert(DecodeKernelName(row.name).canonical);
  EXPECT_EQ(canonical.size(), std::size(kConvolutions) + std::size(kAttention));
}

TEST(ConvolutionNames, SayDirectionTypesLayoutAndTile) {
  for (const ConvRow& row : kConvolutions) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, Family::kConv);
    EXPECT_THAT(info.ops, ElementsAre(row.backward ? "convolution_backward" : "convolution"));
    EXPECT_EQ(info.library, row.library);
    EXPECT_EQ(info.arch, row.arch);
    EXPECT_EQ(info.in_dtype, row.in);
    EXPECT_EQ(info.out_dtype, row.out);
    EXPECT_EQ(info.layout, row.layout);
    EXPECT_EQ(info.tile, row.tile);
    EXPECT_EQ(info.tensor_core, row.tensor_core);
    EXPECT_FALSE(info.opaque);
  }
}

}  // namespace
}  // namespace perfgate
