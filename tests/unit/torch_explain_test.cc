#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Texts as LibTorch 2.11 words them.
struct Fault {
  const char* libtorch;
  const char* name;
  const char* next;
};

class Explained : public testing::TestWithParam<Fault> {};

TEST_P(Explained, HasItsNameTheNextStepAndLibTorchsOwnWords) {
  const std::string text = Explain(GetParam().libtorch);
  const std::string libtorch = GetParam().libtorch;
  EXPECT_THAT(text,
              AllOf(StartsWith(std::string(GetParam().name) + ": "), HasSubstr(GetParam().next),
                    HasSubstr("LibTorch: " + libtorch.substr(0, libtorch.find('\n')))));
}

INSTANTIATE_TEST_SUITE_P(
    All, Explained,
    testing::Values(
        Fault{"CUDA out of memory. Tried to allocate 200.00 GiB. GPU 0 has a total capacity of "
              "139.80 GiB of which 138.20 GiB is free.",
              "out of GPU memory", "smaller batch"},
        Fault{"[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
              "memory: you tried to allocate 8796093022208 bytes. Error code 12 (Cannot allocate "
              "memory)",
              "out of memory", "smaller batch"},
        Fault{"CUDA error: uncorrectable ECC error encountered\nSearch for "
              "`cudaErrorECCUncorrectable' in https://docs.nvidia.com",
              "ECC error of the GPU", "nvidia-smi -q -d ECC"},
        Fault{"CUDA error: an illegal memory access was encountered\nSearch for "
              "`cudaErrorIllegalAddress' in https://docs.nvidia.com",
              "illegal memory access on the GPU", "compute-sanitizer"},
        Fault{"CUDA error: misaligned address\n", "illegal memory access on the GPU", "alignment"},
        Fault{"CUDA error: device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA`",
              "assertion of a GPU kernel", "CUDA_LAUNCH_BLOCKING=1"},
        Fault{"CUDA error: no kernel image is available for execution on the device\n",
              "GPU unknown to this LibTorch", "architecture"},
        Fault{"The NVIDIA driver on your system is too old (found version 12020).",
              "driver too old", "update the NVIDIA driver"},
        Fault{"CUDA error: CUDA-capable device(s) is/are busy or unavailable\n",
              "GPU not available", "compute mode"},
        Fault{"No available kernel. Aborting execution.", "attention that cannot serve",
              "choose another"},
        Fault{"Invalid backend", "attention that cannot serve", "choose another"},
        Fault{"CUDA error: operation not permitted when stream is capturing\n", "no CUDA graph",
              "mode eager"},
        Fault{"CUDA error: operation failed due to a previous error during capture\n",
              "no CUDA graph", "mode eager"}));

TEST(Explain, AnyOtherFaultIsItsFirstLine) {
  EXPECT_EQ(Explain("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\nException raised"),
            "LibTorch: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  EXPECT_EQ(Explain(""), "LibTorch: ");
}

TEST(Explain, OfAScriptItIsTheLastLine) {
  EXPECT_EQ(Explain("The following operation failed in the TorchScript interpreter.\n"
                    "Traceback of TorchScript (most recent call last):\n"
                    "RuntimeError: index out of range in self\n"),
            "LibTorch: RuntimeError: index out of range in self");
}

TEST(ExplainExport, OfCppThatDoesNotCompileIsTheFirstErrorAndWhatItMeans) {
  EXPECT_EQ(
      ExplainExport("W1130 some warning\nTraceback (most recent call last):\n"
                    "/tmp/x/cm.wrapper.cpp:1907:33: error: 'aoti_torch_cuda__grouped_mm' was not "
                    "declared in this scope\n 1907 |     AOTI\nmodel.cpp:9:1: error: another\n"),
      "the C++ that AOTInductor wrote does not compile, a fault of this torch; use another mode, "
      "or another torch\n  error: 'aoti_torch_cuda__grouped_mm' was not declared in this scope");
}

TEST(ExplainExport, OfAnythingElseIsTheLastLines) {
  EXPECT_EQ(ExplainExport("1\n2\n\n3\n4\n5\n6\n7\n8\n9\n10\n"),
            "3\n  4\n  5\n  6\n  7\n  8\n  9\n  10");
  EXPECT_EQ(ExplainExport("RuntimeError: no\n"), "RuntimeError: no");
  EXPECT_EQ(ExplainExport(""), "");
}

}  // namespace
}  // namespace perfgate::runner
