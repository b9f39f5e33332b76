// One small trace a rule of extraction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "evidence/evidence.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Evidence Extracted(const TraceBuilder& builder) {
  const ScratchFile file("t.json", builder.Json());
  return ExtractTrace(file.path());
}

std::vector<double> PerStep(const Evidence& evidence, MetricId metric) {
  return Summarise(evidence, metric).per_step;
}

// Two steps of 100 us with one kernel each.
TraceBuilder TwoSteps() {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Step(2, 100'000, 100'000);
  builder.Launch("gemm", 10'000, 11).Launch("gemm", 110'000, 12);
  return builder;
}

TEST(Steps, WorkBelongsToTheStepOfItsLaunchNotOfItsTime) {
  TraceBuilder builder = TwoSteps();
  // Launched at the end of step 1, runs in the middle of step 2.
  builder.Call("cudaLaunchKernel", 99'000, 500, 20).Kernel("late", 150'000, 2000, 20);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(2, 1));
  EXPECT_FALSE(KernelSetIsStable(evidence));
  const MetricValue kernels = Summarise(evidence, MetricId::kKernels);
  EXPECT_FALSE(kernels.stable);
  EXPECT_FALSE(kernels.value.has_value());
  EXPECT_EQ(kernels.largest, 2);
}

TEST(Steps, TheSameCountWithOtherNamesIsUnstable) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Step(2, 100'000, 100'000);
  builder.Launch("a", 10'000, 11).Launch("b", 110'000, 12);
  const Evidence evidence = Extracted(builder);
  EXPECT_TRUE(Summarise(evidence, MetricId::kKernels).stable);
  EXPECT_FALSE(KernelSetIsStable(evidence));
}

TEST(Steps, WithoutMarksTheWholeTraceIsOneStepAndIsLabelledSo) {
  TraceBuilder builder;
  builder.Launch("a", 10'000, 11).Launch("b", 110'000, 12);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.steps, ElementsAre(0));
  EXPECT_EQ(evidence.TotalSteps(), 1);
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(2));
  EXPECT_THAT(evidence.notes, Contains(HasSubstr("no ProfilerStep marks")));
}

TEST(Steps, WorkOutsideTheMarksIsNotCountedAndSaid) {
  TraceBuilder builder = TwoSteps();
  builder.Launch("warm-up", 250'000, 30);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(1, 1));
  EXPECT_THAT(evidence.notes,
              Contains("1 GPU activity launched outside the marked steps, not counted"));
}

TEST(Steps, OverlappingMarksAreNoEvidence) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Step(2, 50'000, 100'000).Launch("a", 10'000, 11);
  EXPECT_THAT(Extracted(builder).incomplete_because,
              Contains("step marks overlap: ProfilerStep#2 starts inside #1"));
}

TEST(Links, WorkLaunchedBeforeTheWindowIsABucketOfItsOwn) {
  TraceBuilder builder = TwoSteps();
  builder.Kernel("earlier", 1000, 2000, 3).Kernel("earlier", 4000, 2000, 4);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(evidence.pre_window, 2);
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(1, 1));
}

TEST(Links, AnOrphanInsideTheWindowIsRecordLoss) {
  TraceBuilder builder = TwoSteps();
  builder.Kernel("lost_its_launch", 50'000, 2000, 99);
  EXPECT_THAT(Extracted(builder).incomplete_because,
              Contains(HasSubstr("1 GPU activity without a launch call in the trace (first: "
                                 "lost_its_launch)")));
}

// The first launch of the trace may be the one that was lost: calls are numbered in one order.
TEST(Links, AnOrphanAfterTheFirstCallIsRecordLossBeforeAnyLaunchToo) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaEventRecord", 5000, 500, 9)
      .Kernel("lost_its_launch", 8000, 2000, 10)
      .Launch("a", 10'000, 11);
  const Evidence evidence = Extracted(builder);
  EXPECT_EQ(evidence.pre_window, 0);
  EXPECT_THAT(evidence.incomplete_because, Contains(HasSubstr("lost_its_launch")));
}

TEST(Links, ALaunchWithoutItsKernelIsRecordLoss) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cuLaunchKernelEx", 120'000, 500, 40);
  EXPECT_THAT(
      Extracted(builder).incomplete_because,
      Contains(HasSubstr("1 launch without GPU work in the trace (first: cuLaunchKernelEx)")));
}

TEST(Links, OneGraphLaunchFansOutToItsKernels) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000).Call("cudaGraphLaunch", 10'000, 500, 5);
  builder.Kernel("a", 12'000, 2000, 5).Kernel("a", 14'000, 2000, 5).Kernel("b", 15'000, 2000, 5);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(3));
  EXPECT_THAT(PerStep(evidence, MetricId::kGraphLaunches), ElementsAre(1));
  EXPECT_THAT(PerStep(evidence, MetricId::kLaunches), ElementsAre(0));
  ASSERT_EQ(evidence.kernels.size(), 2U);
  EXPECT_EQ(evidence.kernels[0].op_path, "graph");
  EXPECT_TRUE(evidence.kernels[0].in_graph);
  EXPECT_EQ(evidence.kernels[0].Count(), 2);
}

TEST(Links, LaunchesRecordedIntoAGraphOwnNoKernel) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaStreamBeginCapture_v10000", 20'000, 500, 50)
      .Call("cudaLaunchKernel", 21'000, 500, 51)
      .Call("cudaLaunchKernel", 22'000, 500, 52)
      .Call("cudaStreamEndCapture", 23'000, 500, 53);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(evidence, MetricId::kLaunches), ElementsAre(1, 1));
  EXPECT_THAT(evidence.explain, Contains(HasSubstr("2 launches recorded into a graph")));
}

TEST(Links, ARuntimeCallAndTheDriverCallInsideItAreOneLaunch) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 10'000, 1000, 5)
      .Call("cuLaunchKernel", 10'200, 500, 5)
      .Kernel("k", 12'000, 2000, 5);
  EXPECT_THAT(PerStep(Extracted(builder), MetricId::kLaunches), ElementsAre(1));
}

TEST(Links, ACallThatCuptiCouldNotNameIsALaunchIfItHasAKernel) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("cuda_runtime", "INVALID", 10'000, 500, R"("correlation": 5, "cbid": 409)")
      .Kernel("k", 12'000, 2000, 5)
      .Call("cudaLaunchKernel", 20'000, 500, 6)
      .Kernel("k", 22'000, 2000, 6);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(evidence, MetricId::kLaunches), ElementsAre(2));
}

TEST(Links, ExternalIdsServeWhereThereAreNoCorrelations) {
  const auto event = [](std::string_view category, std::string_view name, int start, int id) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":7,"ts":{},"dur":1,"args":{{"External id":{}}}}})",
        category, name, start, id);
  };
  TraceBuilder unique;
  unique.Step(1, 0, 100'000)
      .Raw(event("cuda_runtime", "cudaLaunchKernel", 10, 5))
      .Raw(event("kernel", "k", 12, 5));
  const Evidence linked = Extracted(unique);
  EXPECT_THAT(linked.incomplete_because, IsEmpty());
  EXPECT_THAT(PerStep(linked, MetricId::kKernels), ElementsAre(1));
  EXPECT_THAT(linked.notes, Contains(HasSubstr("joined by External id")));

  TraceBuilder shared = unique;
  shared.Raw(event("cuda_runtime", "cudaLaunchKernel", 20, 5)).Raw(event("kernel", "k", 22, 5));
  const Evidence unlinked = Extracted(shared);
  EXPECT_THAT(unlinked.incomplete_because, Contains(HasSubstr("launches cannot be linked")));
  EXPECT_THAT(Summarise(unlinked, MetricId::kKernels).unavailable,
              HasSubstr("External ids are not unique"));
}

TEST(Links, TwoProcessesInOneFileAreRefused) {
  TraceBuilder builder = TwoSteps();
  builder.Call("cudaLaunchKernel", 30'000, 500, 11, 200).Kernel("k", 32'000, 2000, 11);
  EXPECT_THAT(Extracted(builder).incomplete_because,
              Contains("the file holds CUDA calls of 2 processes: give one trace a process"));
}

TEST(Links, IdenticalGpuRecordsCountOnceAndOrderIsFree) {
  TraceBuilder builder = TwoSteps();
  builder.Kernel("gemm", 11'000, 2000, 11);  // the same record again
  TraceBuilder reversed;
  for (size_t i = builder.events().size(); i > 0; --i) reversed.Raw(builder.events()[i - 1]);
  for (const TraceBuilder& trace : {builder, reversed}) {
    const Evidence evidence = Extracted(trace);
    EXPECT_THAT(PerStep(evidence, MetricId::kKernels), ElementsAre(1, 1));
    EXPECT_THAT(evidence.explain, Contains(HasSubstr("1 GPU record that the trace holds twice")));
  }
}

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
