// Names of Inductor and ATen; and what no decoder knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

KernelInfo Decode(std::string_view name) { return DecodeKernelName(name); }

struct NamedRow {
  int row;  // of the list of real names; 0: another one
  std::string_view name;
  Family family;
  std::string_view library, in, out;
  std::vector<std::string> ops;
};

// clang-format off
TEST(GeneratedAndAtenNames, SayOperatorsAndTypes) {
  for (const NamedRow& row : std::vector<NamedRow>{
      {60, "triton_poi_fused__unsafe_view_gelu_mul_0", Family::kPointwise, "inductor", "", "", {"gelu", "mul"}},
      {61, "triton_poi_fused_add_div_mul_sqrt_tanh_0", Family::kPointwise, "inductor", "", "", {"add", "div", "mul", "sqrt", "tanh"}},
      {62, "triton_red_fused_rms_norm_0", Family::kNorm, "inductor", "", "", {"rms_norm"}},
      {63, "triton_per_fused_add_mean_mul_pow_rsqrt_0", Family::kReduction, "inductor", "", "", {"add", "mean", "mul", "pow", "rsqrt"}},
      {64, "triton_tem_fused_addmm_gelu_66", Family::kGemm, "inductor", "", "", {"addmm", "gelu"}},
      {65, "triton_tem_fused__to_copy_addmm_gelu_t_view_9", Family::kGemm, "inductor", "", "", {"addmm", "copy", "gelu"}},
      {0, "triton_for_fused_0", Family::kPointwise, "inductor", "", "", {}},
      {66, "_geglu_tanh_forward_kernel", Family::kOther, "triton", "", "", {}},
      {67, "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)", Family::kPointwise, "aten", "bf16", "bf16", {"gelu"}},
      {68, "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)", Family::kPointwise, "aten", "fp32", "fp32", {"add"}},
      {69, "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)", Family::kCopy, "aten", "bf16", "bf16", {"copy"}},
      {70, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(int)", Family::kReduction, "aten", "fp32", "fp32", {"mean"}},
      {71, "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*)", Family::kSoftmax, "aten", "fp32", "fp32", {"softmax"}},
      {71, "void at::native::(anonymous namespace)::cunn_SoftMaxForwardGmem<8, c10::Half, float, float, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*)", Family::kSoftmax, "aten", "fp16", "fp32", {"softmax"}},
      {71, "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*)", Family::kSoftmax, "aten", "fp32", "fp32", {"softmax"}},
      {72, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, true>(int, float)", Family::kNorm, "aten", "bf16", "bf16", {"rms_norm"}},
      {72, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float)", Family::kNorm, "aten", "bf16", "bf16", {"layer_norm"}},
      {73, "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous namespace)::OpaqueType<8u>, unsigned int, 1, 128, 1>(int)", Family::kCopy, "aten", "", "", {"cat"}},
      // PyTorch of other years
      {0, "void at::native::unrolled_elementwise_kernel<at::native::copy_device_to_device(at::TensorIterator&, bool)::{lambda()#2}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)", Family::kCopy, "aten", "fp32", "fp32", {"copy"}},
      {0, "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int)", Family::kPointwise, "aten", "fp32", "fp32", {"add"}},
      {0, "void at::native::vectorized_elementwise_kernel<4, at::native::MulScalarFunctor<float, float>, at::detail::Array<char*, 2> >(int)", Family::kPointwise, "aten", "fp32", "fp32", {"mul"}},
      {0, "void cunn_ClassNLLCriterion_updateOutput_kernel<float, float>(float*)", Family::kReduction, "aten", "fp32", "fp32", {"nll_loss_forward"}},
      // Families of their own
      {0, "void at::native::(anonymous namespace)::upsample_nearest2d_nhwc_out_frame<float>(int)", Family::kPointwise, "aten", "fp32", "fp32", {"upsample_nearest2d"}},
      {0, "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_put_kernel_impl<at::native::OpaqueType<2> >(at::TensorIterator&)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(long)", Family::kIndexing, "aten", "", "", {"index_put"}},
      {0, "void (anonymous namespace)::indexing_backward_kernel<float, 4>(long const*)", Family::kIndexing, "aten", "fp32", "fp32", {"index_put"}},
      {0, "void at::native::(anonymous namespace)::kernel::lstm_cell_forward<c10::Half, float, int, 1>(int)", Family::kPointwise, "aten", "fp16", "fp16", {"_thnn_fused_lstm_cell"}},
      {0, "void at::native::(anonymous namespace)::batch_norm_backward_elemt_channels_last_kernel<4, c10::Half, float>(int)", Family::kNorm, "aten", "fp16", "fp16", {"batch_norm_backward"}},
      {0, "void at::native::tinygemm_m16n8k16_chunk_kernel<at::native::ALayout_RM<(at::native::KReductionType)0> >(int)", Family::kGemm, "aten", "", "", {"_weight_int4pack_mm"}},
      {0, "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 2, 1, 1>, at::native::power_functor<float>, float>(int)", Family::kPointwise, "aten", "fp32", "fp32", {"pow"}},
  }) {
    SCOPED_TRACE(row.name);
    KernelInfo info = Decode(row.name);
    EXPECT_EQ(info.family, row.family);
    EXPECT_EQ(info.library, row.library);
    EXPECT_EQ(info.in_dtype, row.in);
    EXPECT_EQ(info.out_dtype, row.out);
    EXPECT_EQ(info.ops, row.ops);
    EXPECT_EQ(info.opaque, row.ops.empty());
  }
}
// clang-format on

TEST(InductorNames, CutTheOperatorSetByLongestMatch) {
  EXPECT_THAT(Decode("triton_poi_fused_gelu_mul_0").ops, ElementsAre("gelu", "mul"));
  EXPECT_THAT(Decode("triton_poi_fused_gelu_mul_0_0d1d2d3de").ops, ElementsAre("gelu", "mul"));
  EXPECT_THAT(Decode("triton_poi_fused__scaled_dot_product_cudnn_attention_cat_view_0").ops,
              ElementsAre("cat"));
  EXPECT_THAT(Decode("triton_poi_fused_add_div_mul_sqrt_tanh_0").ops,
              ElementsAre("add", "div", "mul", "sqrt", "tanh"));
  EXPECT_THAT(Decode("triton_per_fused_native_layer_norm_12").ops, ElementsAre("layer_norm"));
  EXPECT_THAT(Decode("triton_red_fused_native_layer_norm_backward_sum_3").ops,
              ElementsAre("layer_norm_backward", "sum"));
  EXPECT_THAT(Decode("triton_poi_fused_max_pool2d_with_indices_relu_1").ops,
              ElementsAre("max_pool2d_with_indices", "relu"));
}

TEST(InductorNames, LeaveViewsOutAndCallCastsCopies) {
  EXPECT_THAT(Decode("triton_poi_fused__unsafe_view_gelu_mul_0").ops, ElementsAre("gelu", "mul"));
  EXPECT_THAT(Decode("triton_tem_fused__to_copy_addmm_gelu_t_view_9").ops,
              ElementsAre("addmm", "copy", "gelu"));
  EXPECT_THAT(Decode("triton_poi_fused_clone_0").ops, ElementsAre("copy"));
}

TEST(InductorNames, KeepAnUnknownOperatorAsOneWord) {
  EXPECT_THAT(Decode("triton_poi_fused_add_my_special_op_0").ops,
              ElementsAre("add", "my_special_op"));
}

TEST(InductorNames, GiveTheFamilyByCategoryAndSet) {
  EXPECT_EQ(Decode("triton_poi_fused_gelu_mul_0").family, Family::kPointwise);
  EXPECT_EQ(Decode("triton_red_fused_rms_norm_0").family, Family::kNorm);
  EXPECT_EQ(Decode("triton_per_fused__softmax_1").family, Family::kSoftmax);
  EXPECT_EQ(Decode("triton_per_fused_add_mean_mul_pow_rsqrt_0").family, Family::kReduction);
  EXPECT_EQ(Decode("triton_tem_fused_addmm_gelu_66").family, Family::kGemm);
  EXPECT_EQ(Decode("triton_tem_fused_convolution_2").family, Family::kConv);
}

TEST(InductorNames, OfTheCpuAreTheSameSets) {
  for (std::string_view name :
       {"graph_0_cpp_fused_gelu_mul_0", "graph_12_cpp_fused_gelu_mul_3", "cpp_fused_gelu_mul_0",
        "graph_0_cpp_fused__unsafe_view_gelu_mul_1"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(Decode(name).ops, ElementsAre("gelu", "mul"));
    EXPECT_EQ(Decode(name).library, "inductor");
  }
  EXPECT_EQ(Decode("graph_0_cpp_fused_gelu_mul_0").short_name, "cpp_fused_gelu_mul");
  EXPECT_EQ(Decode("graph_0_cpp_fused__unsafe_view_gelu_mul_1").short_name,
            "cpp_fused__unsafe_view_gelu_mul");
  EXPECT_EQ(Decode("graph_0_cpp_fused_gelu_mul_0").canonical, "cpp_fused_gelu_mul");
  EXPECT_EQ(Decode("graph_7_cpp_fused_gelu_mul_2").canonical, "cpp_fused_gelu_mul");
}

TEST(InductorNames, ShortNameOfAManyOperatorKernelStaysShort) {
  KernelInfo info = Decode(
      "triton_red_fused_add_cat_copy_cos_div_embedding_exp_gelu_index_mean_mul_pow_rsqrt_sin_sum_"
      "0");
  EXPECT_LE(info.short_name.size(), 60u);
  EXPECT_THAT(info.short_name, ::testing::EndsWith("+..."));
}

TEST(OpaqueNames, HaveNoOperators) {
  for (std::string_view name :
       {"geglu_fwd", "_geglu_tanh_forward_kernel", "triton_", "my_kernel<float>(int)"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(Decode(name).opaque);
    EXPECT_THAT(Decode(name).ops, IsEmpty());
    EXPECT_EQ(Decode(name).family, Family::kOther);
  }
  // A user's kernel is not taken for ATen's because of its name.
  EXPECT_TRUE(Decode("void (anonymous namespace)::add_kernel<float>(float*)").opaque);
}

constexpr std::string_view kGeluTanh =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
    "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, int)";

TEST(AtenNames, GiveTheOperatorAndTypeOfTheFunctor) {
  KernelInfo gelu = Decode(kGeluTanh);
  EXPECT_THAT(gelu.ops, ElementsAre("gelu"));
  EXPECT_EQ(gelu.in_dtype, "bf16");
  EXPECT_EQ(gelu.family, Family::kPointwise);
  EXPECT_EQ(gelu.short_name, "gelu tanh bf16");

  KernelInfo mul = Decode(
      "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, "
      "c10::BFloat16, "
      "c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
      ">(int)");
  EXPECT_THAT(mul.ops, ElementsAre("mul"));
  EXPECT_EQ(mul.in_dtype, "bf16");
  EXPECT_EQ(mul.short_name, "mul bf16");

  KernelInfo eq = Decode(
      "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, "
      "bool, "
      "at::native::(anonymous namespace)::CompareEqFunctor<long> >, std::array<char*, 2ul> >(int)");
  EXPECT_THAT(eq.ops, ElementsAre("eq"));
  EXPECT_EQ(eq.short_name, "eq int64->bool");
}

TEST(AtenNames, LookThroughTheStridedWrapper) {
  KernelInfo add = Decode(
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
      "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, "
      "at::native::CUDAFunctor_add<float> "
      "const&)::{lambda(int)#1}>(int, int)");
  EXPECT_THAT(add.ops, ElementsAre("add"));
  EXPECT_EQ(add.in_dtype, "fp32");

  KernelInfo where = Decode(
      "void at::native::elementwise_kernel<128, 2, "
      "at::native::gpu_kernel_impl_nocast<at::native::(anonymous "
      "namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() "
      "const::{lambda()#11}::"
      "operator()() const::{lambda(bool, float, "
      "float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)");
  EXPECT_THAT(where.ops, ElementsAre("where"));
  EXPECT_EQ(where.in_dtype, "fp32");
}

TEST(AtenNames, KnowCopiesAndCasts) {
  KernelInfo copy = Decode(
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_"
      "kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda()#12}::operator()() "
      "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)");
  EXPECT_EQ(copy.family, Family::kCopy);
  EXPECT_THAT(copy.ops, ElementsAre("copy"));
  EXPECT_EQ(copy.out_dtype, "bf16");

  KernelInfo cast = Decode(
      "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(cast.short_name, "copy fp32->bf16");
  // Which type of 8 bits, the name does not say.
  cast = Decode(
      "void at::native::vectorized_elementwise_kernel<4, at::native::float8_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(cast.short_name, "copy bf16->fp8");
}

TEST(ElementTypes, AreOneWordHoweverTheyAreSpelled) {
  for (const char* type : {"long", "long int", "long long", "long const*"}) {
    EXPECT_EQ(DtypeOf(type), "int64") << type;
  }
  EXPECT_EQ(DtypeOf("short int"), "int16");
  EXPECT_EQ(DtypeOf("c10::Float8_e4m3fn"), "fp8_e4m3");
  EXPECT_EQ(DtypeOf("Scalar"), "");
}

TEST(AtenNames, TellNormsSoftmaxAndReductionsApart) {
  EXPECT_THAT(Decode("void at::native::(anonymous "
                     "namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
                     "false>(int)")
                  .ops,
              ElementsAre("layer_norm"));
  EXPECT_THAT(Decode("void at::native::(anonymous "
                     "namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
                     "true>(int)")
                  .ops,
              ElementsAre("rms_norm"));
  EXPECT_THAT(Decode("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, "
                     "true, false>(int)")
                  .ops,
              ElementsAre("log_softmax"));
  KernelInfo mean = Decode(
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
      "at::native::MeanOps<float, float, float, "
      "float>, unsigned int, float, 4, 4> >(int)");
  EXPECT_EQ(mean.family, Family::kReduction);
  EXPECT_EQ(mean.short_name, "mean fp32");
}

TEST(AtenNames, AreReadByTheirCustoms) {
  struct Case {
    std::string_view name, word;
  };
  for (const Case& c : {
           Case{"void at::native::(anonymous "
                "namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u>(long)",
                "layer_norm_backward"},
           Case{"void at::native::(anonymous namespace)::upsample_bilinear2d_out_frame<float, "
                "float>(int)",
                "upsample_bilinear2d"},
           Case{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                "at::native::func_wrapper_t<float, "
                "at::native::MaxNanFunctor<float> >, unsigned int, float, 4, 4> >(int)",
                "max"},
           Case{"void at::native::(anonymous "
                "namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                "namespace)::TensorListMetadata<2>, at::native::(anonymous "
                "namespace)::UnaryOpFunctor<float, 2, 1, 1>, "
                "at::native::Sqrt<float> >(int)",
                "sqrt"},
           Case{"void at::native::(anonymous "
                "namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                "namespace)::TensorListMetadata<4>, at::native::(anonymous "
                "namespace)::PointwiseOpScalarFunctor<float, 4, 3, 3>, std::divides<float>, "
                "float>(int)",
                "addcdiv"},
           Case{"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, "
                "float, "
                "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*)",
                "log_softmax"},
           Case{"void at::native::_scatter_gather_elementwise_kernel<128, 4, "
                "at::native::_cuda_scatter_gather_internal_kernel<false, at::native::OpaqueType<2> "
                ">::operator()<at::"
                "native::TensorAssign>(at::TensorIterator&, long)::{lambda(int)#1}>(int, int)",
                "scatter_gather"},
           Case{"void at::native::elementwise_kernel<128, 2, "
                "at::native::gpu_kernel_impl_nocast<at::native::(anonymous "
                "namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar "
                "const&)::{lambda()#1}::operator()() "
                "const::{lambda(float, bool)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
                "masked_fill"},
       }) {
    EXPECT_THAT(Decode(c.name).ops, ElementsAre(std::string(c.word))) << c.name;
    EXPECT_FALSE(Decode(c.name).opaque);
  }
}

TEST(AtenNames, KnowFusedOptimizers) {
  KernelInfo adam = Decode(
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
      "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, "
      "double>(int)");
  EXPECT_EQ(adam.family, Family::kOptimizer);
  EXPECT_THAT(adam.ops, ElementsAre("_fused_adamw"));
}

TEST(RecordedNames, AreAllDecoded) {
  Json truth = ParseJson(ReadFile(PERFGATE_TEST_DATA "/traces/truth.json"), "truth.json");
  int names = 0;
  for (const auto& [trace, facts] : truth.AsObject()) {
    const Json* counts = facts.Find("names");
    if (counts == nullptr) continue;
    for (const auto& [name, count] : counts->AsObject()) {
      ++names;
      KernelInfo info = Decode(name);
      if (name == "geglu_fwd") {
        EXPECT_TRUE(info.opaque);
        continue;
      }
      EXPECT_FALSE(info.opaque) << name;
      EXPECT_NE(info.family, Family::kOther) << name;
      EXPECT_NE(info.library, "") << name;
      EXPECT_TRUE(!info.ops.empty() || info.family == Family::kGemmAux) << name;
      bool matrix = info.family == Family::kGemm || info.family == Family::kConv ||
                    info.family == Family::kAttention;
      EXPECT_EQ(info.tensor_core != TensorCore::kUnknown, matrix) << name;
      EXPECT_EQ(info.canonical.find("void "), std::string::npos) << name;
    }
  }
  EXPECT_GT(names, 200);
}

TEST(HostileNames, AreHarmless) {
  std::string open(100'000, '<');
  std::string close(100'000, '>');
  std::string tokens;
  for (int i = 0; i < 50'000; ++i) tokens += "_a";
  std::string nested = "void at::native::elementwise_kernel<";
  for (int i = 0; i < 5'000; ++i) nested += "at::native::gpu_kernel_impl<";
  // Each template argument twice the one before: 2^40 characters if it were printed.
  std::string doubling = "_Z1f1X1AIS_S_E";
  for (char c = '0'; c <= '9'; ++c) {
    for (char twice : {c, c}) doubling += std::string("S0_IS") + twice + "_S" + twice + "_E";
  }
  std::string pointers = "_Z1f" + std::string(16'000, 'P') + "i";
  std::string packs = "_Z1fI" + std::string(16'000, 'J');
  std::string nested_names = "_Z" + std::string(16'000, 'N');
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (const std::string& name : {std::string(),
                                  std::string(" "),
                                  std::string("_"),
                                  std::string(")"),
                                  std::string("nvjet_"),
                                  std::string("void "),
                                  std::string("::"),
                                  std::string("sm_xmma_"),
                                  std::string("cutlass_"),
                                  open,
                                  close,
                                  "void at::native::f" + open + close + "(",
                                  "triton_poi_fused" + tokens,
                                  "nvjet" + tokens,
                                  "graph_0_cpp_fused_" + tokens,
                                  nested,
                                  bytes,
                                  "ampere_" + bytes + "gemm_",
                                  "aten::" + tokens,
                                  doubling,
                                  pointers,
                                  packs,
                                  nested_names,
                                  "_Z" + tokens,
                                  "_Z1fI" + std::string(100'000, 'L') + "E",
                                  std::string("_Z99999999999999999999f"),
                                  std::string("_ZN"),
                                  std::string("memcpy"),
                                  std::string("Memcpy "),
                                  std::string(100'000, 'x')}) {
    KernelInfo info = DecodeKernelName(name);
    EXPECT_LE(info.short_name.size(), 60u);
    EXPECT_LE(info.canonical.size(), name.size() + (1 << 20));
    ClassifyOperator(name);
    EXPECT_LE(OperatorWord(name).size(), name.size());
  }
}

TEST(FamilyNames, ReadBackAsWritten) {
  for (int i = 0; i <= static_cast<int>(Family::kOther); ++i) {
    auto family = static_cast<Family>(i);
    EXPECT_EQ(FindFamily(ToString(family)), family);
  }
  EXPECT_EQ(FindFamily("gemms"), std::nullopt);
}

}  // namespace
}  // namespace perfgate
