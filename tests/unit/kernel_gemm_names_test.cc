// GEMM names of cuBLAS, CUTLASS and their relatives, as seen in traces.
#include <gtest/gtest.h>

#include "kernel/kernel.h"

namespace perfgate {
namespace {

struct Row {
  std::string_view name;
  Family family;
  std::string_view library, arch, in, out, layout, tile;
  int stages, split_k;
  std::string_view epilogue;
  TensorCore tensor_core;
};

constexpr TensorCore kYes = TensorCore::kYes;
constexpr TensorCore kNo = TensorCore::kNo;
constexpr Family kGemm = Family::kGemm;

// clang-format off
constexpr Row kRows[] = {
    // cuBLAS before nvjet
    {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", kGemm, "cublas", "sm80", "bf16", "bf16", "nn", "128x256", 3, 0, "", kYes},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", kGemm, "cublas", "sm80", "bf16", "bf16", "tn", "128x128", 5, 0, "", kYes},
    {"ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn", kGemm, "cublas", "sm80", "bf16", "bf16", "nn", "64x64", 5, 0, "", kYes},
    {"ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_tn", kGemm, "cublas", "sm80", "bf16", "bf16", "tn", "256x64", 0, 0, "", kYes},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn", kGemm, "cublas", "sm80", "bf16", "bf16", "nn", "128x128", 3, 0, "", kYes},
    {"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn", kGemm, "cublas", "sm80", "fp16", "fp16", "tn", "64x64", 6, 0, "", kYes},
    {"ampere_s16816gemm_bf16_128x64_ldg8_stages_32x6_nn", kGemm, "cublas", "sm80", "bf16", "fp32", "nn", "128x64", 6, 0, "", kYes},
    {"ampere_sgemm_128x128_nn", kGemm, "cublas", "sm80", "fp32", "fp32", "nn", "128x128", 0, 0, "", kNo},
    {"ampere_sgemm_64x32_sliced1x4_nn", kGemm, "cublas", "sm80", "fp32", "fp32", "nn", "64x32", 0, 0, "", kNo},
    {"volta_h884gemm_256x128_ldg8_tn", kGemm, "cublas", "sm70", "", "", "tn", "256x128", 0, 0, "", kYes},
    // CUTLASS 2
    {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8", kGemm, "cutlass2", "sm80", "bf16", "bf16", "tn", "32x32", 1, 0, "", kYes},
    {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)", kGemm, "cutlass2", "sm80", "bf16", "bf16", "tn", "32x32", 2, 0, "", kYes},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_nn_align8>(T::Params)", kGemm, "cutlass2", "sm80", "bf16", "bf16", "nn", "256x64", 4, 0, "", kYes},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>(T1::Params)", kGemm, "cutlass2", "sm80", "tf32", "", "tn", "128x64", 6, 0, "", kYes},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T1::Params)", kGemm, "cutlass2", "sm80", "fp32", "fp32", "tn", "64x64", 5, 0, "", kNo},
    {"cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", kGemm, "cutlass2", "sm75", "bf16", "bf16", "nn", "256x128", 0, 0, "", kYes},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8>(T::Params)", Family::kConv, "cutlass2", "", "bf16", "bf16", "nhwc", "256x64", 4, 0, "", kYes},
    // CUTLASS 3
    {"cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_void_f16_128x256x64_2x1x1_0_tnn_align8_warpspecialized_cooperative_epi_tma", kGemm, "cutlass3", "sm90", "fp16", "fp16", "tnn", "128x256x64", 0, 0, "none", kYes},
    {"cutlass3x_sm90_tensorop_gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnt_align8_warpspecialized_cooperative_epi_tma", kGemm, "cutlass3", "sm90", "bf16", "bf16", "tnt", "128x128x64", 0, 0, "none", kYes},
    {"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x128x16_1x1x1_3_tnn_align1_bias_f32_relu", kGemm, "cutlass3", "sm100", "fp32", "fp32", "tnn", "128x128x16", 3, 0, "bias_relu", kNo},
    // xmma
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel", kGemm, "xmma", "sm80", "fp16", "fp16", "tn", "96x128x32", 4, 0, "", kYes},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x16_stage3_warpsize2x2x1_ff_main_v1", kGemm, "xmma", "sm80", "fp32", "fp32", "tn", "32x32x16", 3, 0, "", kNo},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", kGemm, "xmma", "sm80", "fp32", "fp32", "tn", "128x128x8", 3, 0, "", kNo},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", kGemm, "xmma", "sm90", "bf16", "bf16", "tn", "256x128x64", 0, 0, "", kYes},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", kGemm, "xmma", "sm90", "tf32", "fp32", "tn", "128x128x32", 0, 0, "", kYes},
    {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn", Family::kConv, "xmma", "sm90", "bf16", "bf16", "nhwckrsc", "128x128x64", 0, 0, "", kYes},
    // nvjet
    {"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_bias_TNN", kGemm, "nvjet", "", "bf16", "bf16", "TNN", "128x256", 4, 0, "bias", kYes},
    {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", kGemm, "nvjet", "", "fp16", "fp16", "NNT", "256x128", 4, 0, "none", kYes},
    {"nvjet_sm90_tst_192x8_64x8_4x1_v_bz_splitK_bias_TNT", kGemm, "nvjet", "sm90", "bf16", "bf16", "TNT", "192x8", 8, 1, "bias", kYes},
    {"nvjet_sm90_tss_64x32_64x16_1x2_h_bz_splitK_TNT", kGemm, "nvjet", "sm90", "bf16", "fp32", "TNT", "64x32", 16, 1, "none", kYes},
    {"nvjet_sm90_qqtst_128x128_128x6_1x2_h_bz_ovscale_TNT", kGemm, "nvjet", "sm90", "fp8_e4m3", "bf16", "TNT", "128x128", 6, 0, "none", kYes},
    {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", kGemm, "nvjet", "", "bf16", "bf16", "TNT", "64x64", 16, 0, "bias", kYes},
    {"nvjet_sm100_tst_256x128_64x5_2x2_2cta_h_bz_TNT", kGemm, "nvjet", "sm100", "bf16", "bf16", "TNT", "256x128", 5, 0, "none", kYes},
    {"nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN", kGemm, "nvjet", "sm120", "bf16", "bf16", "TNNN", "64x64x128", 3, 0, "none", kYes},
    // relatives
    {"bmm_E4m3_E4m3E4m3_Fp32_t128x64x128u2_s6_et64x64_m64x64x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8", kGemm, "tensorrt_llm", "", "fp8_e4m3", "fp8_e4m3", "TN", "128x64x128", 6, 0, "", kYes},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, false, true, true, false, 7, false, cublasGemvParamsEx<int>>(cublasGemvParamsEx<int>)", Family::kGemv, "cublas", "", "bf16", "bf16", "", "", 0, 0, "", kNo},
    {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 2, 2, false, false, cublasGemvParamsEx<int> >(cublasGemvParamsEx<int>, float, float)", Family::kGemv, "cublas", "", "fp32", "fp32", "", "", 0, 0, "", kNo},
    {"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensor>(cublasGemmSmallNParams)", kGemm, "cublas", "", "fp32", "", "", "", 0, 0, "", kNo},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, false>(cublasLt::cublasSplitKParams<float>)", Family::kGemmAux, "cublas", "", "fp32", "bf16", "", "", 0, 0, "", TensorCore::kUnknown},
};
// clang-format on

TEST(GemmNames, SayTypesLayoutTileStagesSplitAndEpilogue) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, row.family);
    EXPECT_EQ(info.library, row.library);
    EXPECT_EQ(info.arch, row.arch);
    EXPECT_EQ(info.in_dtype, row.in);
    EXPECT_EQ(info.out_dtype, row.out);
    EXPECT_EQ(info.layout, row.layout);
    EXPECT_EQ(info.tile, row.tile);
    EXPECT_EQ(info.stages, row.stages);
    EXPECT_EQ(info.split_k, row.split_k);
    EXPECT_EQ(info.epilogue, row.epilogue);
    EXPECT_EQ(info.tensor_core, row.tensor_core);
    EXPECT_FALSE(info.opaque);
    EXPECT_FALSE(info.short_name.empty());
    EXPECT_LE(info.short_name.size(), 60u);
  }
}

TEST(GemmNames, ReluInAnOldNameIsACapabilityNotAFusion) {
  EXPECT_EQ(
      DecodeKernelName("ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn").epilogue,
      "");
}

TEST(GemmNames, BiasMakesItAddmm) {
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tst_64x64_64x13_2x1_v_bz_bias_TNT").ops,
            std::vector<std::string>{"addmm"});
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tst_64x64_64x13_2x1_v_bz_TNT").ops,
            std::vector<std::string>{"mm"});
}

TEST(GemmNames, ShortNamesAreForTables) {
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT").short_name,
            "nvjet 128x128 bias");
  EXPECT_EQ(DecodeKernelName("nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT").short_name,
            "nvjet 256x128 fp16");
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tss_64x32_64x16_1x2_h_bz_splitK_TNT").short_name,
            "nvjet 64x32 splitK bf16->fp32");
  EXPECT_EQ(DecodeKernelName("void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T)")
                .short_name,
            "cutlass 64x64 simt fp32");
}

}  // namespace
}  // namespace perfgate
