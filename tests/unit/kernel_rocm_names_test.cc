// Names of ROCm's libraries, as seen in traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;

constexpr TensorCore kYes = TensorCore::kYes;
constexpr TensorCore kNo = TensorCore::kNo;
constexpr TensorCore kUnknown = TensorCore::kUnknown;

struct TensileRow {
  std::string_view name;
  std::string_view arch, in, out, layout, tile;
  int split_k;
  TensorCore tensor_core;
};

// clang-format off
constexpr TensileRow kTensile[] = {
    {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0_GSU1_ISA90a_IU1_WG16_8_1", "gfx90a", "fp16", "fp16", "tn", "128x128x32", 0, kYes},
    {"Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_GSUAMB_ISA942_SK0_WG32_8_1", "gfx942", "bf16", "bf16", "nt", "256x192x64", 0, kYes},
    {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_GSUAMB_ISA942_SK0_WG32_8_1", "gfx942", "bf16", "bf16", "tn", "256x128x64", 0, kYes},
    {"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN_GSUAMB_ISA942_SK0_WG16_4_4", "gfx942", "fp32", "fp32", "nn", "16x16x128", 0, kYes},
    {"Cijk_Ailk_Bljk_SB_MT16x16x16_SE_AF0EM1_BL0_GRVW2_GSU1_ISA000_K1_KLS_TT2_2_WG8_8_1_WGM1", "", "fp32", "fp32", "nn", "16x16x16", 0, kNo},
    {"Cijk_Ailk_Bljk_HSS_BH_MT96x96x32_MI16x16x1_GSU8_ISA942", "gfx942", "fp16", "fp32", "nn", "96x96x32", 8, kYes},
    {"Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_MT256x256x128_MI16x16x1_SN_ISA942_SK3", "gfx942", "fp8_e4m3", "bf16", "tn", "256x256x128", 1, kYes},
    {"Cijk_Alik_Bljk_F8B8BS_BH_MT64x64x128_MI32x32x1_ISA950.kd", "gfx950", "fp8_e4m3", "bf16", "tn", "64x64x128", 0, kYes},
    {"Cijk_Alik_Bljk_I8II_BH_MT128x128x64_MI32x32x1_ISA942", "gfx942", "int8", "int32", "tn", "128x128x64", 0, kYes},
    {"Custom_Cijk_Ailk_Bljk_F8NH_HHS_BH_Bias_AS_SAB_SAV_shortname0_gfx942", "", "fp8_e4m3", "fp16", "nn", "", 0, kUnknown},
};
// clang-format on

TEST(TensileNames, SayTypesLayoutTileAndSplit) {
  for (const TensileRow& row : kTensile) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, Family::kGemm);
    EXPECT_EQ(info.library, "tensile");
    EXPECT_EQ(info.arch, row.arch);
    EXPECT_EQ(info.in_dtype, row.in);
    EXPECT_EQ(info.out_dtype, row.out);
    EXPECT_EQ(info.layout, row.layout);
    EXPECT_EQ(info.tile, row.tile);
    EXPECT_EQ(info.split_k, row.split_k);
    EXPECT_EQ(info.tensor_core, row.tensor_core);
    EXPECT_EQ(info.epilogue, "");  // "Bias" is what the kernel can do
  }
}

TEST(TensileNames, WhatScalesOrSumsIsNoGemm) {
  for (std::string_view name : {"Cijk_SB_GB.kd", "Cijk_BBS_Bias_AS_SAV_PostGSU8_VW4"}) {
    EXPECT_EQ(DecodeKernelName(name).family, Family::kGemmAux) << name;
  }
}

TEST(MiopenNames, SayOperatorTypeLayoutAndTile) {
  KernelInfo wrw = DecodeKernelName(
      "igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt64x32x32_wt16x16x16_ws1x1_wr2x1_ta1x4x1x2_1x8x1x32_"
      "tb1x4x1x1_1x8x1x32_vs1_gkgs.kd");
  EXPECT_EQ(wrw.family, Family::kConv);
  EXPECT_THAT(wrw.ops, ElementsAre("convolution_backward"));
  EXPECT_EQ(wrw.in_dtype, "bf16");
  EXPECT_EQ(wrw.layout, "nhwc");
  EXPECT_EQ(wrw.tile, "64x32x32");
  EXPECT_EQ(wrw.tensor_core, kYes);

  KernelInfo winograd = DecodeKernelName("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1");
  EXPECT_THAT(winograd.ops, ElementsAre("convolution"));
  EXPECT_EQ(winograd.in_dtype, "fp32");
  EXPECT_EQ(winograd.tensor_core, kUnknown);

  struct Case {
    std::string_view name, word;
    Family family;
  };
  for (const Case& c : {Case{"MIOpenBatchNormFwdTrainSpatial", "batch_norm", Family::kNorm},
                        Case{"MIOpenBatchNormBwdSpatial.kd", "batch_norm_backward", Family::kNorm},
                        Case{"mloPoolingG", "pool", Family::kReduction},
                        Case{"batched_transpose_32x32_half", "copy", Family::kCopy},
                        Case{"Im2Col", "im2col", Family::kIndexing},
                        Case{"gridwise_convolution_implicit_gemm_v4r4_nchw_kcyx_nkhw",
                             "convolution", Family::kConv}}) {
    EXPECT_THAT(DecodeKernelName(c.name).ops, ElementsAre(std::string(c.word))) << c.name;
    EXPECT_EQ(DecodeKernelName(c.name).family, c.family) << c.name;
    EXPECT_EQ(DecodeKernelName(c.name).library, "miopen") << c.name;
  }
}

TEST(ComposableKernelNames, SayTypesLayoutAndTile) {
  KernelInfo gemm = DecodeKernelName(
      "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemmMultiD_ABScale_xdl_cshuffle_v3<"
      "ck::tensor_layout::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::Tuple<>, "
      "ck::tensor_layout::gemm::RowMajor, ck::f8_fnuz_t, ck::f8_fnuz_t, float, float, "
      "ck::Tuple<>, unsigned short, ck::tensor_operation::element_wise::PassThrough, "
      "ck::tensor_operation::element_wise::PassThrough, "
      "ck::tensor_operation::element_wise::PassThrough, "
      "(ck::tensor_operation::device::GemmSpecialization)2, 256, 1, 128, 128, 16, 128, 256, 16, "
      "16, 16, 16, 1, 2, ck::Sequence<16, 16, 1> >, true, (ck::InMemoryDataOperationEnum)0, 2, "
      "(ck::TailNumber)10>(int)");
  EXPECT_EQ(gemm.family, Family::kGemm);
  EXPECT_EQ(gemm.library, "ck");
  EXPECT_EQ(gemm.in_dtype, "fp8_e4m3");
  EXPECT_EQ(gemm.out_dtype, "bf16");
  EXPECT_EQ(gemm.layout, "tn");
  EXPECT_EQ(gemm.tile, "16x128x256");
  EXPECT_EQ(gemm.tensor_core, kYes);
}

// Kineto leaves names above 1024 characters mangled.
TEST(ComposableKernelNames, AreReadMangled) {
  KernelInfo conv = DecodeKernelName(ReadFile(PERFGATE_TEST_DATA "/names/ck_grouped_conv_fwd.txt"));
  EXPECT_EQ(conv.family, Family::kConv);
  EXPECT_THAT(conv.ops, ElementsAre("convolution"));
  EXPECT_EQ(conv.in_dtype, "bf16");
  EXPECT_EQ(conv.out_dtype, "bf16");
  EXPECT_EQ(conv.tile, "16x32x64");
  EXPECT_EQ(conv.layout, "tn");
  EXPECT_EQ(conv.tensor_core, kYes);
  EXPECT_TRUE(conv.canonical.starts_with(
      "ck::tensor_operation::device::{anon}::kernel_grouped_conv_fwd_xdl_cshuffle_v3<ck::"
      "GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::gemm::RowMajor,"))
      << conv.canonical.substr(0, 200);

  KernelInfo wrw = DecodeKernelName(ReadFile(PERFGATE_TEST_DATA "/names/ck_conv_bwd_weight.txt"));
  EXPECT_THAT(wrw.ops, ElementsAre("convolution_backward"));
  EXPECT_EQ(wrw.in_dtype, "bf16");
}

}  // namespace
}  // namespace perfgate
