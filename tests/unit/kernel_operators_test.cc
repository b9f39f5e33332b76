#include <gtest/gtest.h>

#include "kernel/kernel.h"

namespace perfgate {
namespace {

TEST(Operators, ThatComputeAreInTheTable) {
  for (std::string_view name : {"aten::addmm",
                                "aten::mm",
                                "aten::bmm",
                                "aten::gelu",
                                "aten::mul_",
                                "aten::add_",
                                "aten::sum",
                                "aten::_softmax",
                                "aten::native_layer_norm",
                                "aten::convolution",
                                "aten::embedding",
                                "aten::index",
                                "aten::cat",
                                "aten::fill_",
                                "aten::zero_",
                                "aten::cudnn_convolution",
                                "aten::_fused_adamw_",
                                "aoti_torch_cpu_mm_out",
                                "aoti_torch_cpu_addmm_out",
                                "aten::mse_loss_backward",
                                "aten::where",
                                "aten::_scaled_dot_product_flash_attention_for_cpu",
                                "aten::_scaled_dot_product_cudnn_attention_backward",
                                "aten::_foreach_add_",
                                "aten::_foreach_norm",
                                "aten::_foreach_copy_",
                                "aten::_scaled_mm",
                                "aten::_int_mm",
                                "aten::_grouped_mm",
                                "aten::_weight_int4pack_mm",
                                "aten::cudnn_batch_norm",
                                "aten::miopen_batch_norm",
                                "aten::miopen_convolution",
                                "aten::_cudnn_rnn",
                                "aten::_fft_r2c",
                                "aten::sort",
                                "aten::scatter_add_",
                                "aten::native_batch_norm_backward",
                                "aten::_amp_update_scale_",
                                "quantized::linear_dynamic"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kComputing) << name;
  }
}

TEST(Operators, ThatDoNoWorkAreToldApart) {
  for (std::string_view name :
       {"aten::t", "aten::view", "aten::as_strided", "aten::_unsafe_view", "aten::detach", "detach",
        "aten::reshape", "aten::numpy_T", "aten::expand", "aten::slice"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kView) << name;
  }
  for (std::string_view name :
       {"aten::empty", "aten::empty_strided", "aten::empty_like", "aten::resize_"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kAllocation) << name;
  }
  for (std::string_view name :
       {"aten::resolve_conj", "aten::result_type", "aten::item", "aten::_local_scalar_dense",
        "AddmmBackward0", "torch::autograd::CppNode<MyFunction>",
        "autograd::engine::evaluate_function: TBackward0", "torch::autograd::AccumulateGrad",
        "record_param_comms"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kMetadata) << name;
  }
}

TEST(Operators, ThatCopy) {
  for (std::string_view name : {"aten::copy_", "aten::clone", "aten::contiguous", "aten::to",
                                "aten::_to_copy", "aten::view_copy", "aten::lift_fresh_copy"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kCopy) << name;
  }
}

TEST(Operators, OfTheCompilerAndItsRegions) {
  for (std::string_view name : {"TorchDynamo Cache Lookup", "Torch-Compiled Region: 0/0",
                                "Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue",
                                "## Call CompiledFxGraph fvtnhvnnxxgmzm3zpnj ##"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kCompiler) << name;
  }
  for (std::string_view name :
       {"graph_0_cpp_fused_gelu_mul_0", "cpp_fused_gelu_mul_0", "triton_poi_fused_gelu_mul_0"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kFused) << name;
  }
}

TEST(Operators, MadeOfOthersOrUnknownCountByTheirChildren) {
  for (std::string_view name :
       {"aten::linear", "aten::matmul", "aten::softmax", "aten::zeros", "my::add",
        "c10d::allreduce_", "MyFunction", "torch::distributed::reducer::mul_out"}) {
    EXPECT_EQ(ClassifyOperator(name), OperatorKind::kOther) << name;
  }
}

TEST(Operators, ThatNoCpuRunsTellOfAGpu) {
  for (const char* name : {"aten::cudnn_convolution", "aten::_cudnn_rnn", "aten::miopen_batch_norm",
                           "aten::_flash_attention_forward", "triton_poi_fused_add_0"}) {
    EXPECT_TRUE(RunsOnGpuAlone(name)) << name;
  }
  for (const char* name :
       {"aten::cudnn_is_acceptable", "aten::convolution", "aten::mm",
        "aten::_scaled_dot_product_flash_attention_for_cpu", "graph_0_cpp_fused_add_0"}) {
    EXPECT_FALSE(RunsOnGpuAlone(name)) << name;
  }
}

TEST(OperatorWords, AreOneForAllSpellings) {
  EXPECT_EQ(OperatorWord("aten::mm"), "mm");
  EXPECT_EQ(OperatorWord("aoti_torch_cpu_mm_out"), "mm");
  EXPECT_EQ(OperatorWord("aten::gelu_"), "gelu");
  EXPECT_EQ(OperatorWord("aten::linear"), "linear");
  EXPECT_EQ(OperatorWord("aten::_softmax"), "softmax");
  EXPECT_EQ(OperatorWord("aten::native_layer_norm"), "layer_norm");
  EXPECT_EQ(OperatorWord("aten::_to_copy"), "copy");
  EXPECT_EQ(OperatorWord("aten::miopen_convolution"), "convolution");
  EXPECT_EQ(OperatorWord("aten::cudnn_batch_norm_backward"), "batch_norm_backward");
  EXPECT_EQ(OperatorWord("aten::native_group_norm_backward"), "group_norm_backward");
  EXPECT_EQ(OperatorWord("aten::__and__"), "__and__");
  EXPECT_EQ(OperatorWord("aten::_"), "_");
}

TEST(OperatorWords, OfACpuRowAreItsSet) {
  KernelInfo mm = DecodeKernelName("aoti_torch_cpu_mm_out");
  EXPECT_EQ(mm.family, Family::kGemm);
  EXPECT_EQ(mm.ops, std::vector<std::string>{"mm"});
  EXPECT_EQ(mm.short_name, "mm");
  EXPECT_FALSE(mm.opaque);
  EXPECT_EQ(DecodeKernelName("aten::native_layer_norm").family, Family::kNorm);
}

}  // namespace
}  // namespace perfgate
