// Kinds of change, on evidence by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Compares, and checks on the way that every launch is in one place.
Diff Of(std::vector<KernelRow> base, std::vector<KernelRow> head) {
  Evidence from = With(std::move(base));
  Evidence to = With(std::move(head));
  Diff diff = Compare(from, to);
  EXPECT_TRUE(Closes(diff));
  return diff;
}

std::string Fused(std::string_view ops, int number = 0) {
  return "triton_poi_fused_" + std::string(ops) + "_" + std::to_string(number);
}

TEST(Unchanged, RowsUnderAnotherPathOrNumberAreNoChange) {
  Diff diff =
      Of({Row(kGemmBias, "aten::addmm"), Row(Fused("gelu_mul", 0), "triton_poi_fused_gelu_mul_0")},
         {Row(kGemmBias, "aten::linear > aten::addmm", 1, 1100),
          Row(Fused("_unsafe_view_gelu_mul", 7), "triton_poi_fused_gelu_mul_7")});
  EXPECT_THAT(diff.changes, IsEmpty());
  EXPECT_EQ(diff.unchanged_time_ns, 100);
  EXPECT_EQ(diff.kernel_time_ns, 100);
}

TEST(Unchanged, CpuRowsOfAnotherWriterAreNoChange) {
  Diff diff = Of({CpuRow("aoti_torch_cpu_mm_out", "aoti_torch_cpu_mm_out", 3),
                  CpuRow("graph_0_cpp_fused_gelu_mul_0", "")},
                 {CpuRow("aten::mm", "aten::mm", 3), CpuRow("graph_3_cpp_fused_gelu_mul_1", "")});
  EXPECT_THAT(diff.changes, IsEmpty());
}

TEST(FusionSplit, IsTheOnlyChange) {
  Diff diff = Of(
      {Row(kGemm, "aten::mm", 3), Row(Fused("gelu_mul"), "")},
      {Row(kGemm, "aten::linear > aten::mm", 3), Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +1: gelu mul"));
  EXPECT_THAT(diff.changes[0].operators, ElementsAre("aten::gelu", "aten::mul"));
  EXPECT_EQ(diff.changes[0].text,
            "a fused kernel came apart, 2 kernels instead of 1: triton_poi_fused_gelu_mul -> gelu "
            "bf16, mul bf16");
}

TEST(FusionSplit, OnTheCpuIsTheSame) {
  Diff diff = Of({CpuRow("graph_0_cpp_fused_gelu_mul_0", "")},
                 {CpuRow("aten::gelu", "aten::gelu"), CpuRow("aten::mul", "aten::mul")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +1: gelu mul"));
}

TEST(FusionSplit, IsFoundThoughOtherOperatorsCameToo) {
  Diff diff = Of({Row(Fused("gelu_mul"), "")},
                 {Row(kGelu, "aten::gelu", 2), Row(kMul, "aten::mul"), Row(kCat, "aten::cat")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +2: gelu mul", "added +1: cat"));
}

TEST(FusionSplit, IntoTwoFusedKernelsIsOne) {
  Diff diff = Of({Row(Fused("add_gelu_mul_tanh"), "")},
                 {Row(Fused("add_gelu", 0), ""), Row(Fused("mul_tanh", 1), "")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +1: add gelu mul tanh"));
}

TEST(FusionSplit, OfSomeLaunchesTakesOnlyThose) {
  Diff diff = Of({Row(Fused("gelu_mul"), "", 4)},
                 {Row(Fused("gelu_mul"), "", 3), Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul")});
  ASSERT_THAT(Lines(diff), ElementsAre("fusion_split +1: gelu mul"));
  EXPECT_EQ(diff.changes[0].base[0].count, 1);
}

TEST(FusionSplit, IsNotSeenWhereFusionsAreOnlyDrawnInAnotherWay) {
  Diff diff = Of({Row(Fused("add_mul", 0), ""), Row(Fused("exp_tanh", 1), "")},
                 {Row(Fused("add_exp", 0), ""), Row(Fused("mul_tanh", 1), "")});
  EXPECT_EQ(diff.kernel_count, 0);
  for (const Change& change : diff.changes) EXPECT_FALSE(IsRegression(change.kind)) << change.text;
}

TEST(FusionSplit, IsNotSeenWhereAFusionOnlyGrewOrShrank) {
  for (const Diff& diff : {Of({Row(Fused("gelu_mul"), "")}, {Row(Fused("add_gelu_mul"), "")}),
                           Of({Row(Fused("add_gelu_mul"), "")}, {Row(Fused("gelu_mul"), "")})}) {
    EXPECT_THAT(Lines(diff), ElementsAre(HasSubstr("substituted +0")));
  }
}

TEST(FusionLost, OfAKernelKnownByItsNameAlone) {
  Diff diff = Of({Row("geglu_fwd", "")}, {Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_lost +1: gelu mul"));
}

TEST(FusionLost, OfAGemmWithItsActivationIsASplit) {
  Diff diff = Of({Row("triton_tem_fused_addmm_gelu_0", "")},
                 {Row(kGemmBias, "aten::addmm"), Row(kGelu, "aten::gelu")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +1: addmm gelu"));
}

TEST(FusionLost, AnOpaqueKernelForAnotherIsNone) {
  Diff diff = Of({Row(Fused("gelu_mul"), "")}, {Row("geglu_fwd", "")});
  EXPECT_THAT(Lines(diff), ElementsAre("substituted +0: gelu mul"));
}

TEST(FusionGained, IsTheReverse) {
  Diff diff = Of({Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul")}, {Row(Fused("gelu_mul"), "")});
  EXPECT_THAT(Lines(diff), ElementsAre("fused -1: gelu mul"));
  diff = Of({Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul")}, {Row("geglu_fwd", "")});
  EXPECT_THAT(Lines(diff), ElementsAre("fused -1: gelu mul"));
}

TEST(Epilogue, ThatLeftTheGemmIsOneChangeWithItsKernel) {
  Diff diff = Of({Row(kGemmBias, "aten::linear > aten::addmm")},
                 {Row(kGemm, "aten::matmul > aten::mm"), Row(kAdd, "aten::add")});
  EXPECT_THAT(Lines(diff), ElementsAre("epilogue_lost +1: bias"));
  EXPECT_EQ(diff.changes[0].text,
            "the bias left the GEMM's epilogue and is now add bf16: nvjet 128x128 bias -> nvjet "
            "128x128, add bf16");
}

TEST(Epilogue, ThatCameIntoTheGemmIsGained) {
  Diff diff = Of({Row(kGemm, "aten::matmul > aten::mm"), Row(kAdd, "aten::add")},
                 {Row(kGemmBias, "aten::linear > aten::addmm")});
  EXPECT_THAT(Lines(diff), ElementsAre("epilogue_gained -1: bias"));
}

TEST(Epilogue, OnTheCpuIsSeenToo) {
  Diff diff = Of({CpuRow("aten::addmm", "aten::addmm")},
                 {CpuRow("aten::mm", "aten::mm"), CpuRow("aten::add", "aten::add")});
  EXPECT_THAT(Lines(diff), ElementsAre("epilogue_lost +1: bias"));
}

TEST(Epilogue, OfANameThatCannotSayIsNotLost) {
  Diff diff = Of({Row(kGemmBias, "aten::addmm")},
                 {Row("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_"
                      "warpgroupsize1x1x1_kernel__5x_cublas",
                      "aten::addmm")});
  EXPECT_THAT(Lines(diff), ElementsAre("substituted +0: addmm mm"));
}

TEST(TensorCores, LostAreMoreTellingThanTheType) {
  Diff diff = Of({Row(kGemmBias, "aten::addmm")}, {Row("ampere_sgemm_128x128_nn", "aten::addmm")});
  EXPECT_THAT(Lines(diff), ElementsAre("tensor_core_lost +0: addmm mm"));
  EXPECT_THAT(diff.changes[0].text, HasSubstr("bf16 to fp32"));
}

TEST(Dtype, ChangedUnderOneOperatorIsSaid) {
  Diff diff = Of({Row(kGelu, "aten::gelu")}, {Row(kGeluFp32, "aten::gelu")});
  EXPECT_THAT(Lines(diff), ElementsAre("dtype_changed +0: gelu"));
  EXPECT_EQ(diff.changes[0].text,
            "another element type (bf16 to fp32) under aten::gelu: gelu bf16 -> gelu fp32");
}

TEST(Dtype, OfAnotherOperatorsKernelIsNoChangeOfThisOne) {
  Diff diff = Of({Row(kGelu, "aten::gelu")}, {Row(kGeluFp32, "my::activation")});
  EXPECT_THAT(Lines(diff), ElementsAre("added +1: gelu", "removed -1: gelu"));
}

TEST(Substitution, TakesTheSplitKReducerAlong) {
  Diff diff = Of({Row(kGemmBias, "aten::addmm")},
                 {Row("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_bias_TNT", "aten::addmm"),
                  Row("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(int)",
                      "aten::addmm")});
  EXPECT_THAT(Lines(diff), ElementsAre("substituted +1: addmm"));
}

TEST(Substitution, OfOneGemmForAnotherIsNoRegression) {
  Diff diff = Of({Row("nvjet_sm90_tst_64x64_64x13_2x1_v_bz_bias_TNT", "aten::addmm")},
                 {Row(kGemmBias, "aten::addmm")});
  EXPECT_THAT(Lines(diff), ElementsAre("substituted +0: addmm"));
}

TEST(Substitution, OfKernelsOfOneShortNameSaysWhatDiffers) {
  const auto text = [](std::string_view from, std::string_view to) {
    const Diff diff = Of({Row(from, "aten::addmm")}, {Row(to, "aten::addmm")});
    return diff.changes.size() == 1 ? diff.changes[0].text : "";
  };
  const std::string start =
      "another kernel under aten::addmm: nvjet 128x128 bias -> nvjet 128x128 bias ";
  EXPECT_EQ(text(kGemmBias, "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNN"),
            start + "(layout TNT -> TNN)");
  EXPECT_EQ(text(kGemmBias, "nvjet_sm90_tst_128x128_64x4_2x1_v_bz_bias_NNT"),
            start + "(layout TNT -> NNT, stages 6 -> 4)");
  EXPECT_EQ(text(kGemmBias, "nvjet_sm90_tst_128x128_64x6_1x2_h_bz_bias_TNT"),
            start + "(2x1_v -> 1x2_h)");
  EXPECT_EQ(text(kGemmBias, "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_Avec_bias_TNT"),
            start + "(bias -> Avec_bias)");
}

TEST(HiddenCopy, NamesTheOperatorThatAskedForIt) {
  Diff diff =
      Of({Row(kGemm, "aten::mm")},
         {Row(kGemm, "aten::mm"), Row(kCopy, "aten::contiguous > aten::clone > aten::copy_", 2)});
  ASSERT_THAT(Lines(diff), ElementsAre("hidden_copy +2: copy"));
  EXPECT_THAT(diff.changes[0].operators, ElementsAre("aten::contiguous"));
}

TEST(HiddenCopy, OnTheCpuIsOneToo) {
  Diff diff = Of({CpuRow("aten::mm", "aten::mm")},
                 {CpuRow("aten::mm", "aten::mm"),
                  CpuRow("aten::copy_", "aten::contiguous > aten::clone > aten::copy_")});
  EXPECT_THAT(Lines(diff), ElementsAre("hidden_copy +1: copy"));
}

TEST(HiddenCopy, IsNotSwallowedByALibraryKernelThatCameApart) {
  Diff diff = Of({Row("fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
                      "aten::scaled_dot_product_attention > x::y")},
                 {Row("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, "
                      "false, false>(int)",
                      "aten::scaled_dot_product_attention > aten::_softmax"),
                  Row(kGemm, "aten::scaled_dot_product_attention > aten::bmm", 2),
                  Row(kCopy, "aten::scaled_dot_product_attention > aten::to > aten::copy_"),
                  Row(kCopy, "aten::contiguous > aten::clone > aten::copy_")});
  EXPECT_THAT(Lines(diff),
              ElementsAre("fusion_lost +3: scaled_dot_product_attention", "hidden_copy +1: copy"));
}

TEST(HiddenCopy, ACopyTheCodeWroteIsAdded) {
  Diff diff = Of({}, {Row(kCopy, "aten::copy_")});
  EXPECT_THAT(Lines(diff), ElementsAre("added +1: copy"));
}

TEST(HiddenCopy, ByTheCopyEngineCountsNoKernel) {
  Evidence base = With({Row(kGemm, "aten::mm")});
  Evidence head = base;
  KernelRow copy =
      Row("Memcpy DtoD (Device -> Device)", "aten::reshape > aten::clone > aten::copy_");
  copy.bytes_per_step = {1024, 1024};
  head.transfers = {copy};
  Diff diff = Compare(base, head);
  EXPECT_TRUE(Closes(diff));
  EXPECT_THAT(Lines(diff), ElementsAre("hidden_copy +0: copy"));
  EXPECT_EQ(diff.changes[0].text,
            "Memcpy DtoD (Device -> Device): 0 -> 1 a step, 0 B -> 1 KiB, 0 ns -> 1.00 us, asked "
            "for by aten::reshape");
  EXPECT_THAT(Lines(Compare(head, base)), ElementsAre("removed +0: copy"));
}

TEST(Syncs, ThatCameAreSaidWithTheirNumbers) {
  Evidence base = With({Row(kGemm, "aten::mm")});
  Evidence head = base;
  head.syncs = {Row("cudaStreamSynchronize", "aten::item > aten::_local_scalar_dense", 2)};
  Diff diff = Compare(base, head);
  EXPECT_TRUE(Closes(diff));
  ASSERT_THAT(Lines(diff), ElementsAre("sync_added +0:"));
  EXPECT_EQ(diff.changes[0].text,
            "the host waits for the GPU: cudaStreamSynchronize 0 -> 2 a step, under aten::item");
}

TEST(Graph, LeftByKernelsIsOneChange) {
  std::vector<KernelRow> graph = {Row(kGemm, "graph", 2), Row(kGelu, "graph")};
  for (KernelRow& row : graph) row.in_graph = true;
  std::vector<KernelRow> eager = {Row(kGemm, "aten::mm", 2), Row(kGelu, "aten::gelu")};
  Diff diff = Of(graph, eager);
  EXPECT_THAT(Lines(diff), ElementsAre("graph_lost +0: gelu mm"));
  EXPECT_EQ(diff.changes[0].text, "3 kernels a step left a CUDA graph and are launched one by one");
  EXPECT_THAT(Of(eager, graph).changes, IsEmpty());
}

TEST(Graph, EnteredByKernelsIsSaidInTheSecondAnswer) {
  Evidence eager = With({Row(kGemm, "aten::mm", 2), Row(kGelu, "aten::gelu")});
  Evidence graph = With({Row(kGemm, "graph", 2), Row(kGelu, "graph")});
  for (KernelRow& row : graph.kernels) row.in_graph = true;
  eager.values = {{MetricId::kLaunches, Side::kHead, 0, 0, {3, 3}},
                  {MetricId::kGraphLaunches, Side::kHead, 0, 0, {0, 0}}};
  graph.values = {{MetricId::kLaunches, Side::kHead, 0, 0, {0, 0}},
                  {MetricId::kGraphLaunches, Side::kHead, 0, 0, {1, 1}}};
  EXPECT_EQ(Compare(eager, graph).answers[1].answer,
            "yes, the kernels are the same but the CPU's work differs; they run from 1 CUDA graph "
            "launch a step now: launch calls 3 -> 0, graph launches 0 -> 1 a step");
}

TEST(GraphBreaks, AreSaidInTheSecondAnswerAndBesideTheFusionThatCameApart) {
  Evidence base = With({Row(Fused("gelu_mul"), "")});
  Evidence head = With({Row(Fused("gelu"), ""), Row(Fused("mul"), "")});
  const auto regions = [](double count) {
    return Observation{MetricId::kCompiledRegions, Side::kHead, 0, 0, {count, count}};
  };
  base.values = {regions(1)};
  head.values = {regions(2)};
  const Diff diff = Compare(base, head);
  ASSERT_THAT(Lines(diff), ElementsAre("fusion_split +1: gelu mul"));
  EXPECT_EQ(diff.changes[0].text,
            "a fused kernel came apart, 2 kernels instead of 1: triton_poi_fused_gelu_mul -> "
            "triton_poi_fused_gelu, triton_poi_fused_mul; compiled regions 1 -> 2 a step: a graph "
            "break");
  EXPECT_EQ(diff.answers[1].answer, "no, the kernels differ: compiled regions 1 -> 2 a step");
  head.values = {regions(1)};
  EXPECT_THAT(Compare(base, head).changes[0].text, ::testing::EndsWith("triton_poi_fused_mul"));
}

TEST(Moved, ToAnotherOperatorIsNoRegression) {
  Diff diff = Of({Row(kAdd, "aten::add")}, {Row(kAdd, "aten::sub")});
  ASSERT_THAT(Lines(diff), ElementsAre("moved +0: add"));
  EXPECT_EQ(diff.changes[0].text, "add bf16 moved from aten::add to aten::sub");
}

TEST(Order, IsWorstFirst) {
  Diff diff = Of({Row(Fused("gelu_mul"), ""), Row(kCat, "aten::cat")},
                 {Row(kGelu, "aten::gelu"), Row(kMul, "aten::mul"), Row(kAdd, "aten::add"),
                  Row(kCopy, "aten::contiguous > aten::copy_")});
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +1: gelu mul", "hidden_copy +1: copy",
                                       "added +1: add", "removed -1: cat"));
}

TEST(Rounding, OfCountsThatDifferFromStepToStepStillCloses) {
  std::vector<KernelRow> rows;
  for (int i = 0; i < 7; ++i) {
    KernelRow row = Row("kernel_" + std::to_string(i) + "x", "aten::mm");
    row.count_per_step = {i % 2, 0};
    row.time_ns_per_step = {333 * i + 1, 0};
    rows.push_back(row);
  }
  Evidence rare = With(rows);
  EXPECT_THAT(Compare(rare, rare).changes, IsEmpty());
  Diff diff = Compare(With({}), rare);
  EXPECT_TRUE(Closes(diff));
  EXPECT_EQ(diff.kernel_count, 2);  // 3 launches in 2 steps, rounded
}

TEST(Rounding, DoesNotDependOnTheOrderOfTheRows) {
  KernelRow rare = Row(kGelu, "aten::gelu");
  rare.count_per_step = {1, 0};
  KernelRow other = Row(kMul, "aten::mul");
  other.count_per_step = {0, 1};
  EXPECT_TRUE(Compare(With({rare, other}), With({other, rare})).changes.empty());
}

TEST(Rounding, RareLaunchesOfOneNameOnSeveralDevicesAreEachThemselves) {
  KernelRow first = Row(kGelu, "aten::gelu");
  first.count_per_step = {0, 1, 0, 0};
  KernelRow second = first;
  second.device = "cuda:1";
  KernelRow third = first;
  third.device = "cuda:2";
  const Evidence rare = With({first, second, third});
  EXPECT_THAT(Compare(rare, rare).changes, IsEmpty());
}

TEST(Empty, EvidenceIsCompared) {
  Diff diff = Compare(Evidence{}, Evidence{});
  EXPECT_THAT(diff.changes, IsEmpty());
  EXPECT_EQ(diff.kernel_count, 0);
  EXPECT_EQ(diff.base_bound, "unknown: no kernel in the trace");
}

TEST(Hostile, NumbersThatDoNotFitWhenSummedAreClipped) {
  KernelRow row = Row(kGelu, "aten::gelu");
  row.count_per_step = {INT64_MAX, INT64_MAX};
  row.time_ns_per_step = {INT64_MAX, INT64_MAX};
  Evidence base = With({});
  const Evidence head = With({row, row, row});
  const Diff diff = Compare(base, head);
  EXPECT_GT(diff.kernel_count, 0);
  EXPECT_GT(diff.kernel_time_ns, 0);
  int64_t count = 0;
  for (const Change& change : diff.changes) count += change.count;
  EXPECT_EQ(count, diff.kernel_count);
}

TEST(Hostile, ManyRowsOfOneOperatorTakeNoQuadraticTime) {
  std::vector<KernelRow> base;
  std::vector<KernelRow> head;
  for (int i = 0; i < 4'000; ++i) {
    base.push_back(Row(kGelu, "module_" + std::to_string(i) + "::f"));
    head.push_back(Row(kGeluFp32, "module_" + std::to_string(4'000 - i) + "::f"));
  }
  Diff diff = Of(std::move(base), std::move(head));
  EXPECT_EQ(diff.kernel_count, 0);
}

TEST(Hostile, ManyDifferentFusionsTakeNoQuadraticTime) {
  std::vector<KernelRow> base;
  std::vector<KernelRow> head;
  for (int i = 0; i < 1'500; ++i) {
    base.push_back(Row(Fused("add_b" + std::to_string(i) + "x_mul"), ""));
    base.push_back(Row("fwd_" + std::to_string(i) + "x", ""));
    base.push_back(Row(kGemmBias, "module_" + std::to_string(i) + "::f"));
    head.push_back(Row(Fused("add_h" + std::to_string(i) + "x_mul"), ""));
    head.push_back(Row(kGemm, "module_" + std::to_string(i) + "::f"));
    head.push_back(Row(kGelu, "other_" + std::to_string(i) + "::f"));
  }
  Diff diff = Of(std::move(base), std::move(head));
  EXPECT_EQ(diff.kernel_count, 0);
}

}  // namespace
}  // namespace perfgate
