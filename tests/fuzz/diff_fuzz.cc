// Any two pieces of evidence: the changes close the differences of counts and times.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diff/diff.h"
#include "invariant.h"

namespace {

using perfgate::Evidence;
using perfgate::KernelRow;

constexpr std::string_view kNames[] = {
    "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT",
    "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT",
    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_bias_TNT",
    "nvjet_sm90_hss_64x64_64x13_2x1_v_bz_TNT",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
    "alignc4_execute_kernel__5x_cublas",
    "ampere_sgemm_128x128_nn",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(int)",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
    "triton_poi_fused_gelu_mul_0",
    "triton_poi_fused_gelu_mul_3",
    "triton_poi_fused_add_gelu_mul_1",
    "triton_per_fused_native_layer_norm_0",
    "triton_poi_fused__to_copy_0",
    "geglu_fwd",
    "void f<float>(float*)",
    "void f<c10::BFloat16>(c10::BFloat16*)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, "
    "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, "
    "std::array<char*, 3ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl("
    "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() "
    "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
    ">(int)",
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(int)>(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1ul> >(int)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "false>(int)",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(int)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)",
};
constexpr std::string_view kPaths[] = {"",
                                       "graph",
                                       "aten::linear > aten::addmm",
                                       "aten::addmm",
                                       "aten::matmul > aten::mm",
                                       "aten::gelu",
                                       "aten::mul",
                                       "aten::add",
                                       "aten::contiguous > aten::clone > aten::copy_",
                                       "aten::to > aten::_to_copy > aten::copy_",
                                       "aten::layer_norm > aten::native_layer_norm",
                                       "aten::softmax > aten::_softmax",
                                       "aten::zeros > aten::zero_ > aten::fill_",
                                       "aten::scaled_dot_product_attention",
                                       "MulBackward0 > aten::mul",
                                       "my::op"};
constexpr std::string_view kTransfers[] = {"Memcpy DtoD (Device -> Device)",
                                           "Memcpy HtoD (Pageable -> Device)", "Memset (Device)"};
constexpr std::string_view kSyncs[] = {"cudaStreamSynchronize", "cudaDeviceSynchronize"};
constexpr std::string_view kDims[] = {"", "[[64, 768], [3072, 768]]", "[[1, 768], [3072, 768]]",
                                      "[[8, 64, 768]]"};

// Decoded once: the fuzzer is after the diff.
const perfgate::KernelInfo& InfoOf(size_t name) {
  static const std::vector<perfgate::KernelInfo> kInfos = [] {
    std::vector<perfgate::KernelInfo> infos;
    for (const std::string_view each : kNames) infos.push_back(perfgate::DecodeKernelName(each));
    return infos;
  }();
  return kInfos[name];
}

template <size_t kSize>
size_t Choose(FuzzedDataProvider& bytes, const std::string_view (&)[kSize]) {
  return bytes.ConsumeIntegralInRange<size_t>(0, kSize - 1);
}

void FillSteps(FuzzedDataProvider& bytes, int steps, KernelRow* row) {
  const bool same = bytes.ConsumeBool();
  for (int step = 0; step < steps; ++step) {
    if (same && step > 0) {
      row->count_per_step.push_back(row->count_per_step[0]);
      row->time_ns_per_step.push_back(row->time_ns_per_step[0]);
      continue;
    }
    row->count_per_step.push_back(bytes.ConsumeIntegralInRange<int>(0, 7));
    const int64_t each_ns = bytes.ConsumeIntegral<uint16_t>();
    row->time_ns_per_step.push_back(row->count_per_step.back() * each_ns);
  }
}

KernelRow ReadRow(FuzzedDataProvider& bytes, int steps) {
  KernelRow row;
  const size_t name = Choose(bytes, kNames);
  row.name = kNames[name];
  row.info = InfoOf(name);
  row.op_path = kPaths[Choose(bytes, kPaths)];
  row.device = bytes.ConsumeBool() ? "cuda:0" : "cuda:1";
  row.in_graph = row.op_path == "graph";
  FillSteps(bytes, steps, &row);
  const std::string_view dims = kDims[Choose(bytes, kDims)];
  if (!dims.empty()) row.shapes = {{std::string(dims), row.Count(), row.TimeNs()}};
  return row;
}

template <size_t kSize>
KernelRow ReadOther(FuzzedDataProvider& bytes, int steps, const std::string_view (&names)[kSize]) {
  KernelRow row;
  row.name = names[Choose(bytes, names)];
  row.op_path = kPaths[Choose(bytes, kPaths)];
  row.device = "cuda:0";
  FillSteps(bytes, steps, &row);
  for (const int64_t count : row.count_per_step) row.bytes_per_step.push_back(count * 4096);
  return row;
}

// A row each for (device, name, path), as extraction makes them.
void Add(KernelRow row, std::vector<KernelRow>* rows) {
  for (const KernelRow& other : *rows) {
    if (other.name == row.name && other.op_path == row.op_path && other.device == row.device)
      return;
  }
  rows->push_back(std::move(row));
}

Evidence ReadEvidence(FuzzedDataProvider& bytes, const std::vector<KernelRow>& given) {
  Evidence evidence;
  evidence.case_name = "case";
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  const int steps = given.empty() ? bytes.ConsumeIntegralInRange<int>(1, 3)
                                  : static_cast<int>(given[0].count_per_step.size());
  evidence.steps = {steps};
  evidence.kernels = given;
  for (int rows = bytes.ConsumeIntegralInRange<int>(0, 5); rows > 0; --rows) {
    Add(ReadRow(bytes, steps), &evidence.kernels);
  }
  if (!evidence.kernels.empty() && bytes.ConsumeBool()) {
    const size_t gone = bytes.ConsumeIntegralInRange<size_t>(0, evidence.kernels.size() - 1);
    evidence.kernels.erase(evidence.kernels.begin() + static_cast<std::ptrdiff_t>(gone));
  }
  if (bytes.ConsumeBool()) evidence.transfers = {ReadOther(bytes, steps, kTransfers)};
  if (bytes.ConsumeBool()) evidence.syncs = {ReadOther(bytes, steps, kSyncs)};
  return evidence;
}

void CheckClosed(const perfgate::Diff& diff) {
  int64_t count = 0;
  int64_t time_ns = diff.unchanged_time_ns;
  for (const perfgate::Change& change : diff.changes) {
    count += change.count;
    time_ns += change.time_ns;
    perfgate::Must(!change.text.empty(), "a change is told");
    perfgate::Must(!change.base.empty() || !change.head.empty(), "a change has a side");
  }
  perfgate::Must(count == diff.kernel_count, "the changes account for the number of kernels");
  perfgate::Must(time_ns == diff.kernel_time_ns, "the changes account for the kernels' time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  const Evidence base = ReadEvidence(bytes, {});
  const bool derived = bytes.ConsumeBool();
  const Evidence head = ReadEvidence(bytes, derived ? base.kernels : std::vector<KernelRow>());
  CheckClosed(perfgate::Compare(base, head));
  if (size % 16 == 0) {
    perfgate::Must(perfgate::Compare(base, base).changes.empty(),
                   "evidence does not differ from itself");
  }
  return 0;
}
