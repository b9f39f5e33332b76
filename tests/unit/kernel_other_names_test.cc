// Names of Inductor, ATen, attention, NCCL, and copies; and what no decoder knows.
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

TEST(InductorNames, CutTheOperatorSetByLongestMatch) {
  EXPECT_THAT(Decode("triton_poi_fused_gelu_mul_0").ops, ElementsAre("gelu", "mul"));
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

TEST(AttentionNames, SayDirectionTypeAndTile) {
  KernelInfo flash = Decode(
      "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
      "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, "
      "true>(int)");
  EXPECT_EQ(flash.family, Family::kAttention);
  EXPECT_EQ(flash.library, "flash");
  EXPECT_EQ(flash.in_dtype, "bf16");
  EXPECT_EQ(flash.tile, "128x128x64");
  EXPECT_EQ(flash.tensor_core, TensorCore::kYes);

  KernelInfo flash3 = Decode(
      "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
      "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<128> >, 128, cutlass::bfloat16_t, float> > "
      "> >(int)");
  EXPECT_EQ(flash3.family, Family::kAttention);
  EXPECT_EQ(flash3.arch, "sm90");

  KernelInfo cudnn = Decode(
      "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_"
      "cga1x1x1_kernel0_0");
  EXPECT_THAT(cudnn.ops, ElementsAre("scaled_dot_product_attention_backward"));
  EXPECT_EQ(cudnn.tile, "64x64x128");
  EXPECT_EQ(cudnn.in_dtype, "");  // f16 is a class in these names: bf16 kernels say it too

  KernelInfo fmha = Decode("fmha_cutlassF_bf16_aligned_64x64_rf_sm80");
  EXPECT_EQ(fmha.library, "fmha_cutlass");
  EXPECT_EQ(fmha.arch, "sm80");
}

TEST(OtherNames, CollectivesAndMemory) {
  KernelInfo nccl =
      Decode("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  EXPECT_EQ(nccl.family, Family::kCollective);
  EXPECT_THAT(nccl.ops, ElementsAre("all_reduce"));
  EXPECT_EQ(nccl.short_name, "nccl all_reduce bf16");
  EXPECT_EQ(Decode("Memcpy DtoD (Device -> Device)").family, Family::kMemory);
  EXPECT_EQ(Decode("Memcpy DtoD (Device -> Device)").canonical, "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(Decode("Memset (Device)").family, Family::kMemory);
}

TEST(CanonicalNames, SurviveNumberingAndSpelling) {
  auto canonical = [](std::string_view name) { return Decode(name).canonical; };
  EXPECT_EQ(canonical("triton_poi_fused_add_0"), canonical("triton_poi_fused_add_17"));
  EXPECT_EQ(
      canonical("void at::native::f<4, at::native::Add<float>, at::detail::Array<char*, 3> >(int)"),
      canonical(
          "void at::native::f<4, at::native::Add<float>, std::array<char*, 3ul> >(int, int)"));
  EXPECT_EQ(canonical("void f<(int)4, (unsigned long)8, (bool)1>(int)"),
            canonical("void f<4, 8ul, true>(int)"));
  EXPECT_EQ(canonical("void <unnamed>::g<float>(int)"),
            canonical("void (anonymous namespace)::g<float>(int)"));
  EXPECT_EQ(canonical("kernel_0d1d2de"), canonical("kernel"));
  EXPECT_EQ(canonical("aoti_torch_cpu_mm_out"), canonical("aten::mm"));
  EXPECT_EQ(canonical("void at::native::k<at::x(int)::{lambda()#3}::operator()() "
                      "const::{lambda(float)#1}>(int)"),
            canonical("void at::native::k<at::x(int)::{lambda()#2}::operator()() "
                      "const::{lambda(float)#1}>(int)"));
}

TEST(CanonicalNames, NeverMergeTypesOrFunctions) {
  auto canonical = [](std::string_view name) { return Decode(name).canonical; };
  EXPECT_NE(canonical("void at::native::k<at::native::Add<float> >(int)"),
            canonical("void at::native::k<at::native::Add<c10::BFloat16> >(int)"));
  EXPECT_NE(canonical("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_bias_TNT"),
            canonical("nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_bias_TNT"));
  std::string erf(kGeluTanh);
  erf.replace(erf.find("{lambda()#1}"), 12, "{lambda()#2}");
  EXPECT_NE(canonical(kGeluTanh), canonical(erf));
  EXPECT_NE(canonical("void k<(at::native::ADAM_MODE)0>(int)"),
            canonical("void k<(at::native::ADAM_MODE)1>(int)"));
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
                                  std::string("memcpy"),
                                  std::string("Memcpy "),
                                  std::string(100'000, 'x')}) {
    KernelInfo info = DecodeKernelName(name);
    EXPECT_LE(info.short_name.size(), 60u);
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
