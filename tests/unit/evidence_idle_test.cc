// Why a GPU was idle, and how far the host ran ahead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::ElementsAre;

TEST(Idle, IsTheHostsWhereItLaunchedLate) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Kernel("a", 3000, 2000, 1)  // runs dry at 5 us
      .Call("cudaLaunchKernel", 9000, 500, 2)
      .Kernel("b", 12'000, 2000, 2);
  const IdleTimes idle = Extracted(builder).idle;
  EXPECT_THAT(idle.launch_ns, ElementsAre(4500));
  EXPECT_THAT(idle.queued_ns, ElementsAre(2500));
  EXPECT_THAT(idle.sync_ns, ElementsAre(0));
  EXPECT_THAT(idle.queue_depth, ElementsAre(0));
}

TEST(Idle, IsTheSyncsWhereTheHostWaitedWhenTheGpuRanDry) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Kernel("a", 3000, 2000, 1)
      .Call("cudaStreamSynchronize", 2000, 4000, 9)
      .Call("cudaLaunchKernel", 9000, 500, 2)
      .Kernel("b", 12'000, 2000, 2);
  const IdleTimes idle = Extracted(builder).idle;
  EXPECT_THAT(idle.sync_ns, ElementsAre(4500));
  EXPECT_THAT(idle.launch_ns, ElementsAre(0));
  EXPECT_THAT(idle.queued_ns, ElementsAre(2500));
}

TEST(Idle, IsTheDevicesWhereTheWorkWasQueued) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  for (int i = 0; i < 4; ++i) builder.Call("cudaLaunchKernel", 1000 + 1000 * i, 500, i + 1);
  for (int i = 0; i < 4; ++i) builder.Kernel("k", 10'000 + 3000 * i, 2000, i + 1);
  const IdleTimes idle = Extracted(builder).idle;
  EXPECT_THAT(idle.queued_ns, ElementsAre(3000));
  EXPECT_THAT(idle.launch_ns, ElementsAre(0));
  EXPECT_THAT(idle.queue_depth, ElementsAre(1.5));  // 0, 1, 2, 3
}

TEST(Idle, ALaunchFindsTheWorksOfTheStepsBeforeItInTheQueue) {
  TraceBuilder builder;
  builder.Step(1, 0, 10'000).Step(2, 10'000, 10'000).Step(3, 20'000, 100'000);
  // Three launches in step 1; the second of them is still waiting when step 2 launches, the third
  // when step 3 does.
  for (int i = 0; i < 3; ++i) builder.Call("cudaLaunchKernel", 1000 + 1000 * i, 500, i + 1);
  builder.Kernel("a", 3500, 8000, 1).Kernel("b", 11'500, 8000, 2).Kernel("c", 30'000, 8000, 3);
  builder.Call("cudaLaunchKernel", 11'000, 500, 4).Kernel("d", 38'000, 8000, 4);
  builder.Call("cudaLaunchKernel", 21'000, 500, 5).Kernel("e", 46'000, 8000, 5);
  builder.Call("cudaLaunchKernel", 41'000, 500, 6).Kernel("f", 54'000, 8000, 6);
  // Step 1: none, a, a and b. Step 2: b and c. Step 3: c and d, then e.
  EXPECT_THAT(Extracted(builder).idle.queue_depth, ElementsAre(1, 2, 1.5));
}

TEST(Idle, OfAnotherThreadsSyncIsNoSync) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaLaunchKernel", 1000, 500, 1)
      .Kernel("a", 3000, 2000, 1)
      .Host("cuda_runtime", "cudaStreamSynchronize", 2000, 4000, R"("correlation": 9)", 2)
      .Call("cudaLaunchKernel", 9000, 500, 2)
      .Kernel("b", 12'000, 2000, 2);
  EXPECT_THAT(Extracted(builder).idle.launch_ns, ElementsAre(4500));
}

// The causes add up to the metric, in every step of every recorded trace.
TEST(Idle, CausesAddUp) {
  int traces = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PERFGATE_TEST_DATA) / "traces")) {
    if (entry.path().extension() != ".gz") continue;
    const Evidence evidence = ExtractTrace(entry.path());
    const MetricValue idle = Summarise(evidence, MetricId::kGpuIdle);
    ASSERT_EQ(idle.per_step.size(), evidence.idle.launch_ns.size()) << entry.path();
    for (size_t step = 0; step < idle.per_step.size(); ++step) {
      EXPECT_EQ(idle.per_step[step], evidence.idle.launch_ns[step] + evidence.idle.sync_ns[step] +
                                         evidence.idle.queued_ns[step])
          << entry.path();
      EXPECT_GE(evidence.idle.queue_depth[step], 0) << entry.path();
    }
    ++traces;
  }
  EXPECT_GE(traces, 31);
}

}  // namespace
}  // namespace perfgate
