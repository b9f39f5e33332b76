// Evidence by hand, a row a line.
#pragma once

#include <string>
#include <vector>

#include "diff/diff.h"

namespace perfgate {

// Names as they stand in traces.
inline constexpr std::string_view kGelu =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() "
    "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)";
inline constexpr std::string_view kGeluFp32 =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, std::array<char*, 2ul> >(int)";
inline constexpr std::string_view kMul =
    "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, "
    "c10::BFloat16, "
    "c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
    ">(int)";
inline constexpr std::string_view kAdd =
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int)";
inline constexpr std::string_view kCat =
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous "
    "namespace)::OpaqueType<2u>, unsigned int, 1, 128, 1>(int)";
inline constexpr std::string_view kCopy =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_"
    "cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() "
    "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)";
inline constexpr std::string_view kGemm = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT";
inline constexpr std::string_view kGemmBias = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT";

// `count` launches a step, each of `each_ns`, in two steps.
inline KernelRow Row(std::string_view name, std::string_view path, int64_t count = 1,
                     int64_t each_ns = 1000, std::string_view device = "cuda:0") {
  KernelRow row;
  row.name = name;
  row.op_path = path;
  row.device = device;
  row.count_per_step = {count, count};
  row.time_ns_per_step = {count * each_ns, count * each_ns};
  row.info = DecodeKernelName(name);
  return row;
}

inline KernelRow CpuRow(std::string_view name, std::string_view path, int64_t count = 1) {
  return Row(name, path, count, 1000, "cpu");
}

inline Evidence With(std::vector<KernelRow> kernels) {
  Evidence evidence;
  evidence.case_name = "case";
  evidence.device_kind = !kernels.empty() && kernels[0].device == "cpu" ? "cpu" : "cuda";
  evidence.steps = {2};
  evidence.kernels = std::move(kernels);
  return evidence;
}

// "fusion_split +1: gelu mul", one a change, in order.
inline std::vector<std::string> Lines(const Diff& diff) {
  std::vector<std::string> lines;
  for (const Change& change : diff.changes) {
    std::string line(ToString(change.kind));
    line += change.count < 0 ? " " : " +";
    line += std::to_string(change.count) + ":";
    for (const std::string& word : change.ops) line += " " + word;
    lines.push_back(std::move(line));
  }
  return lines;
}

// "fusion_split +1: one fused kernel came apart", one a change, in order.
inline std::vector<std::string> LinesWithText(const Diff& diff) {
  std::vector<std::string> told;
  for (const Change& change : diff.changes) {
    told.push_back(std::string(ToString(change.kind)) + (change.count < 0 ? " " : " +") +
                   std::to_string(change.count) + ": " + change.text);
  }
  return told;
}

// True if every launch and every nanosecond is in exactly one place, those of copies and fills too.
inline bool Closes(const Diff& diff) {
  int64_t count = 0;
  int64_t time_ns = diff.unchanged_time_ns;
  TransferDelta transfers = diff.unchanged_transfers;
  for (const Change& change : diff.changes) {
    count += change.count;
    time_ns += change.time_ns;
    transfers = transfers + change.transfers;
  }
  return count == diff.kernel_count && time_ns == diff.kernel_time_ns &&
         transfers == diff.transfers;
}

}  // namespace perfgate
