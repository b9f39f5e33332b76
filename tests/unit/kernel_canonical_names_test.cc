// The canonical name: survives numbering and spelling, never merges two different kernels.
#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "base/json.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

std::string Canonical(std::string_view name) { return DecodeKernelName(name).canonical; }

struct Pair {
  std::string_view one, other;
};

// clang-format off
constexpr Pair kSame[] = {
    // Inductor's numbers and hashes
    {"triton_poi_fused_gelu_mul_0", "triton_poi_fused_gelu_mul_3"},
    {"triton_poi_fused_add_0", "triton_poi_fused_add_0_cabcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrs"},
    {"graph_0_cpp_fused_gelu_mul_0", "graph_7_cpp_fused_gelu_mul_2"},
    {"aoti_torch_cpu_mm_out", "aten::mm"},
    // Triton's argument specialisation
    {"kernel_0d1d2de", "kernel"},
    {"triton_poi_fused_gelu_mul_0_0d1d2d3de", "triton_poi_fused_gelu_mul_4"},
    {"triton_poi_fused_gelu_mul_0d1d2d3de", "triton_poi_fused_gelu_mul_4"},
    // Lambdas are counted anew when the source changes
    {"void at::native::k<at::x(int)::{lambda()#3}::operator()() const::{lambda(float)#1}>(int)", "void at::native::k<at::x(int)::{lambda()#2}::operator()() const::{lambda(float)#1}>(int)"},
    // Toolkits, compilers, profilers spell differently
    {"void at::native::f<4, at::native::Add<float>, at::detail::Array<char*, 3> >(int)", "void at::native::f<4, at::native::Add<float>, std::array<char*, 3ul> >(int, int)"},
    {"void f<(int)4, (unsigned long)8, (bool)1>(int)", "void f<4, 8ul, true>(int)"},
    {"void f<[lambda(float) (instance 1)]>(T1)", "void f<{lambda(float)#1}>(float*)"},
    {"void <unnamed>::g<float>(int)", "void (anonymous namespace)::g<float>(int)"},
    {"void cub::CUB_200302_750_800_860_900_1000_1200_NS::DeviceScanKernel<int>(int)", "void cub::DeviceScanKernel<int>(int)"},
    {"void at::native::_INTERNAL_209856df_16_Distributions_cu_bfe2d17d::f<int>(int)", "void at::native::_INTERNAL_0346c626_16_Distributions_cu_11122233::f<int>(int)"},
    {"cask_cudnn_infer::f", "cask_cudnn_train::f"},
    {"attn_fwd.kd", "attn_fwd"},
    // Mangled and not
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"},
    {"_ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi10ELb0ELb0EEEvPT0_PKT_iiiPKbib", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*, float const*, int, int, int, bool const*, int, bool)"},
    {"_Z3addPfPKfi", "add(float*, float const*, int)"},
};

constexpr Pair kDifferent[] = {
    {"void at::native::k<at::native::Add<float> >(int)", "void at::native::k<at::native::Add<c10::BFloat16> >(int)"},
    {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_bias_TNT", "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_bias_TNT"},
    {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_bias_TNT", "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT"},
    {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "nvjet_sm90_tst_64x16_64x16_4x1_v_bz_TNT"},
    {"void k<(at::native::ADAM_MODE)0>(int)", "void k<(at::native::ADAM_MODE)1>(int)"},
    // tanh and erf
    {"void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)"},
    // Overloads
    {"scale(float*, int)", "scale(__half*, int)"},
    // Names of nothing but a number
    {"triton_poi_fused_3", "triton_poi_fused_4"},
    {"triton_red_fused_add_0", "triton_per_fused_add_0"},
    {"my_kernel_1", "my_kernel_2"},
    {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_GSU1", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_GSU2"},
};
// clang-format on

TEST(CanonicalNames, SurviveNumberingAndSpelling) {
  for (const Pair& pair : kSame) EXPECT_EQ(Canonical(pair.one), Canonical(pair.other));
}

TEST(CanonicalNames, NeverMergeTypesOrFunctions) {
  for (const Pair& pair : kDifferent) EXPECT_NE(Canonical(pair.one), Canonical(pair.other));
}

TEST(CanonicalNames, AreTheirOwn) {
  for (const Pair& pair : kSame) EXPECT_EQ(Canonical(Canonical(pair.one)), Canonical(pair.one));
  for (const Pair& pair : kDifferent)
    EXPECT_EQ(Canonical(Canonical(pair.one)), Canonical(pair.one));
}

// What a name says beside its canonical form: two names of other facts are two kernels.
std::string Facts(const KernelInfo& info) {
  std::string facts = info.library + "|" + info.arch + "|" + info.in_dtype + "|" + info.out_dtype +
                      "|" + info.layout + "|" + info.tile + "|" + info.epilogue + "|" +
                      std::to_string(info.stages) + "|" + std::to_string(info.split_k);
  for (const std::string& op : info.ops) facts += "|" + op;
  return facts;
}

TEST(CanonicalNames, OfAllRecordedNamesKeepWhatDiffers) {
  Json truth = ParseJson(ReadFile(PERFGATE_TEST_DATA "/traces/truth.json"), "truth.json");
  std::map<std::string, std::string> facts_of;  // by canonical name
  for (const auto& [trace, about] : truth.AsObject()) {
    const Json* counts = about.Find("names");
    if (counts == nullptr) continue;
    for (const auto& [name, count] : counts->AsObject()) {
      KernelInfo info = DecodeKernelName(name);
      auto [entry, is_new] = facts_of.emplace(info.canonical, Facts(info));
      EXPECT_EQ(entry->second, Facts(info)) << name;
      EXPECT_EQ(Canonical(info.canonical), info.canonical);
    }
  }
  EXPECT_GT(facts_of.size(), 90u);
}

}  // namespace
}  // namespace perfgate
