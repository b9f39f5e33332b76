// Evidence made of a fuzzer's bytes: rows that models have, and what became of each of them on the
// other side, so that every pass of the diff finds work.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate::made {

inline constexpr std::string_view kNames[] = {
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
    // Optimizers, and what layers are made of.
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<"
    "float, 2, 1, 1>, std::multiplies<float>, float>(int)",
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::addcmul_cuda_scalar_functor<"
    "float>, std::array<char*, 4ul> >(int)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4, 4> >(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::exp_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
    "a_name_that_says_nothing",
};

// Rows as models have them: what is launched, by whom, with which shapes.
struct Usual {
  std::string_view name, path, dims;
};
inline constexpr Usual kUsual[] = {
    {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT", "aten::linear > aten::mm",
     "[[64, 768], [768, 2304]]"},
    {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT", "aten::linear > aten::mm",
     "[[64, 768], [768, 768]]"},
    {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_bias_TNT", "aten::linear > aten::addmm",
     "[[768], [64, 768], [768, 768]]"},
    {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT", "aten::bmm", "[[8, 64, 768], [8, 768, 64]]"},
    {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT", "aten::mm", "[[64, 768], [768, 64]]"},
    {"ampere_sgemm_128x128_nn", "aten::mm", "[[64, 768], [768, 2304]]"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(int)",
     "aten::linear > aten::addmm", "[[768], [64, 768], [768, 768]]"},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "aten::scaled_dot_product_attention",
     "[[8, 12, 64, 64], [8, 12, 64, 64], [8, 12, 64, 64]]"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(int)",
     "aten::softmax > aten::_softmax", "[[8, 12, 64, 64]]"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
     "false>(int)",
     "aten::layer_norm > aten::native_layer_norm", "[[64, 768], [768], [768]]"},
};

template <size_t kSize>
constexpr size_t Index(const std::string_view (&names)[kSize], std::string_view name) {
  return static_cast<size_t>(std::find(names, names + kSize, name) - names);
}
static_assert(std::all_of(std::begin(kUsual), std::end(kUsual), [](const Usual& usual) {
  return Index(kNames, usual.name) < std::size(kNames);
}));

inline constexpr std::string_view kPaths[] = {"",
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
                                              "aten::mean",
                                              "aten::rsqrt",
                                              "aten::exp",
                                              "aten::_foreach_mul_",
                                              "Optimizer.step#AdamW.step > aten::_fused_adamw_",
                                              "my::op"};
inline constexpr std::string_view kTransfers[] = {
    "Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)"};
inline constexpr std::string_view kSyncs[] = {"cudaStreamSynchronize", "cudaDeviceSynchronize"};
inline constexpr std::string_view kDims[] = {
    "",
    "[[64, 768], [768, 2304]]",
    "[[64, 768], [768, 768]]",
    "[[128, 768], [768, 768]]",
    "[[768], [64, 768], [768, 768]]",
    "[[8, 64, 768], [8, 768, 64]]",
    "[[64, 768], [768, 64]]",
    "[[64, 768]]",
    "[[32, 768]]",
    "[[512, 768], []]",
    "[[], []]",
    "[[0, 768], [768, 0]]",
    "[[64, 9223372036854775807], [9223372036854775807, 64]]",
    "[[64, "};
inline constexpr std::string_view kOperators[] = {"aten::mm", "aten::addmm", "aten::layer_norm",
                                                  "aten::scaled_dot_product_attention"};
inline constexpr std::string_view kDevices[] = {"cuda:0", "cuda:1", "cpu"};
inline constexpr std::string_view kPlaces[] = {"Net_0 > Linear_0", "Net_0 > Linear_1", "Mlp_0"};

// Decoded once: the fuzzer is after the diff.
inline const KernelInfo& InfoOf(size_t name) {
  static const std::vector<KernelInfo> kInfos = [] {
    std::vector<KernelInfo> infos;
    for (const std::string_view each : kNames) infos.push_back(DecodeKernelName(each));
    return infos;
  }();
  return kInfos[name];
}

template <size_t kSize>
size_t Choose(FuzzedDataProvider& bytes, const std::string_view (&)[kSize]) {
  return bytes.ConsumeIntegralInRange<size_t>(0, kSize - 1);
}

inline void FillSteps(FuzzedDataProvider& bytes, int steps, KernelRow* row) {
  row->count_per_step.clear();
  row->time_ns_per_step.clear();
  const bool same = bytes.ConsumeBool();
  for (int step = 0; step < steps; ++step) {
    if (same && step > 0) {
      row->count_per_step.push_back(row->count_per_step[0]);
      row->time_ns_per_step.push_back(row->time_ns_per_step[0]);
      continue;
    }
    row->count_per_step.push_back(bytes.ConsumeIntegralInRange<int>(0, 24));
    const int64_t each_ns = bytes.ConsumeIntegral<uint16_t>();
    row->time_ns_per_step.push_back(row->count_per_step.back() * each_ns);
  }
}

// Shares the row's launches out among shapes: all of them, unless there are more than are kept.
inline void FillShapes(FuzzedDataProvider& bytes, std::string dims, KernelRow* row) {
  row->shapes.clear();
  int64_t count = row->Count(), time_ns = row->TimeNs();
  for (int more = bytes.ConsumeIntegralInRange<int>(0, 3); count > 0 && !dims.empty(); --more) {
    const int64_t part = more <= 0 ? count : bytes.ConsumeIntegralInRange<int64_t>(1, count);
    const int64_t part_ns = time_ns / count * part;
    row->shapes.push_back({dims, part, part_ns});
    count -= part;
    time_ns -= part_ns;
    dims = kDims[Choose(bytes, kDims)];
  }
}

inline void FillPlaces(FuzzedDataProvider& bytes, KernelRow* row) {
  const std::string_view place = kPlaces[Choose(bytes, kPlaces)];
  auto& places = bytes.ConsumeBool() ? row->modules : row->annotations;
  places.push_back({std::string(place), row->Count(), row->TimeNs()});
  if (bytes.ConsumeBool()) row->backward_of = "aten::addmm";
}

inline void Rename(size_t name, KernelRow* row) {
  row->name = kNames[name];
  row->info = InfoOf(name);
}

inline void PlaceUnder(std::string_view path, KernelRow* row) {
  row->op_path = path;
  row->in_graph = path == "graph";
}

inline KernelRow ReadRow(FuzzedDataProvider& bytes, int steps) {
  KernelRow row;
  std::string_view dims;
  row.device = "cuda:0";
  if (bytes.ConsumeBool()) {
    const Usual& usual = kUsual[bytes.ConsumeIntegralInRange<size_t>(0, std::size(kUsual) - 1)];
    Rename(Index(kNames, usual.name), &row);
    PlaceUnder(usual.path, &row);
    dims = usual.dims;
  } else {
    Rename(Choose(bytes, kNames), &row);
    PlaceUnder(kPaths[Choose(bytes, kPaths)], &row);
    row.device = kDevices[Choose(bytes, kDevices)];
    dims = kDims[Choose(bytes, kDims)];
  }
  FillSteps(bytes, steps, &row);
  FillShapes(bytes, std::string(dims), &row);
  if (bytes.ConsumeBool()) FillPlaces(bytes, &row);
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
inline void Add(KernelRow row, std::vector<KernelRow>* rows) {
  const bool there = std::any_of(rows->begin(), rows->end(), [&row](const KernelRow& other) {
    return other.name == row.name && other.op_path == row.op_path && other.device == row.device;
  });
  if (!there) rows->push_back(std::move(row));
}

// What bounds a side is told by these.
inline void FillValues(FuzzedDataProvider& bytes, int steps, Evidence* evidence) {
  for (const MetricId metric :
       {MetricId::kGpuTime, MetricId::kCommTime, MetricId::kGpuIdle, MetricId::kGpuActivities,
        MetricId::kSyncs, MetricId::kLaunches, MetricId::kGraphLaunches, MetricId::kLatencyP50,
        MetricId::kCpuKernelTime}) {
    if (bytes.ConsumeBool()) continue;
    const double value = bytes.ConsumeIntegral<uint16_t>();
    evidence->values.push_back(
        {metric, Side::kHead, 0, 0, std::vector<double>(static_cast<size_t>(steps), value)});
  }
  if (bytes.ConsumeBool()) return;
  IdleTimes& idle = evidence->idle;
  for (int step = 0; step < steps; ++step) {
    for (auto* part : {&idle.launch_ns, &idle.sync_ns, &idle.queued_ns}) {
      part->push_back(bytes.ConsumeIntegral<uint8_t>());
    }
    idle.queue_depth.push_back(bytes.ConsumeIntegral<uint8_t>());
  }
}

// The same launches in pieces, or pieces as one: a product of three times the columns.
inline void Reshape(FuzzedDataProvider& bytes, int steps, KernelRow* row) {
  static constexpr std::string_view kWhole = "[[64, 768], [768, 2304]]";
  static constexpr std::string_view kPart = "[[64, 768], [768, 768]]";
  const bool whole = row->FirstDims() == kWhole;
  for (int64_t& count : row->count_per_step) count = whole ? count * 3 : count / 3;
  for (int64_t& time_ns : row->time_ns_per_step) time_ns = whole ? time_ns * 3 : time_ns / 3;
  if (bytes.ConsumeBool()) FillSteps(bytes, steps, row);
  row->shapes = {{std::string(whole ? kPart : kWhole), row->Count(), row->TimeNs()}};
}

// What became of a row of the base; false: it went.
inline bool Change(FuzzedDataProvider& bytes, int steps, KernelRow* row) {
  switch (bytes.ConsumeIntegralInRange<int>(0, 7)) {
    case 0:
      return false;
    case 1:
      FillSteps(bytes, steps, row);
      FillShapes(bytes, std::string(row->FirstDims()), row);
      break;
    case 2:
      Rename(Choose(bytes, kNames), row);
      break;
    case 3:
      PlaceUnder(kPaths[Choose(bytes, kPaths)], row);
      break;
    case 4:
      Reshape(bytes, steps, row);
      break;
    case 5:
      FillShapes(bytes, std::string(kDims[Choose(bytes, kDims)]), row);
      break;
    default:
      break;
  }
  return true;
}

// `base`: of the other side, whose rows this one has in part.
inline Evidence ReadEvidence(FuzzedDataProvider& bytes, const Evidence* base) {
  Evidence evidence;
  evidence.case_name = "case";
  evidence.device_kind = bytes.ConsumeIntegralInRange(0, 7) == 0 ? "cpu" : "cuda";
  evidence.device_name = bytes.ConsumeBool() ? "NVIDIA H200" : "an unknown GPU";
  const int steps = base != nullptr ? base->TotalSteps() : bytes.ConsumeIntegralInRange<int>(1, 3);
  evidence.steps = {steps};
  const int most = base != nullptr ? 4 : 6;
  evidence.kernels.reserve((base != nullptr ? base->kernels.size() : 0) +
                           static_cast<size_t>(most));
  if (base != nullptr) {
    for (KernelRow row : base->kernels) {
      if (Change(bytes, steps, &row)) Add(std::move(row), &evidence.kernels);
    }
  }
  for (int rows = bytes.ConsumeIntegralInRange<int>(0, most); rows > 0; --rows) {
    Add(ReadRow(bytes, steps), &evidence.kernels);
  }
  for (int rows = bytes.ConsumeIntegralInRange<int>(0, 2); rows > 0; --rows) {
    Add(ReadOther(bytes, steps, kTransfers), &evidence.transfers);
    Add(ReadOther(bytes, steps, kSyncs), &evidence.syncs);
  }
  for (int rows = bytes.ConsumeIntegralInRange<int>(0, 2); rows > 0; --rows) {
    OperatorRow row;
    row.name = kOperators[Choose(bytes, kOperators)];
    row.kind = OperatorKind::kComputing;
    row.count_per_step.assign(static_cast<size_t>(steps), bytes.ConsumeIntegralInRange(0, 3));
    row.input_dims = kDims[Choose(bytes, kDims)];
    evidence.operators.push_back(std::move(row));
  }
  if (bytes.ConsumeBool()) FillValues(bytes, steps, &evidence);
  return evidence;
}

}  // namespace perfgate::made
