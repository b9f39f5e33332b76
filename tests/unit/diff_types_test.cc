// Rows of one name whose operators were called with other element types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "diff_rows.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

KernelRow Generated(std::string_view name, std::string_view type) {
  KernelRow row = Row(name, "triton_poi_fused_gelu_mul");
  row.info.in_dtype = type;
  return row;
}

constexpr std::string_view kFirst = "triton_poi_fused_gelu_mul_0";
constexpr std::string_view kSecond = "triton_poi_fused_gelu_mul_1";

TEST(Types, ThatChangedUnderOneNameAreAChange) {
  const Diff wider = Compare(With({Generated(kFirst, "bf16")}), With({Generated(kFirst, "fp32")}));
  EXPECT_THAT(Lines(wider), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_FALSE(wider.changes[0].narrower);
  EXPECT_THAT(wider.changes[0].text, HasSubstr("another element type (bf16 to fp32)"));
  EXPECT_TRUE(Closes(wider));
  const Diff narrower =
      Compare(With({Generated(kFirst, "fp32")}), With({Generated(kFirst, "bf16")}));
  ASSERT_THAT(Lines(narrower), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_TRUE(narrower.changes[0].narrower);
}

TEST(Types, OfOneTensorAmongSeveralAreAChangeToo) {
  const Diff wider =
      Compare(With({Generated(kFirst, "bf16")}), With({Generated(kFirst, "bf16+fp32")}));
  ASSERT_THAT(Lines(wider), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_FALSE(wider.changes[0].narrower);
  for (const std::string_view narrower : {"bf16+fp32", "bf16"}) {
    const Diff diff =
        Compare(With({Generated(kFirst, "fp32")}), With({Generated(kFirst, narrower)}));
    ASSERT_THAT(Lines(diff), ElementsAre("dtype_changed +0: gelu mul"));
    EXPECT_TRUE(diff.changes[0].narrower);
  }
}

TEST(Types, ThatOneSideDoesNotSayHaveNotChanged) {
  for (const auto& [base, head] : {std::pair{"", "fp32"}, std::pair{"fp32", ""}}) {
    const Diff diff = Compare(With({Generated(kFirst, base)}), With({Generated(kFirst, head)}));
    EXPECT_THAT(Lines(diff), IsEmpty()) << base << " " << head;
    EXPECT_TRUE(Closes(diff));
  }
}

// A kernel more in front shifts the numbers of all that follow.
TEST(Types, GoBeforeNumbering) {
  const Diff diff = Compare(With({Generated(kFirst, "bf16"), Generated(kSecond, "fp32")}),
                            With({Generated(kFirst, "fp32"), Generated(kSecond, "bf16")}));
  EXPECT_THAT(Lines(diff), IsEmpty());
}

constexpr std::string_view kCast =  // what it reads, the call says
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#2}::operator()() const::"
    "{lambda(signed char)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, "
    "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
    "at::native::memory::StoreWithCast<1> >(int)";
constexpr std::string_view kCastToFp8 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::float8_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#3}::operator()() const::"
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)";
constexpr std::string_view kCopyFp32 =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
    "{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&)::"
    "{lambda(int)#1}>(int)";
constexpr std::string_view kDivFp32 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::DivFunctor<float> >, std::array<char*, 3ul> >(int)";
constexpr std::string_view kMulFp32 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)";
constexpr std::string_view kGemmFp8 = "nvjet_sm90_qqtst_64x8_128x16_1x2_h_bz_algo2_TNT";
constexpr std::string_view kGemmInt8 =
    "void cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8_64x64_128x6_tn_align16>(cutlass_80_"
    "tensorop_i16832gemm_s8_64x64_128x6_tn_align16::Params)";

KernelRow Called(KernelRow row, std::string dims, std::string types = "") {
  row.shapes = {{std::move(dims), row.Count(), row.TimeNs()}};
  row.input_types = std::move(types);
  return row;
}

KernelRow Launched(KernelRow row, int64_t blocks) {
  row.grid = {blocks, 1, 1};
  row.block = {128, 1, 1};
  return row;
}

Diff Of(KernelRow base, KernelRow head) {
  return Compare(With({std::move(base)}), With({std::move(head)}));
}

Evidence OnH200(const std::string& name) {
  return ExtractTrace(std::filesystem::path(PERFGATE_TEST_DATA "/h200") / (name + ".json.gz"));
}

// Of each change of an element type: "wider: bf16 to fp32 ...".
std::vector<std::string> Retyped(const Diff& diff) {
  std::vector<std::string> texts;
  for (const Change& change : diff.changes) {
    if (!IsOfKind(change, ChangeKind::kDtypeChanged)) continue;
    texts.push_back((change.narrower ? "narrower: " : "wider: ") +
                    change.text.substr(change.text.find('(')));
  }
  return texts;
}

TEST(Types, OfWhatACopyReadsAreComparedWithWhatTheOtherReads) {
  const KernelRow to_int8 = Called(Row(kCast, "aten::to > aten::copy_"), "[[64, 8], [64, 8], []]",
                                   "[signed char, float, Scalar]");
  const KernelRow to_fp8 =
      Called(Row(kCastToFp8, "aten::to > aten::copy_"), "[[64, 8], [64, 8], []]",
             "[c10::Float8_e4m3fn, c10::BFloat16, Scalar]");
  EXPECT_THAT(
      Retyped(Of(to_int8, to_fp8)),
      ElementsAre("narrower: (fp32 to bf16, result int8 to fp8_e4m3) under aten::copy_: copy "
                  "fp32->int8 -> copy bf16->fp8_e4m3"));
  EXPECT_THAT(Retyped(Of(to_fp8, to_int8)),
              ElementsAre("wider: (bf16 to fp32, result fp8_e4m3 to int8) under aten::copy_: copy "
                          "bf16->fp8_e4m3 -> copy fp32->int8"));
}

TEST(Types, OfACopyAreNotKnownIfOnlyItsResultIs) {
  EXPECT_THAT(Lines(Of(Row(kCast, "graph"), Row(kCastToFp8, "graph"))),
              ElementsAre("substituted +0: copy"));
  EXPECT_THAT(Retyped(Of(Row(kCopy, "graph"), Row(kCopyFp32, "graph"))),
              ElementsAre("wider: (bf16 to fp32) under graph: copy bf16 -> copy fp32"));
}

TEST(Types, OfOtherOperatorsOfAGraphAreNoChange) {
  EXPECT_THAT(Lines(Of(Row(kMul, "graph"), Row(kDivFp32, "graph"))),
              ElementsAre("substituted +0: div mul"));
  EXPECT_THAT(Lines(Of(Row(kMul, "graph"), Row(kMulFp32, "graph"))),
              ElementsAre("dtype_changed +0: mul"));
}

TEST(Types, OfTensorsOfAnotherSizeAreNoChange) {
  const KernelRow mul = Called(Row(kMul, "aten::mul"), "[[1024, 1024], [1024, 1]]");
  EXPECT_THAT(Lines(Of(mul, Called(Row(kMulFp32, "aten::mul"), "[[64, 1024], [64, 1]]"))),
              ElementsAre("substituted +0: mul"));
  EXPECT_THAT(Lines(Of(mul, Called(Row(kMulFp32, "aten::mul"), "[[1024, 1024], [1024, 1]]"))),
              ElementsAre("dtype_changed +0: mul"));
}

// The one that came besides has the first name.
TEST(Types, OfTheLaunchOfTheSameSizeAreComparedWhereOthersCame) {
  const KernelRow mul = Called(Row(kMul, "aten::mul"), "[[1024, 1024], [1024, 1]]");
  std::string wider(kMulFp32);
  wider.replace(wider.find("<4,"), 3, "<8,");
  const Evidence head = With({Called(Row(kMulFp32, "aten::mul"), "[[64, 1024], [64, 1]]"),
                              Called(Row(wider, "aten::mul"), "[[1024, 1024], [1024, 1]]")});
  EXPECT_THAT(Lines(Compare(With({mul}), head)),
              ElementsAre("dtype_changed +0: mul", "added +1: mul"));
}

TEST(Types, OfLaunchesOfAnotherSizeAreNoChange) {
  const KernelRow mul = Launched(Row(kMul, "graph"), 74);
  EXPECT_THAT(Lines(Of(mul, Launched(Row(kMulFp32, "graph"), 4))),
              ElementsAre("substituted +0: mul"));
  EXPECT_THAT(Lines(Of(mul, Launched(Row(kMulFp32, "graph"), 148))),
              ElementsAre("dtype_changed +0: mul"));
}

TEST(Types, OfAProductAreThoseOfItsFactors) {
  const Diff narrower = Of(Row(kGemm, "aten::mm"), Row(kGemmInt8, "aten::_int_mm"));
  EXPECT_THAT(Retyped(narrower), ElementsAre(HasSubstr("narrower: (bf16 to int8, result bf16 to")));
  const Diff wider = Of(Row(kGemmInt8, "aten::_int_mm"), Row(kGemm, "aten::mm"));
  EXPECT_THAT(Retyped(wider), ElementsAre(HasSubstr("wider: (int8 to bf16, result int32 to")));
  const Diff as_narrow = Of(Row(kGemmFp8, "aten::_scaled_mm"), Row(kGemmInt8, "aten::_int_mm"));
  EXPECT_THAT(Retyped(as_narrow), ElementsAre(HasSubstr("wider: (fp8_e4m3 to int8, result bf16")));
}

TEST(Types, OfWhatAddsUpASplitProductAreAChangeUnderAGraphToo) {
  const Diff diff =
      Compare(OnH200("geglu-64x768-bf16-cuda_graph"), OnH200("geglu-64x768-fp16-cuda_graph"));
  EXPECT_THAT(Retyped(diff), Contains(HasSubstr("split-K reduce bf16 -> split-K reduce fp16")));
}

TEST(Types, OfQuantizedLayersAreThoseOfTheSameWork) {
  const std::string quantized = "quantized_linear-method=", shape = "-64x1024-bf16-";
  const auto retyped = [&](const std::string& from, const std::string& to) {
    return Retyped(Compare(OnH200(quantized + from), OnH200(quantized + to)));
  };
  for (const std::string mode : {"eager", "cuda_graph"}) {
    const std::string end = shape + mode;
    EXPECT_THAT(retyped("int8" + end, "fp8" + end),
                AllOf(Not(IsEmpty()), Each(HasSubstr("narrower: "))))
        << mode;
    EXPECT_THAT(retyped("dequantize" + end, "int8" + end),
                ElementsAre(HasSubstr("narrower: (bf16 to int8, result bf16 to int32)")));
    EXPECT_THAT(retyped("dequantize" + end, "fp8" + end),
                ElementsAre(HasSubstr("narrower: (bf16 to fp8_e4m3)")));
    EXPECT_THAT(retyped("int8" + end, "dequantize" + end),
                ElementsAre(HasSubstr("wider: (int8 to bf16, result int32 to bf16)")));
    EXPECT_THAT(retyped("fp8" + end, "dequantize" + end),
                ElementsAre(HasSubstr("wider: (fp8_e4m3 to bf16)")));
    EXPECT_THAT(retyped("fp8" + end, "int8" + end),
                Contains(HasSubstr("wider: (fp8_e4m3 to int8")));
  }
}

// Experts are summed up in bf16 and tokens are counted in int64; SGD adds to the weights what Adam
// adds to its step counters.
TEST(Types, OfOtherWorkUnderTheSameOperatorAreNoChange) {
  for (const std::string mode : {"eager", "cuda_graph"}) {
    for (const auto& [base, head] :
         {std::pair("moe-dispatch=dense", "moe-dispatch=grouped"),
          std::pair("mlp-train=true-optimizer=sgd", "mlp-train=true-optimizer=adamw")}) {
      const std::string shape = "-64x768-bf16-" + mode;
      EXPECT_THAT(Retyped(Compare(OnH200(base + shape), OnH200(head + shape))), IsEmpty()) << base;
    }
  }
}

}  // namespace
}  // namespace perfgate
