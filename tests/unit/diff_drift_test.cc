#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

TEST(Drift, NamesTheSlowerKernelAndNotTheNoise) {
  const Evidence base = With({Row(kGelu, "aten::gelu", 1, 3000), Row(kMul, "aten::mul", 2, 5000),
                              Row(kAdd, "aten::add", 1, 5000)});
  const Evidence head = With({Row(kGelu, "aten::gelu", 1, 9000), Row(kMul, "aten::mul", 2, 5010),
                              Row(kAdd, "aten::add", 1, 4000)});
  const Diff diff = Compare(base, head);
  EXPECT_TRUE(diff.changes.empty());
  ASSERT_EQ(diff.slower.size(), 1u);
  EXPECT_EQ(diff.slower[0].head.name, kGelu);
  EXPECT_EQ(diff.slower[0].base.time_ns, 3000);
  EXPECT_EQ(diff.slower[0].head.time_ns, 9000);
  EXPECT_EQ(diff.unchanged_time_ns, 6000 + 20 - 1000);
}

TEST(Drift, IsNoneWhereNothingIsSlower) {
  const Evidence base = With({Row(kGelu, "aten::gelu", 1, 3000)});
  EXPECT_TRUE(Compare(base, base).slower.empty());
  EXPECT_TRUE(Compare(base, With({Row(kGelu, "aten::gelu", 1, 2000)})).slower.empty());
}

TEST(Answers, TellNoDifferenceThatRoundsToNothing) {
  Evidence base = With({Row(kGelu, "aten::gelu", 1, 3000)});
  base.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {1'070'000}}};
  Evidence head = base;
  head.values[0].per_step = {1'070'200};
  EXPECT_EQ(Compare(base, head).answers[0].answer,
            "the same number: 1 a step; GPU time 1.07 ms in both");
  head.values[0].per_step = {1'072'000};
  EXPECT_EQ(Compare(base, head).answers[0].answer,
            "the same number: 1 a step; GPU time 1.07 ms -> 1.07 ms (+0.2 %)");
}

TEST(Drift, ListsTheWorstFew) {
  std::vector<KernelRow> base, head;
  for (int i = 0; i < 9; ++i) {
    const std::string path = "aten::op" + std::to_string(i);
    base.push_back(Row(kGelu, path, 1, 1000));
    head.push_back(Row(kGelu, path, 1, 2000 + i));
  }
  const Diff diff = Compare(With(base), With(head));
  ASSERT_EQ(diff.slower.size(), 5u);
  EXPECT_EQ(diff.slower[0].Rise(), 1008);
}

TEST(Kinds, ATensorCoreLostToAnotherTypeIsAlsoADtypeChanged) {
  const std::string sgemm =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_"
      "warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas";
  const Diff diff =
      Compare(With({Row(kGemm, "aten::mm")}), With({Row(sgemm, "aten::mm", 1, 9000)}));
  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kTensorCoreLost);
  EXPECT_TRUE(IsOfKind(diff.changes[0], ChangeKind::kTensorCoreLost));
  EXPECT_TRUE(IsOfKind(diff.changes[0], ChangeKind::kDtypeChanged));
  EXPECT_FALSE(IsOfKind(diff.changes[0], ChangeKind::kMoved));
}

}  // namespace
}  // namespace perfgate
