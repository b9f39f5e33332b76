// GEMM names of cuBLAS, cuBLASLt, CUTLASS and their relatives, as seen in traces.
#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "kernel/kernel.h"

namespace perfgate {
namespace {

constexpr TensorCore kYes = TensorCore::kYes;
constexpr TensorCore kNo = TensorCore::kNo;
constexpr TensorCore kUnknown = TensorCore::kUnknown;

struct GemmRow {
  int row;  // of the list of real names; 0: another one
  std::string_view name;
  std::string_view library, arch, in, out, layout, tile;
  int stages, split_k;
  std::string_view epilogue;
  TensorCore tensor_core;
};

// clang-format off
constexpr GemmRow kGemms[] = {
    // cuBLAS before nvjet
    {1, "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", "cublas", "sm80", "bf16", "bf16", "nn", "128x256", 3, 0, "", kYes},
    {2, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "cublas", "sm80", "bf16", "bf16", "tn", "128x128", 5, 0, "", kYes},
    {3, "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "cublas", "sm80", "bf16", "bf16", "tn", "128x256", 3, 0, "", kYes},
    {4, "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn", "cublas", "sm80", "bf16", "bf16", "nn", "64x64", 5, 0, "", kYes},
    {5, "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_tn", "cublas", "sm80", "bf16", "bf16", "tn", "256x64", 0, 0, "", kYes},
    {6, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nt", "cublas", "sm80", "bf16", "bf16", "nt", "128x64", 0, 0, "", kYes},
    {7, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn", "cublas", "sm80", "bf16", "bf16", "nn", "128x128", 3, 0, "", kYes},
    {8, "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn", "cublas", "sm80", "fp16", "fp16", "tn", "64x64", 6, 0, "", kYes},
    {9, "ampere_s16816gemm_bf16_128x64_ldg8_stages_32x6_nn", "cublas", "sm80", "bf16", "fp32", "nn", "128x64", 6, 0, "", kYes},
    {10, "ampere_sgemm_128x128_nn", "cublas", "sm80", "fp32", "fp32", "nn", "128x128", 0, 0, "", kNo},
    {11, "ampere_sgemm_64x32_sliced1x4_nn", "cublas", "sm80", "fp32", "fp32", "nn", "64x32", 0, 0, "", kNo},
    {0, "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "cublas", "sm70", "fp16", "fp16", "nn", "128x64", 0, 0, "", kYes},
    {0, "volta_h884gemm_256x128_ldg8_tn", "cublas", "sm70", "fp16", "fp16", "tn", "256x128", 0, 0, "", kYes},
    {0, "ampere_i16832gemm_int8_128x128_ldg16_stages_64x3_tn", "cublas", "sm80", "int8", "int32", "tn", "128x128", 3, 0, "", kYes},
    {0, "volta_dgemm_64x64_nn", "cublas", "sm70", "fp64", "fp64", "nn", "64x64", 0, 0, "", kNo},
    // CUTLASS 2: result and operands as far as they differ from the accumulator
    {12, "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8", "cutlass2", "sm80", "bf16", "bf16", "tn", "32x32", 1, 0, "", kYes},
    {13, "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)", "cutlass2", "sm80", "bf16", "bf16", "tn", "32x32", 2, 0, "", kYes},
    {14, "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_nn_align8>(T::Params)", "cutlass2", "sm80", "bf16", "bf16", "nn", "256x64", 4, 0, "", kYes},
    {15, "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(T::Params)", "cutlass2", "sm80", "bf16", "bf16", "tn", "256x128", 3, 0, "", kYes},
    {16, "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>(T1::Params)", "cutlass2", "sm80", "tf32", "fp32", "tn", "128x64", 6, 0, "", kYes},
    {17, "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T1::Params)", "cutlass2", "sm80", "fp32", "fp32", "tn", "64x64", 5, 0, "", kNo},
    {18, "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", "cutlass2", "sm75", "bf16", "bf16", "nn", "256x128", 0, 0, "", kYes},
    {0, "cutlass_80_wmma_tensorop_s161616gemm_bf16_32x32_64x1_tn_align8", "cutlass2", "sm80", "bf16", "fp32", "tn", "32x32", 1, 0, "", kYes},
    {0, "cutlass_80_tensorop_i16832gemm_s8_256x128_128x3_tn_align16", "cutlass2", "sm80", "int8", "int32", "tn", "256x128", 3, 0, "", kYes},
    {0, "cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", "cutlass2", "sm80", "fp64", "fp64", "nn", "64x64", 4, 0, "", kYes},
    {0, "cutlass_80_tensorop_f16_s16816gemm_f16_grouped_128x128_32x4_nn_align8", "cutlass2", "sm80", "fp16", "fp16", "nn", "128x128", 4, 0, "", kYes},
    // xmma
    {19, "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel", "xmma", "sm80", "fp16", "fp16", "tn", "96x128x32", 4, 0, "", kYes},
    {20, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x16_stage3_warpsize2x2x1_ff_main_v1", "xmma", "sm80", "fp32", "fp32", "tn", "32x32x16", 3, 0, "", kNo},
    {0, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "xmma", "sm80", "fp32", "fp32", "tn", "128x128x8", 3, 0, "", kNo},
    {0, "sm90_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x128_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "xmma", "sm90", "int8", "int8", "tn", "128x128x128", 0, 0, "", kYes},
    {0, "sm90_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize128x128x128_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "xmma", "sm90", "int8", "int32", "tn", "128x128x128", 0, 0, "", kYes},
    {21, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "xmma", "sm90", "bf16", "bf16", "tn", "128x128x64", 0, 0, "", kYes},
    {22, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "xmma", "sm90", "bf16", "bf16", "tn", "256x128x64", 0, 0, "", kYes},
    {23, "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "xmma", "sm90", "tf32", "fp32", "tn", "128x128x32", 0, 0, "", kYes},
    // nvjet, as CUDA 12 and CUDA 13 name it
    {24, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_bias_TNN", "nvjet", "", "bf16", "bf16", "TNN", "128x256", 4, 0, "bias", kYes},
    {25, "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet", "", "fp16", "fp16", "NNT", "256x128", 4, 0, "none", kYes},
    {26, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", "nvjet", "sm90", "bf16", "bf16", "TNT", "256x128", 4, 0, "bias", kYes},
    {27, "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT", "nvjet", "sm90", "bf16", "bf16", "NNT", "256x128", 4, 0, "bias", kYes},
    {27, "nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NTN", "nvjet", "sm90", "bf16", "bf16", "NTN", "192x192", 3, 0, "none", kYes},
    {28, "nvjet_sm90_tst_192x8_64x8_4x1_v_bz_splitK_bias_TNT", "nvjet", "sm90", "bf16", "bf16", "TNT", "192x8", 8, 1, "bias", kYes},
    {29, "nvjet_sm90_tss_64x32_64x16_1x2_h_bz_splitK_TNT", "nvjet", "sm90", "bf16", "fp32", "TNT", "64x32", 16, 1, "none", kYes},
    {30, "nvjet_hss_64x8_64x16_1x1_v_bz_splitK_NNT", "nvjet", "", "fp16", "fp32", "NNT", "64x8", 16, 1, "none", kYes},
    {30, "nvjet_sm90_hss_64x8_64x16_1x1_h_bz_splitK_NNT", "nvjet", "sm90", "fp16", "fp32", "NNT", "64x8", 16, 1, "none", kYes},
    {31, "nvjet_sm90_tst_256x160_64x4_1x2_h_bz_coopA_TNT", "nvjet", "sm90", "bf16", "bf16", "TNT", "256x160", 4, 0, "none", kYes},
    {32, "nvjet_sm90_qqtst_128x128_128x6_1x2_h_bz_ovscale_TNT", "nvjet", "sm90", "fp8_e4m3", "bf16", "TNT", "128x128", 6, 0, "none", kYes},
    {33, "nvjet_sm90_hss_320x128", "nvjet", "sm90", "fp16", "fp32", "", "320x128", 0, 0, "", kYes},
    {0, "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_gelubias_TNN", "nvjet", "sm90", "bf16", "bf16", "TNN", "128x256", 4, 0, "bias_gelu", kYes},
    {0, "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_reluauxbias_TNN", "nvjet", "sm90", "bf16", "bf16", "TNN", "128x256", 4, 0, "bias_relu", kYes},
    {0, "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_geluaux_TNN", "nvjet", "sm90", "bf16", "bf16", "TNN", "128x256", 4, 0, "gelu", kYes},
    // CUTLASS 3
    {34, "cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_void_f16_128x256x64_2x1x1_0_tnn_align8_warpspecialized_cooperative_epi_tma", "cutlass3", "sm90", "fp16", "fp16", "tnn", "128x256x64", 0, 0, "none", kYes},
    {35, "cutlass3x_sm90_tensorop_gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnt_align8_warpspecialized_cooperative_epi_tma", "cutlass3", "sm90", "bf16", "bf16", "tnt", "128x128x64", 0, 0, "none", kYes},
    {0, "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cute::tuple<cute::C<64>, cute::C<128>, cute::C<128> >, cutlass::float_e4m3_t, cute::tuple<long, cute::C<1>, long>, cutlass::float_e4m3_t>, void> > >(int)", "cutlass3", "sm90", "fp8_e4m3", "", "", "64x128x128", 4, 0, "", kYes},
    // Blackwell
    {36, "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "nvjet", "", "bf16", "bf16", "TNT", "64x64", 16, 0, "bias", kYes},
    {37, "nvjet_sm100_tst_256x128_64x5_2x2_2cta_h_bz_TNT", "nvjet", "sm100", "bf16", "bf16", "TNT", "256x128", 5, 0, "none", kYes},
    {38, "nvjet_sm100_tst_64x8_64x16_2x4_h_bz_splitK_TNT", "nvjet", "sm100", "bf16", "bf16", "TNT", "64x8", 16, 1, "none", kYes},
    {39, "nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT", "nvjet", "sm100", "fp8_e4m3", "bf16", "TNT", "128x256", 6, 0, "bias", kYes},
    {40, "nvjet_sm103_hsh_64x8_64x16_1x1_h_bz_splitK_NNT", "nvjet", "sm103", "fp16", "fp16", "NNT", "64x8", 16, 1, "none", kYes},
    {41, "nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN", "nvjet", "sm120", "bf16", "bf16", "TNNN", "64x64x128", 3, 0, "none", kYes},
    {42, "cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x128x16_1x1x1_3_tnn_align1_bias_f32_relu", "cutlass3", "sm100", "fp32", "fp32", "tnn", "128x128x16", 3, 0, "bias_relu", kNo},
    {43, "bmm_E4m3_E4m3E4m3_Fp32_t128x64x128u2_s6_et64x64_m64x64x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8", "tensorrt_llm", "", "fp8_e4m3", "fp8_e4m3", "TN", "128x64x128", 6, 0, "", kYes},
    // small matrices
    {47, "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensor>(cublasGemmSmallNParams)", "cublas", "", "fp32", "", "", "", 0, 0, "", kNo},
    {47, "void gemmk1_kernel<int, float, 256, 5, false, false, false, false, cublasGemvTensorStridedBatched<float const>, float>(int)", "cublas", "", "fp32", "", "", "", 0, 0, "", kNo},
};

struct OtherRow {
  int row;
  std::string_view name;
  Family family;
  std::string_view in, out;
  TensorCore tensor_core;
};

constexpr OtherRow kOthers[] = {
    {0, "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage6_warpsize2x2x1_tensor16x8x16_execute_split_k_kernel__5x_cublas", Family::kGemmAux, "fp16", "fp16", kUnknown},
    {0, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_split_k_kernel__5x_cublas", Family::kGemmAux, "fp32", "fp32", kUnknown},
    {44, "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, false>(cublasLt::cublasSplitKParams<float>)", Family::kGemmAux, "fp32", "bf16", kUnknown},
    {45, "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, false, true, true, false, 7, false, cublasGemvParamsEx<int>>(cublasGemvParamsEx<int>)", Family::kGemv, "bf16", "bf16", kNo},
    {46, "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 2, 2, false, false, cublasGemvParamsEx<int> >(cublasGemvParamsEx<int>, float, float)", Family::kGemv, "fp32", "fp32", kNo},
    {47, "void gemvNSP_kernel<float, float, float, 1, 32, 4, 1024, cublasGemvParamsEx<int> >(int)", Family::kGemv, "fp32", "fp32", kNo},
    {47, "void gemv2N_kernel<int, int, float, float, float, float, 128, 32, 4, 4, 1, false, cublasGemvParamsEx<int> >(int)", Family::kGemv, "fp32", "fp32", kNo},
};
// clang-format on

TEST(GemmNames, SayTypesLayoutTileStagesSplitAndEpilogue) {
  for (const GemmRow& row : kGemms) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, Family::kGemm);
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

TEST(GemmNames, StayApartCanonically) {
  std::set<std::string> canonical;
  for (const GemmRow& row : kGemms) canonical.insert(DecodeKernelName(row.name).canonical);
  for (const OtherRow& row : kOthers) canonical.insert(DecodeKernelName(row.name).canonical);
  EXPECT_EQ(canonical.size(), std::size(kGemms) + std::size(kOthers));
}

TEST(GemmNames, BesideGemmsAreVectorsAndReducers) {
  for (const OtherRow& row : kOthers) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, row.family);
    EXPECT_EQ(info.library, row.name.starts_with("sm80_xmma") ? "xmma" : "cublas");
    EXPECT_EQ(info.in_dtype, row.in);
    EXPECT_EQ(info.out_dtype, row.out);
    EXPECT_EQ(info.tensor_core, row.tensor_core);
    EXPECT_EQ(info.ops.empty(), row.family == Family::kGemmAux);
    EXPECT_FALSE(info.opaque);
  }
}

TEST(GemmNames, ReluInAnOldNameIsACapabilityNotAFusion) {
  for (std::string_view name :
       {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_nn_align8>"
        "(T::Params)"}) {
    EXPECT_EQ(DecodeKernelName(name).epilogue, "") << name;
    EXPECT_EQ(DecodeKernelName(name).ops, std::vector<std::string>{"mm"}) << name;
  }
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
