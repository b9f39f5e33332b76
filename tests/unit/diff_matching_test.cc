// Which rows of the two sides belong to one change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kIndexCopy =
    "void at::native::index_elementwise_kernel<128, 4, "
    "at::native::index_copy_kernel_impl<at::native::OpaqueType<2> >(at::TensorIterator&, long, "
    "long, long)::{lambda(int)#1}>(long, int)";
constexpr std::string_view kWhere =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() "
    "const::{lambda()#1}::operator()() const::{lambda(bool, c10::BFloat16, c10::BFloat16)#1}>("
    "at::TensorIteratorBase&)::{lambda(int)#1}>(int)";
constexpr std::string_view kFill =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)";
constexpr std::string_view kMulFp32 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)";
constexpr std::string_view kInvstd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
    "namespace)::batch_norm_calc_invstd(at::Tensor const&, at::Tensor const&, "
    "double)::{lambda()#1}::operator()() const::{lambda()#1}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul> >(int)";
constexpr std::string_view kStatistics =
    "void at::native::batch_norm_collect_statistics_channels_last_kernel<at::native::Var, float, "
    "float, 4>(float const*, float*, float*, float volatile*, int*, int, int, float)";
constexpr std::string_view kCount =
    "void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctorOnSelf_add<long>, "
    "std::array<char*, 2ul> >(int, at::native::CUDAFunctorOnSelf_add<long>, "
    "std::array<char*, 2ul>)";

Diff Of(std::vector<KernelRow> base, std::vector<KernelRow> head) {
  Diff diff = Compare(With(std::move(base)), With(std::move(head)));
  EXPECT_TRUE(Closes(diff));
  return diff;
}

KernelRow Shaped(KernelRow row, std::string dims) {
  row.shapes = {{std::move(dims), row.Count(), row.TimeNs()}};
  return row;
}

KernelRow In(std::string module, KernelRow row) {
  row.modules = {{std::move(module), row.Count(), row.TimeNs()}};
  return row;
}

// A key-value cache of 2048 tokens and the write of one.
const std::string kCache = "[[8, 16, 2048, 64], [], [1], [8, 16, 1, 64]]";
const std::string kAnew = "[[[8, 16, 2047, 64], [8, 16, 1, 64]], []]";

TEST(Rewrite, OfATensorOfWhichAPartWasWrittenIsAHiddenCopy) {
  const Diff diff = Of({Shaped(Row(kIndexCopy, "aten::index_copy_", 2, 2500), kCache)},
                       {Shaped(Row(kCat, "aten::cat", 2, 100'000), kAnew)});
  ASSERT_THAT(Lines(diff), ElementsAre("hidden_copy +0: cat index_copy"));
  EXPECT_EQ(diff.changes[0].text,
            "aten::cat writes a whole tensor anew where a part was written in place: 2 x "
            "index_copy -> 2 x cat");
}

// Else the attention's change would take both for its own, and nothing would be told of the cache.
TEST(Rewrite, IsSoughtBeforeWhatBelongsToAReplacedKernel) {
  const std::string attention = "my::attn > aten::scaled_dot_product_attention";
  const Diff diff =
      Of({Shaped(Row(kIndexCopy, "my::attn > aten::index_copy_", 1, 2500), kCache),
          Row("fmha_cutlassF_bf16_aligned_64x64_rf_sm80", attention)},
         {Shaped(Row(kCat, "my::attn > aten::cat", 1, 100'000), kAnew),
          Row("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_"
              "cga1x1x1_kernel0_0",
              attention)});
  EXPECT_THAT(Lines(diff),
              ElementsAre("hidden_copy +0: cat index_copy", StartsWith("substituted")));
}

TEST(Rewrite, IsNoneAtTheTopLevelIfNothingIsKnownOfEither) {
  EXPECT_THAT(
      Lines(Of({Row(kIndexCopy, "aten::index_copy_", 1, 2500)}, {Row(kCat, "aten::cat", 1, 9000)})),
      ElementsAre("added +1: cat", "removed -1: index_copy"));
}

TEST(Rewrite, IsNoneWhereTheTensorsHaveOtherShapes) {
  const Diff diff =
      Of({Shaped(Row(kIndexCopy, "aten::index_copy_", 1, 2500), kCache)},
         {Shaped(Row(kCat, "aten::cat", 1, 100'000), "[[[4096, 512], [4096, 512]], []]")});
  EXPECT_THAT(Lines(diff), ElementsAre("added +1: cat", "removed -1: index_copy"));
}

TEST(Rewrite, IsNoneWhereAsMuchWasWrittenBefore) {
  const auto lines = [](int64_t writes, std::string target_and_source, std::string joined) {
    return Lines(Of({Shaped(Row(kCopy, "aten::copy_", writes, 2500), target_and_source)},
                    {Shaped(Row(kCat, "aten::cat", 1, 9000), std::move(joined))}));
  };
  EXPECT_THAT(lines(1, "[[8, 1024], [8, 1024], []]", "[[[8, 1024]], []]"),
              ElementsAre("added +1: cat", "removed -1: copy"));
  EXPECT_THAT(lines(2, "[[4, 1024], [4, 1024], []]", "[[[4, 1024], [4, 1024]], []]"),
              ElementsAre("added +1: cat", "removed -2: copy"));
}

TEST(Rewrite, MayChooseOrTurnTheWholeTensor) {
  const auto lines = [](std::string_view name, std::string_view op, std::string dims) {
    return Lines(Of({Shaped(Row(kIndexCopy, "aten::index_copy_", 1, 2500), kCache)},
                    {Shaped(Row(name, op, 1, 90'000), std::move(dims))}));
  };
  EXPECT_THAT(lines(kWhere, "aten::where", "[[1, 1, 2048, 1], [8, 16, 1, 64], [8, 16, 2048, 64]]"),
              ElementsAre("hidden_copy +0: index_copy where"));
  EXPECT_THAT(lines(kWhere, "aten::where", "[[4, 4], [4, 4], []]"),
              ElementsAre("added +1: where", "removed -1: index_copy"));
}

TEST(Rewrite, IsNoneWhereTheHeadIsFaster) {
  EXPECT_THAT(Lines(Of({Shaped(Row(kIndexCopy, "aten::index_copy_", 1, 2500), kCache)},
                       {Shaped(Row(kCat, "aten::cat", 1, 2400), kAnew)})),
              ElementsAre("added +1: cat", "removed -1: index_copy"));
}

TEST(Rewrite, WithoutShapesNeedsTheSamePlaceAndMuchMoreTime) {
  const auto kinds = [](std::string_view cat_path, int64_t cat_ns) {
    return Lines(Of({Row(kIndexCopy, "my::cache > aten::index_copy_", 1, 2500)},
                    {Row(kCat, cat_path, 1, cat_ns)}));
  };
  EXPECT_THAT(kinds("my::cache > aten::cat", 9000), ElementsAre("hidden_copy +0: cat index_copy"));
  EXPECT_THAT(kinds("my::cache > aten::cat", 2600), ElementsAre("added +1: cat", HasSubstr("-1")));
  EXPECT_THAT(kinds("my::other > aten::cat", 9000), ElementsAre("added +1: cat", HasSubstr("-1")));
}

TEST(Rewrite, WithoutShapesIsSoughtInTheSameModule) {
  const auto kinds = [](std::string module) {
    return Lines(Of({In("Model_0 > Cache_0", Row(kIndexCopy, "aten::index_copy_", 1, 2500))},
                    {In(std::move(module), Row(kCat, "aten::cat", 1, 9000))}));
  };
  EXPECT_THAT(kinds("Model_0 > Cache_0"), ElementsAre("hidden_copy +0: cat index_copy"));
  EXPECT_THAT(kinds("Model_0 > Head_0"), ElementsAre("added +1: cat", "removed -1: index_copy"));
}

TEST(Rewrite, AmongManyRowsTakesNoQuadraticTime) {
  std::vector<KernelRow> base, head;
  for (int i = 0; i < 4'000; ++i) {
    const std::string dims = "[[" + std::to_string(100 + i) + ", 64], [], [1], [1, 64]]";
    base.push_back(Shaped(Row(kIndexCopy, "m" + std::to_string(i) + "::f", 1, 2500), dims));
    head.push_back(Shaped(Row(kCat, "n" + std::to_string(i) + "::f", 1, 9000), "[[[7, 7]], []]"));
  }
  EXPECT_EQ(Of(std::move(base), std::move(head)).kernel_count, 0);
}

// Of a whole that is made of many tensors each look is long: some more writes are too many.
TEST(Rewrite, IsSoughtWithinALimitOfTensors) {
  const auto lines = [](int tensors) {
    std::string parts;
    for (int i = 0; i < tensors; ++i) parts += "[8, 64], ";
    std::vector<KernelRow> base;
    for (int i = 0; i < 100; ++i) {  // too long to be a part
      base.push_back(Shaped(Row(kIndexCopy, "m" + std::to_string(i) + "::f", 1, 90'000),
                            "[[100, 64], [], [1], [8, 64]]"));
    }
    base.push_back(Shaped(Row(kIndexCopy, "z::f", 1, 2500), "[[100, 64], [], [1], [8, 64]]"));
    return Lines(Of(std::move(base),
                    {Shaped(Row(kCat, "aten::cat", 1, 9000), "[[" + parts + "[8, 64]], []]")}));
  };
  EXPECT_THAT(lines(1'000), Contains("hidden_copy +0: cat index_copy"));
  EXPECT_THAT(lines(60'000), Contains("added +1: cat"));
}

TEST(Attention, OfAnotherLibraryIsAnotherKernel) {
  EXPECT_THAT(Lines(Of({Row("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_"
                            "64x128x64_4x1x1_cga1x1x1_kernel0_0",
                            "aten::scaled_dot_product_attention > aten::_cudnn_attention_forward")},
                       {Row("fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention)",
                            "aten::scaled_dot_product_attention > "
                            "aten::_efficient_attention_forward")})),
              ElementsAre("substituted +0: scaled_dot_product_attention"));
}

TEST(Activation, ByHandIsOneThatCameApart) {
  const std::string tanh =
      "void at::native::vectorized_elementwise_kernel<8, at::native::tanh_kernel_cuda(at::"
      "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::"
      "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)";
  EXPECT_THAT(
      Lines(Of({Row(kGelu, "aten::gelu")},
               {Row(tanh, "aten::tanh"), Row(kMul, "aten::mul", 3), Row(kAdd, "aten::add", 2)})),
      ElementsAre("fusion_lost +5: gelu"));
  EXPECT_THAT(Lines(Of({Row(kGelu, "aten::gelu")}, {Row(tanh, "aten::tanh")})),
              ElementsAre("substituted +0: gelu tanh"));
}

// Another kernel of my::norm, and what else may have come with it.
Diff Replaced(std::vector<KernelRow> came) {
  std::vector<KernelRow> base = {In("Net_0 > Norm_0", Row(kGelu, "my::norm > my::kernel"))};
  came.insert(came.begin(), In("Net_0 > Norm_0", Row(kMul, "my::norm > my::kernel")));
  return Of(std::move(base), std::move(came));
}

TEST(Companions, ShareAnOperatorWithTheKernelThatWasReplaced) {
  for (const std::string_view path :
       {"my::norm > my::kernel", "my::norm > my::kernel > aten::zeros > aten::fill_",
        "my::norm > aten::zeros > aten::zero_ > aten::fill_", "my::norm > aten::fill_"}) {
    EXPECT_THAT(Lines(Replaced({Row(kFill, path)})), ElementsAre("substituted +1: fill gelu mul"))
        << path;
  }
}

TEST(Companions, AreNotSoughtUnderOtherOperators) {
  EXPECT_THAT(Lines(Replaced({Row(kFill, "aten::zeros > aten::fill_")})),
              ElementsAre("substituted +0: gelu mul", "added +1: fill"));
  EXPECT_THAT(Lines(Replaced({Row(kFill, "my::normal > aten::fill_")})),
              ElementsAre("substituted +0: gelu mul", "added +1: fill"));
}

TEST(Companions, AreNotSoughtInAnOperatorThatHoldsTheWholeModel) {
  const Diff diff =
      Of({Row(kGelu, "my::model > my::first"), Row(kGemmBias, "my::model > my::second")},
         {Row(kMul, "my::model > my::first"),
          Row("nvjet_sm90_tst_64x64_64x6_2x1_v_bz_bias_TNT", "my::model > my::second"),
          Row(kFill, "my::model > aten::fill_")});
  EXPECT_THAT(Lines(diff), ElementsAre(StartsWith("substituted +0"), StartsWith("substituted +0"),
                                       "added +1: fill"));
}

TEST(Companions, ThatWentMayBeInTheSameLayer) {
  const auto lines = [](std::vector<KernelRow> went) {
    went.push_back(In("Net_0 > Norm_0", Row(kGelu, "my::norm > my::kernel")));
    return Lines(Of(std::move(went), {In("Net_0 > Norm_0", Row(kMul, "my::norm > my::kernel"))}));
  };
  EXPECT_THAT(lines({In("Net_0 > Norm_0", Row(kFill, "aten::fill_"))}),
              ElementsAre("substituted -1: fill gelu mul"));
  EXPECT_THAT(lines({In("Net_0 > Other_0", Row(kFill, "aten::fill_"))}),
              ElementsAre("substituted +0: gelu mul", "removed -1: fill"));
  // A module that holds others is no layer.
  EXPECT_THAT(lines({In("Net_0 > Norm_0", Row(kFill, "aten::fill_")),
                     In("Net_0 > Norm_0 > Inner_0", Row(kAdd, "aten::add"))}),
              ElementsAre("substituted +0: gelu mul", "removed -1: add", "removed -1: fill"));
}

TEST(Companions, ThatCameAreNotWhatAnotherOperatorOfTheLayerDoes) {
  const auto in_layer = [](std::string_view name, std::string_view op) {
    return In("Net_0 > Mlp_0", Row(name, op));
  };
  EXPECT_THAT(Lines(Of({in_layer(kGemm, "aten::mm"), in_layer(kGelu, "aten::gelu")},
                       {in_layer("nvjet_sm90_tst_64x64_64x6_2x1_v_bz_TNT", "aten::mm"),
                        in_layer(kGelu, "aten::gelu"), in_layer(kMul, "aten::mul")})),
              ElementsAre(StartsWith("substituted +0"), "added +1: mul"));
}

TEST(Companions, OfAnOperatorThatIsInSeveralLayersAreOfTheirLayer) {
  const auto first = [](KernelRow row) { return In("Net_0 > Norm_0", std::move(row)); };
  const auto second = [](KernelRow row) { return In("Net_0 > Norm_1", std::move(row)); };
  EXPECT_THAT(
      Lines(Of({first(Row(kGelu, "my::norm > my::first")),
                second(Row(kGemmBias, "my::norm > my::second"))},
               {first(Row(kMul, "my::norm > my::first")),
                second(Row("nvjet_sm90_tst_64x64_64x6_2x1_v_bz_bias_TNT", "my::norm > my::second")),
                first(Row(kFill, "my::norm > aten::fill_"))})),
      UnorderedElementsAre("substituted +1: fill gelu mul", StartsWith("substituted +0")));
}

TEST(Companions, OfABatchNormInTrainingModeAreItsCounters) {
  const std::string path = "aten::batch_norm > aten::native_batch_norm";
  const KernelRow statistics = Row(kStatistics, path, 3, 9000);
  const Diff diff = Of({Row(kInvstd, path, 3)}, {statistics, Row(kCount, "aten::add_", 3)});
  ASSERT_THAT(Lines(diff), ElementsAre("substituted +3: add batch_norm"));
  EXPECT_THAT(diff.changes[0].text,
              StartsWith("batch norm in training mode, it takes the statistics of each batch and "
                         "updates the running ones: 3 x "));
  // More counters than norms count something else.
  EXPECT_THAT(Lines(Of({Row(kInvstd, path, 3)}, {statistics, Row(kCount, "aten::add_", 4)})),
              ElementsAre("substituted +0: batch_norm", "added +4: add"));
  EXPECT_THAT(Lines(Of({Row(kGelu, "my::f")}, {Row(kMul, "my::f"), Row(kCount, "aten::add_")})),
              ElementsAre("substituted +0: gelu mul", "added +1: add"));
}

std::string MultiTensor(std::string_view functor) {
  return "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
         "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::" +
         std::string(functor) + ">(int)";
}

TEST(MultiTensor, IsFoundInWhateverOrderTheRowsStand) {
  const KernelRow scaled = Row(MultiTensor("BinaryOpScalarFunctor<float, 2, 1, 1>, "
                                           "std::multiplies<float>, float"),
                               "aten::_foreach_mul_", 2);
  const KernelRow divided = Row(MultiTensor("BinaryOpListAlphaFunctor<float, 2, 1, 1>, "
                                            "std::divides<float>, float"),
                                "aten::_foreach_div_");
  // Divided by a number: the kernel of a product, under aten::div.
  const KernelRow quotients = Row(kMulFp32, "aten::div", 6);
  const KernelRow products = Row(kMulFp32, "aten::mul_", 12);
  ASSERT_EQ(scaled.info.ops, std::vector<std::string>{"mul"});
  ASSERT_EQ(divided.info.ops, std::vector<std::string>{"div"});
  for (const bool reversed : {false, true}) {
    std::vector<KernelRow> base = {divided, scaled}, head = {products, quotients};
    if (reversed) {
      std::swap(base[0], base[1]);
      std::swap(head[0], head[1]);
    }
    const Diff diff = Of(base, head);
    EXPECT_THAT(Lines(diff), ElementsAre("fusion_split +15: div mul"));
    EXPECT_THAT(Lines(Of(head, base)), ElementsAre("fused -15: div mul"));
  }
}

TEST(MultiTensor, OfTheOptimizerDoesNotTakeTheModelsKernels) {
  KernelRow whole = Row(MultiTensor("BinaryOpScalarFunctor<float, 2, 1, 1>, "
                                    "std::multiplies<float>, float"),
                        "aten::_foreach_mul_");
  KernelRow part = Row(kMulFp32, "aten::mul_", 6);
  KernelRow other = Row(kMul, "my::model > aten::mul");
  whole.annotations = part.annotations = {{"Optimizer.step#Adam.step", 1, 1}};
  other.annotations = {{"forward", 1, 1}};
  EXPECT_THAT(Lines(Of({whole}, {part, other})),
              ElementsAre("fusion_split +5: mul", "added +1: mul"));
}

// Products of one size are paired, whatever their names and wherever they are called.
TEST(Gemms, ArePairedByTheirSizes) {
  const auto gemm = [](std::string_view tile, std::string_view path, std::string dims) {
    return Shaped(Row("nvjet_sm90_tst_" + std::string(tile) + "_64x6_2x1_v_bz_TNT", path),
                  std::move(dims));
  };
  const std::string small = "[[64, 512], [512, 512]]", large = "[[4096, 512], [512, 512]]";
  const Diff diff = Of({gemm("64x8", "aten::mm", small), gemm("128x256", "aten::mm", large)},
                       {gemm("256x128", "aten::linear > aten::mm", large),
                        gemm("32x64", "aten::linear > aten::mm", small)});
  ASSERT_EQ(diff.changes.size(), 2u);
  for (const Change& change : diff.changes) {
    EXPECT_EQ(change.base[0].short_name == "nvjet 64x8", change.head[0].short_name == "nvjet 32x64")
        << change.text;
  }
}

TEST(Hostile, ShapesThatClaimMoreLaunchesThanFitAreHarmless) {
  KernelRow base = Row(kGemm, "aten::mm"), head = Row(kGemmBias, "aten::mm", 2);
  base.shapes = {{"[[512, 1024], [1024, 2048]]", INT64_MAX - 1, INT64_MAX},
                 {"[[512, 1024], [1024, 2048], []]", INT64_MAX - 1, INT64_MAX}};
  head.shapes = {{"[[512, 1024], [1024, 1024]]", INT64_MAX - 1, INT64_MAX},
                 {"[[512, 1024], [1024, 1024], []]", INT64_MIN, INT64_MIN}};
  std::vector<KernelRow> rows = {base, base, base};
  EXPECT_EQ(Of(rows, {head}).kernel_count, -1);
  EXPECT_EQ(Of({head}, rows).kernel_count, 1);
}

TEST(Hostile, ManyCompanionsTakeNoQuadraticTime) {
  std::vector<KernelRow> base, head;
  for (int i = 0; i < 3'000; ++i) {
    const std::string op = "my::op" + std::to_string(i);
    base.push_back(Row(kGelu, op));
    head.push_back(Row(kMul, op));
    head.push_back(Row("count_" + std::to_string(i) + "x", "aten::add_"));
  }
  EXPECT_EQ(Of(std::move(base), std::move(head)).kernel_count, 3'000);
}

}  // namespace
}  // namespace perfgate
