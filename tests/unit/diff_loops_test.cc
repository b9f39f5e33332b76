// Products of several matrices at once that became a loop, and the reverse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kBatched = "nvjet_sm90_tst_256x128_64x4_2x1_v_bz_coopA_NNN";
constexpr std::string_view kSmall = "nvjet_sm90_tst_64x8_64x16_2x4_h_bz_TNT";
constexpr std::string_view kGrouped =
    "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel:"
    ":GemmUniversal<cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int> > > > >(int)";
constexpr std::string_view kSelect =
    "void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, long, unsigned "
    "int, 2, 2, -2>(int)";

Evidence Recorded(const std::string& dispatch, const std::string& mode = "eager") {
  return ExtractTrace(PERFGATE_TEST_DATA "/h200/moe-dispatch=" + dispatch + "-64x768-bf16-" + mode +
                      ".json.gz");
}

TEST(Loops, OverExpertsInPlaceOfAGroupedProductAreOneChange) {
  const Diff diff = Compare(Recorded("grouped"), Recorded("loop"));
  EXPECT_THAT(
      LinesWithText(diff),
      ElementsAre(
          "fusion_split +90: products of 8 experts at once became a loop, 3 -> 24 launches: 3 x "
          "cutlass grouped gemm 64x128x128 bf16 -> 16 x nvjet 64x8, 8 x nvjet 8x64; kernels around "
          "them 21 -> 90: aten::nonzero 0 -> 32, aten::mul 2 -> 16, aten::index_select 2 -> 8, "
          "aten::eq 1 -> 8, aten::index_add_ 1 -> 8, aten::silu 1 -> 8, aten::index 0 -> 8, "
          "aten::sum 3 -> 1, others 11 -> 1; the host waits for the GPU: cudaStreamSynchronize 0 "
          "-> 8 a step, under aten::nonzero",
          "sync_added +0: the host waits for the GPU: cudaStreamSynchronize 0 -> 8 a step, under "
          "aten::nonzero",
          HasSubstr("Memcpy DtoH (Device -> Pinned): 0 -> 8 a step"),
          HasSubstr("Memcpy DtoD (Device -> Device): 3 -> 0 a step")));
  EXPECT_EQ(diff.kernel_count, 90);
  EXPECT_TRUE(Closes(diff));
}

TEST(Loops, OverExpertsThatWentAreFused) {
  const Diff diff = Compare(Recorded("loop"), Recorded("grouped"));
  EXPECT_THAT(LinesWithText(diff),
              ::testing::Contains(StartsWith(
                  "fused -90: products of 8 experts at once took the place of a loop, 24 -> 3 "
                  "launches: 16 x nvjet 64x8, 8 x nvjet 8x64 -> 3 x cutlass grouped gemm")));
  EXPECT_TRUE(Closes(diff));
}

TEST(Loops, OverTheChosenRowsInPlaceOfABatchOfAllAreOneChange) {
  const Diff diff = Compare(Recorded("dense"), Recorded("loop"));
  EXPECT_THAT(diff.changes[0].text,
              StartsWith("products of 8 matrices at once became a loop, 3 -> 24 launches: nvjet "
                         "64x64, 2 x nvjet 88x64 -> 16 x nvjet 64x8, 8 x nvjet 8x64; kernels "
                         "around them 6 -> 89: aten::nonzero 0 -> 32"));
  EXPECT_EQ(diff.changes[0].count, diff.kernel_count);
  EXPECT_TRUE(Closes(diff));
}

TEST(Loops, InPlaceOfACudaGraphAreToldByTheNameOfTheGroupedProduct) {
  const Diff diff = Compare(Recorded("grouped", "cuda_graph"), Recorded("loop"));
  EXPECT_THAT(diff.changes[0].text,
              StartsWith("products of experts at once became a loop, 3 -> 24 launches: 3 x cutlass "
                         "grouped gemm 64x128x128 bf16 -> 16 x nvjet 64x8, 8 x nvjet 8x64; kernels "
                         "around them 0 -> 56: aten::nonzero 0 -> 32"));
  EXPECT_TRUE(Closes(diff));
}

TEST(Loops, AreNoneBetweenABatchAndAGroupedProduct) {
  for (const Change& change : Compare(Recorded("dense"), Recorded("grouped")).changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("loop")));
  }
}

KernelRow Product(std::string_view name, std::string_view op,
                  const std::vector<std::string>& dims) {
  KernelRow row = Row(name, op, static_cast<int64_t>(dims.size()));
  for (const std::string& each : dims) row.shapes.push_back({each, 2, 2000});
  return row;
}

const std::string kBatchDims = "[[4, 64, 256], [4, 256, 512]]";

// Two steps with other numbers of rows for each expert.
TEST(Loops, MayPickOtherRowsInEveryStep) {
  KernelRow parts = Row(kSmall, "aten::mm", 4);
  for (const char* rows : {"60", "70", "61", "65", "64", "66", "3", "123"}) {
    parts.shapes.push_back({"[[" + std::string(rows) + ", 256], [256, 512]]", 1, 1000});
  }
  const Diff diff = Compare(With({Product(kBatched, "aten::bmm", {kBatchDims})}), With({parts}));
  EXPECT_THAT(LinesWithText(diff),
              ElementsAre(StartsWith("fusion_split +3: products of 4 matrices at once became a "
                                     "loop, 1 -> 4 launches: ")));
  EXPECT_TRUE(Closes(diff));
}

TEST(Loops, LeaveCopiesAndOtherProductsToTheirOwnChanges) {
  const std::string alone = "[[64, 256], [256, 512]]", other = "[[64, 256], [256, 128]]";
  const KernelRow batch = Product(kBatched, "aten::bmm", {kBatchDims});
  const KernelRow loop = Product(kSmall, "aten::mm", {alone, alone, alone, alone});
  const KernelRow copies = Row(kCopy, "aten::contiguous > aten::clone > aten::copy_", 4);
  EXPECT_THAT(Lines(Compare(With({batch}), With({loop, copies}))),
              ElementsAre("fusion_split +3: mm", "hidden_copy +4: copy"));
  // Another factor.
  const KernelRow others = Product(kSmall, "aten::mm", {other, other, other, other});
  for (const Change& change : Compare(With({batch}), With({others})).changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("loop")));
  }
  // More products than the batch had.
  const KernelRow more = Product(kSmall, "aten::mm", {alone, alone, alone, alone, alone});
  for (const Change& change : Compare(With({batch}), With({more})).changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("loop")));
  }
}

// AOTInductor says no shapes of its products.
TEST(Loops, InPlaceOfABatchOfUnknownSizesAreToldByItsOperator) {
  const Diff diff = Compare(Recorded("dense", "aoti"), Recorded("loop"));
  EXPECT_THAT(diff.changes[0].text,
              StartsWith("products of matrices at once became a loop, 3 -> 24 launches: "));
  EXPECT_TRUE(Closes(diff));
  // An attention by hand that is one kernel now, and other products with other tiles.
  const std::vector<KernelRow> by_hand = {Row(kBatched, "aten::bmm", 2),
                                          Row(kSmall, "aten::mm", 6)};
  const std::vector<KernelRow> fused = {Row(kGemm, "aten::mm", 6)};
  for (const Change& change : Compare(With(by_hand), With(fused)).changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("loop")));
  }
}

TEST(Loops, AreSeenWithoutShapesWhereAGroupedProductWent) {
  const Diff diff = Compare(
      With({Row(kGrouped, "aten::_grouped_mm", 2)}),
      With({Row(kSmall, "aten::linear > aten::mm", 16), Row(kSelect, "aten::index_select", 8)}));
  EXPECT_THAT(LinesWithText(diff),
              ElementsAre("fusion_split +22: products of experts at once became a loop, 2 -> 16 "
                          "launches: 2 x cutlass grouped gemm -> 16 x nvjet 64x8; kernels around "
                          "them 0 -> 8: aten::index_select 0 -> 8"));
  EXPECT_THAT(Compare(With({Row(kGrouped, "aten::_grouped_mm", 2)}),
                      With({Row(kGrouped, "aten::_grouped_mm", 2)}))
                  .changes,
              IsEmpty());
}

constexpr std::string_view kSgemm = "ampere_sgemm_64x32_sliced1x4_tn";

// A side of ten steps in place of two.
Evidence InTenSteps(Evidence evidence) {
  evidence.steps = {10};
  for (KernelRow& row : evidence.kernels) {
    row.count_per_step.assign(10, row.count_per_step[0]);
    row.time_ns_per_step.assign(10, row.time_ns_per_step[0]);
    for (ShapeUse& use : row.shapes) use.count *= 5, use.time_ns *= 5;
  }
  return evidence;
}

TEST(Loops, AreSeenByTheStepWhateverTheNumberOfSteps) {
  const std::string alone = "[[64, 256], [256, 512]]";
  const Evidence batch = With({Product(kBatched, "aten::bmm", {kBatchDims})});
  const Evidence loop = With({Product(kSmall, "aten::mm", {alone, alone, alone, alone})});
  EXPECT_THAT(Lines(Compare(InTenSteps(batch), loop)), ElementsAre("fusion_split +3: mm"));
  EXPECT_THAT(Lines(Compare(batch, InTenSteps(loop))), ElementsAre("fusion_split +3: mm"));
  EXPECT_THAT(Lines(Compare(InTenSteps(loop), batch)), ElementsAre("fused -3: mm"));
}

TEST(Loops, ThatLoseTensorCoresOrTypesSaySo) {
  const Evidence grouped = With({Row(kBatched, "aten::_grouped_mm", 2)});
  const Evidence loop = With({Row(kSmall, "aten::linear > aten::mm", 16)});
  const Evidence in_fp32 = With({Row(kSgemm, "aten::linear > aten::mm", 16)});
  Evidence grouped_in_fp32 = With({Row(kSgemm, "aten::_grouped_mm", 2)});
  for (const auto& [base, head, kind] : {std::tuple(grouped, in_fp32, ChangeKind::kFusionSplit),
                                         std::tuple(loop, grouped_in_fp32, ChangeKind::kFused)}) {
    const Diff diff = Compare(base, head);
    ASSERT_EQ(diff.changes.size(), 1u);
    EXPECT_EQ(diff.changes[0].kind, kind);
    EXPECT_THAT(diff.changes[0].also, Contains(ChangeKind::kTensorCoreLost));
  }
  ASSERT_EQ(Compare(grouped, loop).changes.size(), 1u);
  EXPECT_THAT(Compare(grouped, loop).changes[0].also, IsEmpty());
}

// With known sizes only what has the same second factor is taken; without them, what turns.
TEST(Loops, WithoutShapesLeaveAProductThatIsLaunchedOnce) {
  const Diff diff = Compare(With({Row(kGrouped, "aten::_grouped_mm", 3)}),
                            With({Row(kSmall, "aten::linear > aten::mm", 24),
                                  Row(kBatched, "aten::linear > aten::matmul > aten::mm", 1)}));
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +21: mm", "added +1: mm"));
  EXPECT_TRUE(Closes(diff));
}

}  // namespace
}  // namespace perfgate
