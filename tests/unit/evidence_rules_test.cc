// One small trace a rule of extraction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Times, BusyTimeIsAUnionKernelTimeASum) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Call("cudaLaunchKernel", 2000, 500, 2);
  builder.Call("cudaLaunchKernel", 3000, 500, 3);
  builder.Kernel("a", 10'000, 4000, 1).Kernel("b", 12'000, 4000, 2, 8).Kernel("c", 20'000, 1000, 3);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(PerStep(evidence, MetricId::kGpuTime), ElementsAre(7000));
  EXPECT_THAT(PerStep(evidence, MetricId::kKernelTime), ElementsAre(9000));
  EXPECT_THAT(PerStep(evidence, MetricId::kGpuIdle), ElementsAre(4000));
  EXPECT_THAT(PerStep(evidence, MetricId::kStreams), ElementsAre(2));
}

TEST(Times, CollectivesAreApart) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Launch("gemm", 1000, 1, 5000)
      .Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20'000,
              2, 9000);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(PerStep(evidence, MetricId::kGpuTime), ElementsAre(5000));
  EXPECT_THAT(PerStep(evidence, MetricId::kCommTime), ElementsAre(9000));
}

TEST(Times, ZeroTimestampsStayCountedAndMakeTheEvidenceIncomplete) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaLaunchKernel", 30'000, 500, 30).Kernel("gemm", 0, 0, 30);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(2, 1));
  EXPECT_THAT(PerStep(evidence, MetricId::kGpuTime), ElementsAre(2000, 2000));
  EXPECT_THAT(evidence.incomplete_because,
              Contains(HasSubstr("1 of 3 GPU activities have no time")));
}

TEST(Times, ARecordThatSpansTheNextOnesCannotBeTrue) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaLaunchKernel", 30'000, 500, 30).Kernel("huge", 35'000, 3'000'000'000, 30);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(PerStep(evidence, MetricId::kGpuTime)[0], 2000 + 111'000 - 35'000);
  EXPECT_THAT(evidence.incomplete_because, Contains(HasSubstr("durations cannot be true")));
}

TEST(Times, OverlapAtTheEdgesIsReal) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Call("cudaLaunchKernel", 2000, 500, 2);
  builder.Kernel("a", 10'000, 4000, 1).Kernel("b", 12'000, 4000, 2);
  EXPECT_THAT(Extracted(builder).incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kGpuTime), ElementsAre(6000));
}

TEST(Times, LaunchesDuringTheProfilersOwnWorkLeaveTheLaunchCosts) {
  TraceBuilder builder = TwoSteps();
  builder.Host("overhead", "Activity Buffer Request", 9000, 2000, "", 0, 0);
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kLaunchApiTime), ElementsAre(0, 500));
}

TEST(Times, AStartBeforeItsLaunchIsNoNegativeDelay) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Call("cudaLaunchKernel", 10'000, 500, 1).Kernel("a", 7000, 1000, 1);
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kLaunchDelay), ElementsAre(0));
}

TEST(Transfers, AreCountedByDirectionWithTheirBytes) {
  TraceBuilder builder = TwoSteps();
  for (const int64_t step : {0, 1}) {
    const int64_t at = step * 100'000;
    builder.Call("cudaMemcpyAsync", at + 20'000, 500, 60 + step)
        .Gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at + 21'000, 1000, 60 + step,
             R"(, "bytes": 4096)")
        .Call("cudaMemsetAsync", at + 24'000, 500, 70 + step)
        .Gpu("gpu_memset", "Memset (Device)", at + 25'000, 1000, 70 + step, R"(, "bytes": 64)");
  }
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(Summarise(evidence, MetricId::kMemcpyHtoDCount).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kMemcpyHtoDBytes).value, 4096);
  EXPECT_EQ(Summarise(evidence, MetricId::kMemcpyDtoHCount).value, 0);
  EXPECT_EQ(Summarise(evidence, MetricId::kMemsetCount).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kGpuActivities).value, 3);
  ASSERT_EQ(evidence.transfers.size(), 2U);
  EXPECT_THAT(evidence.transfers[0].bytes_per_step, ElementsAre(4096, 4096));
}

TEST(Transfers, WithoutBytesAreNotZeroBytes) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaMemcpyAsync", 20'000, 500, 60)
      .Gpu("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 21'000, 1000, 60);
  EXPECT_THAT(Summarise(Extracted(builder), MetricId::kMemcpyBytes).unavailable,
              HasSubstr("does not give the bytes"));
}

TEST(Syncs, TheHarnessOnesAreApart) {
  TraceBuilder builder = TwoSteps();
  builder.Op("aten::item", 40'000, 5000).Call("cudaStreamSynchronize", 41'000, 1000, 80);
  builder.Call("cudaDeviceSynchronize", 90'000, 5000, 81)
      .Call("cudaDeviceSynchronize", 190'000, 5000, 82);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(PerStep(evidence, MetricId::kHarnessSyncs), ElementsAre(1, 1));
  EXPECT_THAT(PerStep(evidence, MetricId::kSyncs), ElementsAre(1, 0));
  ASSERT_EQ(evidence.syncs.size(), 1U);
  EXPECT_EQ(evidence.syncs[0].op_path, "aten::item");
}

TEST(Syncs, AreTheWorkloadsIfNotEveryStepHasThem) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaDeviceSynchronize", 90'000, 5000, 81);
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kSyncs), ElementsAre(1, 0));
}

TEST(Syncs, AreTheWorkloadsIfTheWriterKeepsItsOwnOutside) {
  TraceBuilder builder = TwoSteps();
  builder.Header(R"("perfgate_writer": "attempt.h",)");
  builder.Call("cudaDeviceSynchronize", 90'000, 5000, 81)
      .Call("cudaDeviceSynchronize", 190'000, 5000, 82);
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kSyncs), ElementsAre(1, 1));
}

TEST(Attribution, FollowsTheOperatorsAroundTheLaunch) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Op("aten::linear", 9000, 10'000)
      .Op("aten::addmm", 9500, 9501, "[[4], [2, 3], [3, 4]]")  // ends 1 ns after its parent
      .Launch("gemm", 10'000, 1);
  const Evidence evidence = Extracted(builder);
  ASSERT_EQ(evidence.kernels.size(), 1U);
  EXPECT_EQ(evidence.kernels[0].op_path, "aten::linear > aten::addmm");
  EXPECT_EQ(evidence.kernels[0].Operator(), "aten::addmm");
  EXPECT_EQ(evidence.kernels[0].FirstDims(), "[[4], [2, 3], [3, 4]]");
}

TEST(Attribution, DistrustsExternalIdsThatRepeatTheCorrelation) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("cpu_op", "aten::unrelated", 50'000, 1000, R"("External id": 5)", 2)
      .Host("cuda_runtime", "cudaLaunchKernel", 10'000, 500,
            R"("correlation": 5, "External id": 5)")
      .Kernel("k", 12'000, 1000, 5);
  EXPECT_EQ(Extracted(builder).kernels[0].op_path, "");
}

TEST(Attribution, CompilerRowsAreTransparentAndPathsCarryNoNumbering) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Op("Torch-Compiled Region: 0/0", 5000, 50'000)
      .Op("triton_poi_fused_gelu_mul_3", 9000, 5000)
      .Launch("triton_poi_fused_gelu_mul_3", 10'000, 1);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(evidence.kernels[0].name, "triton_poi_fused_gelu_mul_3");
  EXPECT_EQ(evidence.kernels[0].op_path, "triton_poi_fused_gelu_mul");
  EXPECT_EQ(Summarise(evidence, MetricId::kCompiledRegions).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kHostOps).value, 1);
}

TEST(CpuKernels, ComputingCallsHideTheirChildrenAndViewsDoNotCount) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Op("aten::linear", 1000, 20'000)
      .Op("aten::t", 1100, 500)
      .Op("aten::addmm", 2000, 15'000)
      .Op("aten::copy_", 3000, 500)
      .Op("aten::to", 30'000, 500)  // did nothing
      .Op("aten::contiguous", 31'000, 5000)
      .Op("aten::clone", 31'100, 4000)
      .Op("aten::copy_", 32'000, 2000)
      .Op("graph_0_cpp_fused_gelu_mul_0", 40'000, 3000);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(evidence.device_kind, "cpu");
  EXPECT_EQ(Summarise(evidence, MetricId::kCpuKernels).value, 3);
  ASSERT_EQ(evidence.kernels.size(), 3U);
  EXPECT_EQ(evidence.kernels[0].name, "aten::addmm");
  EXPECT_EQ(evidence.kernels[0].device, "cpu");
  EXPECT_THAT(evidence.kernels[0].time_ns_per_step, ElementsAre(15'000));
  EXPECT_THAT(evidence.kernels[0].info.ops, ElementsAre("addmm"));
  EXPECT_EQ(evidence.kernels[1].op_path, "aten::contiguous > aten::clone > aten::copy_");
  EXPECT_THAT(evidence.kernels[2].info.ops, ElementsAre("gelu", "mul"));
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).unavailable, "not a GPU case");
}

TEST(HostOps, AreCountedByKind) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Op("aten::linear", 1000, 20'000)
      .Op("aten::t", 1100, 500)
      .Op("aten::addmm", 2000, 15'000)
      .Op("aten::to", 30'000, 5000)
      .Op("aten::_to_copy", 30'100, 4000)
      .Op("aten::copy_", 30'200, 3000);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(Summarise(evidence, MetricId::kHostOps).value, 6);
  EXPECT_EQ(Summarise(evidence, MetricId::kRootOps).value, 2);
  EXPECT_EQ(Summarise(evidence, MetricId::kViewOps).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kCopyOps).value, 1);
}

TEST(Memory, CountsAllocationsAndTheGrowthOverTheStartOfTheStep) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Op("aten::mm", 500, 100);
  builder.Memory(1000, 100)
      .Memory(2000, -100)
      .Memory(3000, 300)
      .Memory(4000, 50)
      .Memory(5000, -300);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(Summarise(evidence, MetricId::kAllocations).value, 3);
  EXPECT_EQ(Summarise(evidence, MetricId::kAllocatedBytes).value, 450);
  EXPECT_EQ(Summarise(evidence, MetricId::kPeakBytes).value, 350);
}

TEST(Memory, IsUnavailableWithoutEventsUnlessTheFlagSaysThereWereNone) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Op("aten::mm", 500, 100);
  EXPECT_THAT(Summarise(Extracted(builder), MetricId::kAllocations).unavailable,
              HasSubstr("profile_memory"));
  builder.Header(R"("profile_memory": 1,)");
  EXPECT_EQ(Summarise(Extracted(builder), MetricId::kAllocations).value, 0);
}

TEST(Gpu, AnAllocatorOnTheGpuWithoutCudaRecordsIsIncomplete) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Op("aten::mm", 500, 100).Memory(1000, 100, 1);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(evidence.device_kind, "cuda");
  EXPECT_THAT(evidence.incomplete_because, Contains(HasSubstr("recorded the CPU only")));
}

TEST(Gpu, ATraceThatIsCutOffIsNotSaidToBeOfTheCpuOnly) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Op("aten::mm", 500, 100).Memory(1000, 100, 1);
  const std::string whole = builder.Json();
  const ScratchFile file("t.json", whole.substr(0, whole.size() - 5));
  EXPECT_THAT(ExtractTrace(file.path()).incomplete_because,
              ElementsAre(HasSubstr("the file is cut off")));
}

TEST(Gpu, ATraceOfPythonFramesAloneIsIncomplete) {
  TraceBuilder builder;
  builder.Host("python_function", "train.py(3): step", 0, 100);
  EXPECT_THAT(Extracted(builder).incomplete_because, Contains("the trace holds no events of use"));
}

TEST(Gpu, DevicesAndStreamsAreAttributes) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Call("cudaLaunchKernel", 2000, 500, 2);
  builder.Call("cudaLaunchKernel", 3000, 500, 3);
  builder.Kernel("k", 10'000, 1000, 1, 9)
      .Kernel("k", 12'000, 1000, 2, 7)
      .Kernel("k", 14'000, 1000, 3, 7, 1);
  const Evidence evidence = Extracted(builder);
  ASSERT_EQ(evidence.kernels.size(), 2U);
  EXPECT_EQ(evidence.kernels[0].device, "cuda:0");
  EXPECT_THAT(evidence.kernels[0].streams, ElementsAre(7, 9));
  EXPECT_EQ(evidence.kernels[1].device, "cuda:1");
  EXPECT_EQ(evidence.key.fields.at("gpu_count"), "2");
}

TEST(Damage, ATruncatedTraceIsIncompleteEvidence) {
  const std::string whole = TwoSteps().Json();
  const ScratchFile file("t.json", whole.substr(0, whole.size() - 40));
  EXPECT_THAT(ExtractTrace(file.path()).incomplete_because,
              Contains(HasSubstr("the file is cut off at byte")));
}

}  // namespace
}  // namespace perfgate
