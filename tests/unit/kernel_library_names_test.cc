// Names of CUB, cuDNN, NCCL and of widely used extensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/kernel.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct LibraryRow {
  std::string_view name;
  Family family;
  std::string_view library;
  std::vector<std::string> ops;
};

void Expect(const std::vector<LibraryRow>& rows) {
  for (const LibraryRow& row : rows) {
    SCOPED_TRACE(row.name);
    KernelInfo info = DecodeKernelName(row.name);
    EXPECT_EQ(info.family, row.family);
    EXPECT_EQ(info.library, row.library);
    EXPECT_EQ(info.ops, row.ops);
  }
}

// clang-format off
TEST(CubNames, SayWhatIsSummedOnlyIfTheFunctorDoes) {
  Expect({
      {"void at_cuda_detail::cub::detail::scan::DeviceScanKernel<at_cuda_detail::cub::detail::scan::policy_hub<long, long, long, unsigned int, std::plus<long> >::Policy1000, long const*, long*>(int)", Family::kScan, "cub", {"cumsum"}},
      {"void at_cuda_detail::cub::detail::scan::DeviceScanInitKernel<at_cuda_detail::cub::ScanTileState<long, true> >(int)", Family::kScan, "cub", {"scan"}},
      {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, long, int>::Policy800, false, long, long, int>(int)", Family::kSort, "cub", {"sort"}},
      {"void cub::DeviceReduceSingleTileKernel<cub::DeviceReducePolicy<int, int, cub::Max>::Policy600, int*>(int)", Family::kReduction, "cub", {"reduce"}},
      {"void cub::DeviceReduceKernel<cub::DeviceReducePolicy<int, int, cub::Sum>::Policy600, int*>(int)", Family::kReduction, "cub", {"sum"}},
      {"void rocprim::ROCPRIM_300001_NS::detail::radix_sort_onesweep_kernel<int>(int)", Family::kSort, "rocprim", {"sort"}},
  });
  EXPECT_TRUE(DecodeKernelName("void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<int> >(int)").opaque);
}

TEST(DriverNames, OfCopiesAndFillsAreSuchAlsoWhereAGraphShowsThemAsKernels) {
  Expect({
      {"Memcpy DtoD (Device -> Device)", Family::kMemory, "", {"copy"}},
      {"memcpy128", Family::kMemory, "", {"copy"}},
      {"memcpy32_post", Family::kMemory, "", {"copy"}},
      {"Memset (Device)", Family::kMemory, "", {"fill"}},
      {"memset32", Family::kMemory, "", {"fill"}},
      {"__amd_rocclr_copyBuffer", Family::kMemory, "", {"copy"}},
      {"__amd_rocclr_copyBufferRectAligned.kd", Family::kMemory, "", {"copy"}},
      {"__amd_rocclr_copyImageToBuffer", Family::kMemory, "", {"copy"}},
      {"__amd_rocclr_fillBufferAligned.kd", Family::kMemory, "", {"fill"}},
      {"__amd_rocclr_fillBufferAligned2D", Family::kMemory, "", {"fill"}},
      {"__amd_rocclr_fillImage", Family::kMemory, "", {"fill"}},
  });
  EXPECT_TRUE(DecodeKernelName("memcpy_tokens").opaque);
  EXPECT_TRUE(DecodeKernelName("memcpy_post").opaque);
  EXPECT_TRUE(DecodeKernelName("memset_cache").opaque);
  for (const char* other : {"__amd_rocclr_initHeap.kd", "__amd_rocclr_scheduler",
                            "__amd_rocclr_streamOpsWrite", "my__amd_rocclr_copyBuffer"}) {
    EXPECT_EQ(MemoryKernelOf(other), MemoryKernel::kNone) << other;
  }
}

TEST(CudnnNames, SayTheOperator) {
  Expect({
      {"void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true, (cudnnKernelDataType_t)0>(int)", Family::kCopy, "cudnn", {"copy"}},
      {"void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)", Family::kCopy, "cudnn", {"copy"}},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(int)", Family::kNorm, "cudnn", {"batch_norm"}},
      {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(int)", Family::kNorm, "cudnn", {"batch_norm_backward"}},
      {"void cudnn::ops::pooling_fw_4d_kernel<float, float, cudnn::maxpooling_func<float, false>, 0, false>(int)", Family::kReduction, "cudnn", {"pool"}},
      {"softmax_bw_small_kernel<2, float, float, 256>", Family::kSoftmax, "cudnn", {"softmax_backward"}},
      {"void RNN_blockPersist_fp_LSTM<__half, __half, float, 512>(int)", Family::kGemm, "cudnn", {"rnn"}},
  });
  // What it computes is an enumerator that nobody documents.
  EXPECT_TRUE(DecodeKernelName("void cudnn::ops::op_generic_tensor_kernel<2, float, float, float, 256, (cudnnGenericOp_t)7>(int)").opaque);
}

TEST(CollectiveNames, SayTheOperationAndTheType) {
  Expect({
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {"all_reduce"}},  // row 74
      {"ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {"all_reduce"}},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {"reduce_scatter"}},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {"all_gather"}},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {"send_recv"}},
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Family::kCollective, "nccl", {"all_reduce"}},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", Family::kCollective, "nccl", {}},
      {"void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(int)", Family::kCollective, "symm_mem", {"all_reduce"}},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(int)", Family::kCollective, "vllm", {"all_reduce"}},
  });
  EXPECT_EQ(DecodeKernelName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)").in_dtype, "bf16");
  EXPECT_EQ(DecodeKernelName("ncclKernel_AllReduce_RING_LL_Sum_float(int)").in_dtype, "fp32");
}

TEST(MemoryNames, AreCopiesAndFills) {  // rows 75 and 76
  Expect({
      {"Memcpy DtoD (Device -> Device)", Family::kMemory, "", {"copy"}},
      {"Memcpy HtoD (Pageable -> Device)", Family::kMemory, "", {"copy"}},
      {"Memcpy HtoD (Pinned -> Device)", Family::kMemory, "", {"copy"}},
      {"Memcpy DtoH (Device -> Pageable)", Family::kMemory, "", {"copy"}},
      {"Memset (Device)", Family::kMemory, "", {"fill"}},
      {"CopyHostToDevice", Family::kMemory, "", {"copy"}},
      {"zeCommandListAppendMemoryCopy(M2D)", Family::kMemory, "", {"copy"}},
  });
  EXPECT_EQ(DecodeKernelName("Memcpy HtoD (Pinned -> Device)").canonical, "Memcpy HtoD (Pinned -> Device)");
}

TEST(MemoryNames, SayTheDirectionInEachRuntimesSpelling) {
  const auto expect = [](CopyDirection direction, std::initializer_list<const char*> names) {
    for (const char* name : names) EXPECT_EQ(DirectionOfCopy(name), direction) << name;
  };
  expect(CopyDirection::kHostToDevice,
         {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD", "CopyHostToDevice",
          "Memcpy M2D (Memory -> Device)", "Memcpy H2D (Host -> Device)",
          "zeCommandListAppendMemoryCopy(M2D)"});
  expect(CopyDirection::kDeviceToHost,
         {"Memcpy DtoH (Device -> Pageable)", "CopyDeviceToHost", "Memcpy D2M (Device -> Memory)",
          "zeCommandListAppendMemoryCopy(D2H)"});
  expect(CopyDirection::kDeviceToDevice,
         {"Memcpy DtoD (Device -> Device)", "CopyDeviceToDevice", "Memcpy D2D (Device -> Device)",
          "memcpy128", "memcpy32_post", "__amd_rocclr_copyBuffer.kd"});
  expect(CopyDirection::kOther,
         {"Memcpy PtoP (Device -> Device)", "Memcpy HtoH (Pageable -> Pinned)",
          "Memcpy HtoA (Pinned -> Array)", "Memcpy D2S (Device -> Shared)"});
  expect(CopyDirection::kUnknown,
         {"Memcpy <unknown> (? -> ?)", "Memcpy", "Memcpy ", "zeCommandListAppendMemoryCopy", "D2D",
          "gemm_kernel", ""});
}

TEST(ExtensionNames, AreKnownByTheirNamespaces) {
  Expect({
      {"void perfgate::act_and_mul_kernel<__nv_bfloat16, &(perfgate::gelu_tanh(float)), 8>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, long, long, long, long, long)", Family::kPointwise, "perfgate", {"gelu", "mul"}},
      {"void perfgate::act_and_mul_kernel<__half, &perfgate::silu, 1>(__half const*, __half const*, __half*, long, long, long, long, long)", Family::kPointwise, "perfgate", {"silu", "mul"}},
      {"_ZN8perfgate18act_and_mul_kernelIfXadL_ZNS_8gelu_erfEfEELi4EEEvPKT_S3_PS1_lllll", Family::kPointwise, "perfgate", {"gelu", "mul"}},
      {"void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*)", Family::kPointwise, "vllm", {"silu", "mul"}},
      {"std::enable_if<(8>0)&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)", Family::kNorm, "vllm", {"rms_norm"}},
      {"void vllm::paged_attention_v1_kernel<float, float, 64>(int)", Family::kAttention, "vllm", {"scaled_dot_product_attention"}},
      {"void vllm::moe::topkGatingSoftmax<4, 8, 4, 16>(int)", Family::kSort, "vllm", {"topk"}},
      {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<1> >(int)", Family::kAttention, "flashinfer", {"scaled_dot_product_attention"}},
      {"void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(int)", Family::kNorm, "flashinfer", {"rms_norm"}},
      {"void cuApplyLayerNorm<c10::Half, float, c10::Half>(int)", Family::kNorm, "apex", {"layer_norm"}},
      {"void (anonymous namespace)::scaled_upper_triang_masked_softmax_warp_forward<c10::Half, c10::Half, float, 10>(int)", Family::kSoftmax, "apex", {"softmax"}},
      {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float>, float, float>(int)", Family::kOptimizer, "aten", {"_fused_adam"}},
      {"void transformer_engine::normalization::rmsnorm_fwd_general_kernel<int>(int)", Family::kNorm, "transformer_engine", {"rms_norm"}},
      {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<7168u, 128u>(int)", Family::kGemm, "deep_gemm", {"mm"}},
      {"void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4>(int)", Family::kGemm, "marlin", {"mm"}},
      {"void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(int)", Family::kPointwise, "bitsandbytes", {"dequantize"}},
      {"void cross_entropy_forward<float>(float*)", Family::kOther, "", {}},
  });
}
// clang-format on

TEST(ExtensionNames, OfUsersStayUnknown) {
  for (std::string_view name :
       {"rms_norm_kernel", "void rms_norm_kernel<float>(float*)", "_rms_norm_forward_kernel",
        "_geglu_tanh_forward_kernel", "my::attn_fwd_kernel", "gemm_kernel"}) {
    EXPECT_TRUE(DecodeKernelName(name).opaque) << name;
    EXPECT_THAT(DecodeKernelName(name).ops, IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace perfgate
