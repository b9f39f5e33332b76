// Are two traces of the same work at all?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;

Evidence Calling(std::string_view name, int64_t count, std::string_view dims) {
  Evidence evidence = With({Row(kGemmBias, "aten::addmm")});
  OperatorRow row;
  row.name = name;
  row.kind = ClassifyOperator(name);
  row.count_per_step = {count, count};
  row.input_dims = dims;
  evidence.operators = {row};
  return evidence;
}

std::string Shapes(const Evidence& base, const Evidence& head) {
  return Compare(base, head).different_shapes;
}

TEST(Shapes, OfAnotherBatchAreOtherWork) {
  EXPECT_EQ(Shapes(Calling("aten::addmm", 2, "[[4096], [512, 1024], [1024, 4096], [], []]"),
                   Calling("aten::addmm", 2, "[[4096], [1, 1024], [1024, 4096], [], []]")),
            "aten::addmm is called with [512, 1024] in the base and with [1, 1024] in the head");
}

TEST(Shapes, WithAnOutputTensorMoreAreTheSame) {
  EXPECT_EQ(
      Shapes(Calling("aten::addmm", 2, "[[4096], [512, 1024], [1024, 4096], [], []]"),
             Calling("aten::addmm", 2, "[[4096], [512, 1024], [1024, 4096], [], [], [512, 4096]]")),
      "");
}

TEST(Shapes, AreUnknownWhereNoOperatorIsCalledEquallyOften) {
  EXPECT_EQ(Shapes(Calling("aten::addmm", 2, "[[1]]"), Calling("aten::addmm", 3, "[[2]]")), "");
  EXPECT_EQ(Shapes(Calling("aten::addmm", 2, "[[1]]"), Calling("aten::mm", 2, "[[2]]")), "");
  EXPECT_EQ(Shapes(Calling("aten::addmm", 2, ""), Calling("aten::addmm", 2, "[[2]]")), "");
}

TEST(Shapes, OfViewsSayNothing) {
  EXPECT_EQ(Shapes(Calling("aten::view", 2, "[[1]]"), Calling("aten::view", 2, "[[2]]")), "");
}

TEST(Shapes, BrokenTextIsHarmless) {
  EXPECT_EQ(Shapes(Calling("aten::mm", 1, "]]][[["), Calling("aten::mm", 1, "[[[[")), "");
}

TEST(Steps, MarkedOnOneSideOnlyCannotBeCompared) {
  Evidence base = With({Row(kGemm, "aten::mm")});
  Evidence head = base;
  head.steps = {0};
  EXPECT_EQ(Shapes(base, head),
            "the base marks its steps and the head does not, so that its numbers are of a window "
            "of unknown "
            "length; mark the steps of both");
}

// Three products in bf16 that became one in fp32 are no gain of fusion.
// A product for queries, keys and values became three; another one of the base would fit to be the
// pieces that those three were before.
TEST(Pieces, OfALaunchAreNotTheWholeOfOthers) {
  const auto product = [](std::string_view path, int64_t count, std::string_view dims) {
    KernelRow row = Row(kGemm, path, count);
    row.shapes = {{std::string(dims), 2 * count, 2 * count * 1000}};
    return row;
  };
  const Diff diff = Compare(With({product("whole > aten::mm", 1, "[[64, 768], [768, 2304]]"),
                                  product("small > aten::mm", 9, "[[64, 768], [768, 256]]")}),
                            With({product("whole > aten::mm", 3, "[[64, 768], [768, 768]]")}));
  EXPECT_TRUE(Closes(diff));
  EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +2: mm", "removed -9: mm"));
}

TEST(Pieces, OfAnotherElementTypeAreNone) {
  Evidence base = With({Row(kGemm, "aten::mm", 3)});
  base.kernels[0].shapes = {{"[[512, 1024], [1024, 1024]]", 6, 6000}};
  Evidence head =
      With({Row("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
                "aligna4_alignc4_execute_kernel__5x_cublas",
                "aten::mm")});
  head.kernels[0].shapes = {{"[[512, 1024], [1024, 3072]]", 2, 2000}};
  const Diff diff = Compare(base, head);
  EXPECT_TRUE(Closes(diff));
  EXPECT_THAT(Lines(diff), ::testing::Contains(::testing::HasSubstr("tensor_core_lost")));
}

}  // namespace
}  // namespace perfgate
