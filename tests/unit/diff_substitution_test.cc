// Which kernels are another one's in place of it, and which only came while others went.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kCast =
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned "
    "int> >(int)";

Evidence Quantized(const std::string& method) {
  return ExtractTrace(PERFGATE_TEST_DATA "/h200/quantized_linear-method=" + method +
                      "-64x1024-bf16-eager.json.gz");
}

std::vector<std::string> Texts(const Diff& diff) {
  std::vector<std::string> texts;
  for (const Change& change : diff.changes) texts.push_back(change.text);
  return texts;
}

KernelRow Copy(const std::string& dims) {
  KernelRow row = Row(kCast, "aten::to > aten::_to_copy > aten::copy_");
  row.name += dims;  // another name
  row.shapes = {{dims, 2, 2000}};
  return row;
}

KernelRow InGraph(std::string_view name) {
  KernelRow row = Row(name, "graph");
  row.in_graph = true;
  return row;
}

TEST(Substitution, OfACopyIsACopyOfItsSize) {
  const KernelRow small = Copy("[[64, 8], [64, 8], []]");
  KernelRow other = Row(kCopy, small.op_path);
  other.shapes = {{"[[64, 8], [64, 8], []]", 2, 2000}};
  EXPECT_THAT(Lines(Compare(With({small}), With({other}))), ElementsAre("dtype_changed +0: copy"));
  other.shapes = {{"[[64, 1024], [64, 1024], []]", 2, 2000}};
  EXPECT_THAT(Lines(Compare(With({small}), With({other}))),
              ElementsAre("hidden_copy +1: copy", "removed -1: copy"));
}

// One of three copies has another kernel: its row says its size, the row of the three the sizes of
// all.
TEST(Substitution, OfOneOfManyCopiesIsNoneThatCameAndWent) {
  constexpr std::string_view kPath = "aten::linear > aten::to > aten::_to_copy > aten::copy_";
  const std::string small = "[[64, 8], [64, 8], []]", large = "[[64, 1024], [64, 1024], []]";
  KernelRow three = Row(kCopy, kPath, 3);
  three.shapes = {{small, 4, 4000}, {large, 2, 2000}};
  KernelRow two = Row(kCopy, kPath, 2);
  two.shapes = {{small, 4, 4000}};
  std::string unrolled(kCopy);
  unrolled.replace(unrolled.find("<128, 4,"), 8, "<128, 2,");
  KernelRow one = Row(unrolled, kPath);
  one.shapes = {{large, 2, 2000}};
  EXPECT_THAT(Lines(Compare(With({three}), With({two, one}))), ElementsAre("substituted +0: copy"));
  EXPECT_THAT(Lines(Compare(With({two, one}), With({three}))), ElementsAre("substituted +0: copy"));
}

Evidence Graph(const std::string& name) {
  return ExtractTrace(PERFGATE_TEST_DATA "/h200/" + name + "-cuda_graph.json.gz");
}

TEST(RecordedGraphs, TellOfAnAttentionThatCameApart) {
  const auto attention = [](const char* implementation) {
    return Graph("attention-implementation=" + std::string(implementation) + "-8x16x1024x64-bf16");
  };
  const Diff naive = Compare(attention("flash"), attention("naive"));
  EXPECT_EQ(Lines(naive)[0], "fusion_lost +4: scaled_dot_product_attention");
  EXPECT_TRUE(Closes(naive));
  EXPECT_THAT(Lines(Compare(attention("flash"), attention("math"))),
              ElementsAre("fusion_lost +19: scaled_dot_product_attention"));
  EXPECT_THAT(Lines(Compare(attention("math"), attention("flash"))),
              ElementsAre("fused -19: scaled_dot_product_attention"));
}

TEST(RecordedGraphs, TellOfACacheThatIsConcatenated) {
  const Diff diff = Compare(Graph("decode-cache=static-8x768-bf16"),
                            Graph("decode-cache=concatenated-8x768-bf16"));
  EXPECT_THAT(Lines(diff), ElementsAre("hidden_copy +0: cat copy"));
  EXPECT_EQ(diff.changes[0].text,
            "cat writes a whole tensor anew where a part was written in place: 2 x copy bf16 -> 2 "
            "x cat");
}

TEST(Substitution, InAGraphIsOneOfTheSameOperator) {
  EXPECT_THAT(Lines(Compare(With({InGraph(kMul)}), With({InGraph(kAdd)}))),
              ElementsAre("added +1: add", "removed -1: mul"));
}

// The copy that made the weights wide again is no copy of what is multiplied.
TEST(RecordedSubstitution, OfAQuantizedWeightsCopyIsNone) {
  EXPECT_THAT(Texts(Compare(Quantized("dequantize"), Quantized("int8"))),
              Contains("1 kernel went under aten::to: copy int8->bf16"));
  EXPECT_THAT(Texts(Compare(Quantized("dequantize"), Quantized("fp8"))),
              Contains(HasSubstr("copy bf16->fp32, copy bf16->fp8_e4m3")));
}

}  // namespace
}  // namespace perfgate
