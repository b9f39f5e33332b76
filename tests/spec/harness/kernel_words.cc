#include "harness/kernel_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace perfgate::spec {
namespace {

struct Word {
  std::string_view word, name;
};

// Names from tests/data/traces (torch 2.11, CUDA 13.0, H200), bf16.
constexpr std::array kWords = std::to_array<Word>({
    {"add",
     "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::B"
     "Float16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
     "std::array<char*, 3ul>)"},
    {"cast",
     "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at:"
     ":TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
     "const::{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsi"
     "gned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCas"
     "t<1>, at::native::memory::StoreWithCast<1> >(int, at::native::direct_copy_kernel_cud"
     "a(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator"
     "()() const::{lambda(float)#1}, std::array<char*, 2ul>, TrivialOffsetCalculator<1, un"
     "signed int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithC"
     "ast<1>, at::native::memory::StoreWithCast<1>)"},
    {"copy",
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::n"
     "ative::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
     "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorItera"
     "torBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}"
     "::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1} c"
     "onst&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::direct_"
     "copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda"
     "()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, at::"
     "native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()()"
     " const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1} const&)::{lambd"
     "a(int)#1})"},
    {"fill",
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, st"
     "d::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"},
    {"fused_gelu_mul", "triton_poi_fused_gelu_mul_0"},
    {"gelu",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at:"
     ":TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::{lamb"
     "da()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int"
     ", at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{la"
     "mbda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat"
     "16)#1}, std::array<char*, 2ul>)"},
    {"gelu_erf",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at:"
     ":TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lamb"
     "da()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int"
     ", at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{la"
     "mbda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat"
     "16)#1}, std::array<char*, 2ul>)"},
    {"gelu_fp32",
     "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at:"
     ":TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::{lamb"
     "da()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::na"
     "tive::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1"
     "}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::arr"
     "ay<char*, 2ul>)"},
    {"gemm", "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT"},
    {"gemm_bias", "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT"},
    {"gemm_fp32",
     "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sg"
     "emm_128x32_8x5_nn_align1::Params)"},
    {"gemm_other", "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_TNT"},
    {"gemm_splitk", "nvjet_sm90_tst_64x32_64x16_4x2_h_bz_splitK_TNT"},
    {"layer_norm",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
     "float, false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 "
     "const*, float*, float*, c10::BFloat16*)"},
    {"mul",
     "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFl"
     "oat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> "
     ">, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<c10::BFloat16, c10::BFloa"
     "t16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<cha"
     "r*, 3ul>)"},
    {"nccl", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"softmax",
     "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float"
     ", 10, false, false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*"
     ", int, bool)"},
    {"splitk_reduce",
     "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bf"
     "loat16, false, float, __nv_bfloat16, __nv_bfloat16, true, false, false, false>(cubla"
     "sLt::cublasSplitKParams<float>, float const*, __nv_bfloat16 const*, float*, __nv_bfl"
     "oat16*, float const*, float const*, __nv_bfloat16 const*, float const*, __nv_bfloat1"
     "6*, void*, long, float*, int*, float*, float*, float const*, float const*, float con"
     "st*, float const*, float const*)"},
});

}  // namespace

std::string ExactKernelName(const std::string& word) {
  const auto* found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& row) { return row.word == word; });
  return found == kWords.end() ? word : std::string(found->name);
}

}  // namespace perfgate::spec
