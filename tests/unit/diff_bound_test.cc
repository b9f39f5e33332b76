// What bounds a workload, in words with numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

TEST(Bounds, WorkLongerThanAStepIsNoShareOfIt) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 19'500)});
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {19'500}},
                     {MetricId::kLatencyP50, Side::kHead, 0, 0, {12'600}}};
  EXPECT_EQ(Compare(evidence, evidence).head_bound,
            "compute: GEMM, convolution and attention kernels take 100 % of the kernels' time; the "
            "GPU never rests: 19.5 us of work for each 12.6 us of a step, not profiled");
}

Evidence Idle(int64_t launch_ns, int64_t sync_ns, int64_t queued_ns) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 10'000)});
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {10'000, 10'000}},
                     {MetricId::kGpuActivities, Side::kHead, 0, 0, {2, 2}},
                     {MetricId::kGpuIdle, Side::kHead, 0, 0, {90'000, 90'000}}};
  evidence.idle = {{launch_ns, launch_ns}, {sync_ns, sync_ns}, {queued_ns, queued_ns}, {1.5, 0.5}};
  return evidence;
}

TEST(Bounds, OfAnIdleGpuNameTheLargestOfThreeCauses) {
  const auto bound = [](const Evidence& evidence) {
    return Compare(evidence, evidence).head_bound;
  };
  EXPECT_EQ(
      bound(Idle(60'000, 20'000, 10'000)),
      "launch: the GPU works 10.0 us of 100 us (10 %) from its first to its last work, under "
      "the profiler; idle 60.0 us because the next launch came late, 20.0 us because the host "
      "waited, 10.0 us though the next work was launched; launch queue depth 1.0");
  EXPECT_THAT(bound(Idle(20'000, 60'000, 10'000)), ::testing::StartsWith("sync: "));
  EXPECT_THAT(bound(Idle(20'000, 10'000, 60'000)), ::testing::StartsWith("queued: "));
  EXPECT_THAT(bound(Idle(30'000, 30'000, 30'000)), ::testing::StartsWith("launch: "));
}

// A step of 10 + 30 + 5 us.
TEST(Bounds, CollectivesThatNothingHidesAreAPartOfTheStep) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 10'000)});
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {10'000, 10'000}},
                     {MetricId::kGpuActivities, Side::kHead, 0, 0, {2, 2}},
                     {MetricId::kCommExposed, Side::kHead, 0, 0, {30'000, 30'000}},
                     {MetricId::kGpuIdle, Side::kHead, 0, 0, {5'000, 5'000}}};
  EXPECT_EQ(Compare(evidence, evidence).head_bound,
            "communication: the GPU works 10.0 us of 45.0 us (22 %) from its first to its last "
            "work, under the profiler; collectives run 30.0 us of it alone");
  evidence.values[2].per_step = {6'000, 6'000};
  evidence.values[3].per_step = {20'000, 20'000};
  EXPECT_THAT(Compare(evidence, evidence).head_bound,
              ::testing::StartsWith("launch: the GPU works 10.0 us of 36.0 us (28 %)"));
}

// Rank 1 computes 8 of 20 us, rank 0 works less and waits longer for it: no rank's step is 30 us.
TEST(Bounds, OfSeveralRanksAreThoseOfTheLongestStep) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 10'000)});
  evidence.ranks = {{}, {}};
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {4'000}, 0},
                     {MetricId::kGpuTime, Side::kHead, 0, 0, {8'000}, 1},
                     {MetricId::kGpuActivities, Side::kHead, 0, 0, {2}, 0},
                     {MetricId::kGpuActivities, Side::kHead, 0, 0, {2}, 1},
                     {MetricId::kCommExposed, Side::kHead, 0, 0, {11'000}, 0},
                     {MetricId::kCommExposed, Side::kHead, 0, 0, {1'000}, 1},
                     {MetricId::kGpuIdle, Side::kHead, 0, 0, {1'000}, 0},
                     {MetricId::kGpuIdle, Side::kHead, 0, 0, {11'000}, 1}};
  EXPECT_THAT(Compare(evidence, evidence).head_bound,
              ::testing::StartsWith("launch: the GPU works 8.00 us of 20.0 us (40 %)"));
}

TEST(Bounds, OfAKernelWithNothingAroundItAreUnknown) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 2'000)});
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {2'000, 2'000}},
                     {MetricId::kGpuActivities, Side::kHead, 0, 0, {1, 1}},
                     {MetricId::kGpuIdle, Side::kHead, 0, 0, {0, 0}}};
  EXPECT_EQ(Compare(evidence, evidence).head_bound,
            "unknown: how busy the GPU is in a step is not known; while it works, compute: GEMM, "
            "convolution and attention kernels take 100 % of the kernels' time");
}

// 2 x 4096^3 operations in 200 us are 687 TFLOP/s; an H200 does 989 at most.
TEST(Roofline, NeedsShapesTypesAndAGpuThatIsKnown) {
  Evidence evidence = With({Row(kGemm, "aten::mm", 1, 200'000)});
  evidence.device_name = "NVIDIA H200";
  evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {200'000, 200'000}}};
  const auto bound = [&] { return Compare(evidence, evidence).base_bound; };
  EXPECT_THAT(bound(), ::testing::Not(::testing::HasSubstr("TFLOP/s")));
  evidence.kernels[0].shapes = {{"[[4096, 4096], [4096, 4096]]", 2, 400'000}};
  EXPECT_THAT(bound(), ::testing::HasSubstr("run at 687 TFLOP/s, 69 % of their roofline"));
  // A thin product is bound by its bytes: 2 x (4096 + 4096 + 1) x 4096 in 14 us.
  evidence.kernels[0].shapes = {{"[[1, 4096], [4096, 4096]]", 2, 28'000}};
  EXPECT_THAT(bound(), ::testing::HasSubstr("run at 2 TFLOP/s, 50 % of their roofline"));
  EXPECT_THAT(bound(), ::testing::HasSubstr("(of 7 % of their time the sizes are known)"));
  evidence.device_name = "NVIDIA Unheard-of";
  EXPECT_THAT(bound(), ::testing::Not(::testing::HasSubstr("TFLOP/s")));
}

}  // namespace
}  // namespace perfgate
