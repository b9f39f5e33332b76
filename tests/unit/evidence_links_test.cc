// Which step and which launch the work of a GPU belongs to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace perfgate
