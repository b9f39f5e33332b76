// AOTInductor's kernels against their eager twins: what came apart, and what only has another
// kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kRmsNorm =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "true>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
    "float*, c10::BFloat16*)";

Evidence OnAnH200(const std::string& workload, const std::string& mode) {
  return ExtractTrace(std::filesystem::path(PERFGATE_TEST_DATA "/h200") /
                      (workload + "-" + mode + ".json.gz"));
}

// Of kernels: a copy by the copy engine is none.
std::vector<std::string> KernelLines(const Diff& diff) {
  Diff kernels = diff;
  std::erase_if(kernels.changes, [](const Change& change) {
    return change.text.find("Memcpy") != std::string::npos;
  });
  return Lines(kernels);
}

std::vector<std::string> Between(const std::string& workload, const std::string& from,
                                 const std::string& to) {
  const Diff diff = Compare(OnAnH200(workload, from), OnAnH200(workload, to));
  EXPECT_TRUE(Closes(diff)) << workload;
  return KernelLines(diff);
}

TEST(RecordedTwins, OfAnRmsNormAreOneKernelForOne) {
  const char* workload = "norm_mlp-norm=rms-512x768-bf16";
  EXPECT_THAT(Between(workload, "eager", "aoti"),
              UnorderedElementsAre("substituted +0: add copy mean mul pow rms_norm rsqrt",
                                   "substituted +0: add", "substituted +0: gelu"));
  EXPECT_THAT(Between(workload, "aoti", "eager"),
              UnorderedElementsAre("substituted +0: add copy mean mul pow rms_norm rsqrt",
                                   "substituted +0: add", "substituted +0: gelu"));
}

TEST(RecordedTwins, OfALayerNormAreOneKernelForOne) {
  const char* workload = "norm_mlp-norm=layer-512x768-bf16";
  EXPECT_THAT(Between(workload, "eager", "aoti"),
              UnorderedElementsAre("substituted +0: add", "substituted +0: layer_norm",
                                   "substituted +0: gelu"));
  EXPECT_THAT(Between(workload, "aoti", "eager"),
              UnorderedElementsAre("substituted +0: add", "substituted +0: layer_norm",
                                   "substituted +0: gelu"));
}

TEST(RecordedTwins, LeaveTheOneFusionOfATransformerBlock) {
  for (const char* workload :
       {"transformer_block-2x1024x768-bf16", "transformer_block-8x128x768-bf16"}) {
    EXPECT_THAT(Between(workload, "eager", "aoti"),
                UnorderedElementsAre("fused -1: add layer_norm", "substituted +0: add",
                                     "substituted +0: layer_norm", "substituted +0: gelu"));
    EXPECT_THAT(Between(workload, "aoti", "eager"),
                UnorderedElementsAre("fusion_split +1: add layer_norm", "substituted +0: add",
                                     "substituted +0: layer_norm", "substituted +0: gelu"));
  }
}

TEST(RecordedTwins, OfASoftmaxAreAFusionWithTheCastOfWhatItReads) {
  const char* workload = "moe-dispatch=dense-64x768-bf16";
  EXPECT_THAT(Between(workload, "eager", "aoti"),
              ::testing::Contains("fused -1: copy exp prepare_softmax_online softmax sub"));
  EXPECT_THAT(Between(workload, "aoti", "eager"),
              ::testing::Contains("fusion_split +1: copy exp prepare_softmax_online softmax sub"));
}

TEST(RecordedTwins, OfAKernelByHandComputeTheSameInWhateverOrderTheNamesSayIt) {
  const char* workload = "swiglu-8192x768-bf16";
  EXPECT_THAT(Between(workload, "hand_fused", "aoti"), ElementsAre("substituted +0: mul silu"));
  EXPECT_THAT(Between(workload, "aoti", "hand_fused"), ElementsAre("substituted +0: mul silu"));
}

TEST(RecordedEpilogues, HoldABiasAsLargeAsTheResult) {
  for (const char* workload :
       {"matmul_add-bias=2d-k=4096-n=4096-4096x4096-bf16", "matmul_add-bias=1d-64x64-bf16"}) {
    EXPECT_THAT(Between(workload, "aoti", "eager"), ElementsAre("epilogue_lost +1: bias"));
    EXPECT_THAT(Between(workload, "eager", "aoti"), ElementsAre("epilogue_gained -1: bias"));
  }
}

TEST(RecordedTwins, CloseAndTellOfMoreOrFewerKernelsOnlyWhereTheirNumberChanged) {
  int compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/h200")) {
    const std::string name = file.path().filename().string();
    const size_t end = name.find("-aoti.json.gz");
    if (end == std::string::npos) continue;
    ++compared;
    const Evidence eager = OnAnH200(name.substr(0, end), "eager");
    const Evidence generated = OnAnH200(name.substr(0, end), "aoti");
    for (const Diff& diff : {Compare(eager, generated), Compare(generated, eager)}) {
      EXPECT_TRUE(Closes(diff)) << name;
      const bool more_or_fewer =
          std::any_of(diff.changes.begin(), diff.changes.end(),
                      [](const Change& change) { return change.count != 0; });
      EXPECT_EQ(more_or_fewer, diff.kernel_count != 0) << name;
    }
  }
  EXPECT_GE(compared, 10);
}

KernelRow Called(std::string_view name, std::string_view op, int64_t count,
                 const std::string& dims) {
  KernelRow row = Row(name, op, count);
  row.shapes = {{dims, 2 * count, 2000 * count}};
  return row;
}

// The names say an add in both: of the norm's epsilon, and of the residual before it too.
TEST(Twins, OfANormThatAlsoAddsAreAFusionOfBoth) {
  const std::string x = "[512, 768]";
  const Evidence eager =
      With({Called(kRmsNorm, "aten::rms_norm > aten::_fused_rms_norm", 2, "[" + x + ", [], [768]]"),
            Called(kAdd, "aten::add", 2, "[" + x + ", " + x + "]")});
  const Evidence generated =
      With({Called("triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_0", "", 1,
                   "[" + x + ", [768], " + x + "]"),
            Called("triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_1", "", 1,
                   "[" + x + ", " + x + ", [768], " + x + "]"),
            Called("triton_poi_fused_add_2", "", 1, "[" + x + ", " + x + "]")});
  const Diff fused = Compare(eager, generated);
  EXPECT_THAT(Lines(fused),
              ElementsAre("fused -1: add copy mean mul pow rsqrt", "substituted +0: add",
                          "substituted +0: add copy mean mul pow rms_norm rsqrt"));
  EXPECT_EQ(
      fused.changes[0].text,
      "2 kernels became 1: add bf16, rms_norm bf16 -> triton red add+copy+mean+mul+pow+rsqrt");
  EXPECT_EQ(fused.changes[0].head[0].name, "triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_1");
  EXPECT_TRUE(Closes(fused));
  const Diff apart = Compare(generated, eager);
  EXPECT_EQ(Lines(apart)[0], "fusion_split +1: add copy mean mul pow rsqrt");
  EXPECT_EQ(apart.changes[0].text,
            "a fused kernel came apart, 2 kernels instead of 1: triton red "
            "add+copy+mean+mul+pow+rsqrt -> add bf16, rms_norm bf16");
  EXPECT_TRUE(Closes(apart));
  // Of another size, the add went for another reason.
  Evidence other = eager;
  other.kernels[1].shapes[0].input_dims = "[[64, 768], [64, 768]]";
  for (const std::string& line : Lines(Compare(other, generated))) {
    EXPECT_THAT(line, ::testing::StartsWith("substituted "));
  }
}

TEST(Twins, ThatComputeTheSamePairBeforeFusionsAreSearched) {
  const Evidence eager = With({Row(kAdd, "aten::add", 2), Row(kMul, "aten::mul")});
  const Evidence generated =
      With({Row("triton_poi_fused_add_0", ""), Row("triton_poi_fused_add_mul_1", "")});
  const Diff fused = Compare(eager, generated);
  EXPECT_THAT(Lines(fused), ElementsAre("fused -1: add mul", "substituted +0: add"));
  EXPECT_TRUE(Closes(fused));
  const Diff split = Compare(generated, eager);
  EXPECT_THAT(Lines(split), ElementsAre("fusion_split +1: add mul", "substituted +0: add"));
  EXPECT_TRUE(Closes(split));
}

TEST(Twins, OfAnotherElementTypeAreNone) {
  KernelRow generated = Row("triton_poi_fused_add_0", "");
  generated.info.in_dtype = "fp32";
  EXPECT_THAT(Lines(Compare(With({Row(kAdd, "aten::add")}), With({generated}))),
              UnorderedElementsAre("added +1: add", "removed -1: add"));
}

TEST(Composite, ComputedByOneFusedKernelIsAnotherKernelThoughOthersCame) {
  const Evidence eager = With({Row(kRmsNorm, "aten::_fused_rms_norm", 2)});
  const Evidence one = With({Row("triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_0", ""),
                             Row("triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_1", ""),
                             Row("triton_poi_fused_mul_2", "", 2)});
  const Diff diff = Compare(eager, one);
  EXPECT_THAT(Lines(diff),
              ElementsAre("substituted +0: add copy mean mul pow rms_norm rsqrt",
                          "substituted +0: add copy mean mul pow rms_norm rsqrt", "added +2: mul"));
  EXPECT_TRUE(Closes(diff));
}

TEST(Composite, OfWhichOneKernelComputesOnlyAPartCameApart) {
  const Evidence eager = With({CpuRow("aten::softmax", "aten::softmax")});
  const Evidence apart = With({CpuRow("cpp_fused_amax_exp_sub_0", "cpp_fused_amax_exp_sub_0"),
                               CpuRow("cpp_fused_div_sum_1", "cpp_fused_div_sum_1")});
  EXPECT_THAT(Lines(Compare(eager, apart)), ElementsAre("fusion_lost +1: softmax"));
}

// Names list an operator once, however often it occurs.
TEST(Repeated, OperatorsInThePlaceOfOneKernelAreAFusionThatCameApart) {
  const Evidence fused = With({Row("triton_poi_fused_mul_0", "triton_poi_fused_mul")});
  const Evidence apart = With({Row(kMul, "aten::mul", 2)});
  EXPECT_THAT(Lines(Compare(fused, apart)), ElementsAre("fusion_split +1: mul"));
  EXPECT_THAT(Lines(Compare(apart, fused)), ElementsAre("fused -1: mul"));
  EXPECT_TRUE(Closes(Compare(fused, apart)));
}

// One call launches a kernel for each batch of its inputs.
TEST(Repeated, TwoKernelsOfOneCatAreNoFusionThatCameApart) {
  constexpr std::string_view kCat =
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
      "namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(at::native::(anonymous "
      "namespace)::OpaqueType<2u>*)";
  const Evidence fused = With({Row("triton_poi_fused_cat_0", "triton_poi_fused_cat")});
  const Evidence apart = With({Row(kCat, "aten::cat", 2)});
  const auto of_kind = [](const Diff& diff, ChangeKind kind) {
    return std::any_of(diff.changes.begin(), diff.changes.end(),
                       [&](const Change& change) { return change.kind == kind; });
  };
  EXPECT_FALSE(of_kind(Compare(fused, apart), ChangeKind::kFusionSplit));
  EXPECT_FALSE(of_kind(Compare(apart, fused), ChangeKind::kFused));
}

TEST(Repeated, OneForOneIsAnotherKernel) {
  const Evidence fused = With({Row("triton_poi_fused_mul_0", "triton_poi_fused_mul", 2)});
  const Evidence apart = With({Row(kMul, "aten::mul", 2)});
  EXPECT_THAT(Lines(Compare(fused, apart)), ElementsAre("substituted +0: mul"));
  EXPECT_THAT(Lines(Compare(apart, fused)), ElementsAre("substituted +0: mul"));
}

TEST(Generated, CopiesAreAnotherKernelUnlessOneWasAskedFor) {
  const Evidence generated =
      With({Row("triton_poi_fused_copy_slice_0", "triton_poi_fused_copy_slice")});
  EXPECT_THAT(Lines(Compare(generated, With({Row(kCopy, "aten::copy_")}))),
              ElementsAre("substituted +0: copy"));
  EXPECT_THAT(
      Lines(Compare(generated, With({Row(kCopy, "aten::contiguous > aten::clone > aten::copy_")}))),
      ElementsAre("hidden_copy +1: copy", "removed -1: copy"));
}

}  // namespace
}  // namespace perfgate
