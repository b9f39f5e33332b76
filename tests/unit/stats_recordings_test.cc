// What the statistics promise, on processes recorded on real machines: comparisons are drawn from
// them at random. docs/time.md has the table, which tests/bench/stats_bench.cc prints.
#include <gtest/gtest.h>

#include "stats_recordings.h"

namespace perfgate {
namespace {

constexpr int kDraws = 1000;
constexpr double kTolerance = 0.02;

Recording OfH200(const char* workload, RecordedTime time) {
  return ReadRecording(PERFGATE_TEST_DATA "/time/h200_processes.txt", workload, time);
}

Recording OfCpu() {
  return ReadRecording(PERFGATE_TEST_DATA "/time/cpu_processes.txt", "cpu_bound",
                       RecordedTime::kLatency);
}

std::vector<Recording> AllRecordings() {
  return {OfH200("launch_bound", RecordedTime::kLatency),
          OfH200("launch_bound", RecordedTime::kDispatch),
          OfH200("gpu_bound", RecordedTime::kLatency),
          OfH200("gpu_bound", RecordedTime::kDeviceLatency), OfCpu()};
}

TEST(Recordings, HaveSixtyProcessesASide) {
  for (const Recording& recording : AllRecordings()) {
    for (const auto& [series, values] : recording) EXPECT_GE(values.size(), 60u) << series;
  }
}

TEST(Recordings, OfTheSameCodeFailInAtMostOneOfAHundredDraws) {
  for (const Recording& recording : AllRecordings()) {
    EXPECT_LE(CountDrawn(recording, "same", kTolerance, kDraws).failed, kDraws / 100);
  }
}

// Two or three levels, 20 % apart, by what core the host gave a process.
TEST(Recordings, OfTheSameLaunchBoundCodeFailInNoneOf299Draws) {
  const Recording recording = OfH200("launch_bound", RecordedTime::kLatency);
  EXPECT_EQ(CountDrawn(recording, "same", kTolerance, 299).failed, 0);
}

TEST(Recordings, OfFivePercentMoreGpuWorkFailInNinetyFiveOfAHundredDraws) {
  for (const RecordedTime time : {RecordedTime::kLatency, RecordedTime::kDeviceLatency}) {
    const VerdictCounts counts =
        CountDrawn(OfH200("gpu_bound", time), "slower", kTolerance, kDraws);
    EXPECT_GE(counts.failed, kDraws * 95 / 100);
    EXPECT_EQ(counts.passed, 0);
  }
}

// Launch-bound times differ by 11 % from process to process: nothing that a dozen pairs could tell.
TEST(Recordings, OfFivePercentMoreDispatchNeverPass) {
  for (const RecordedTime time : {RecordedTime::kLatency, RecordedTime::kDispatch}) {
    EXPECT_EQ(CountDrawn(OfH200("launch_bound", time), "slower", kTolerance, kDraws).passed, 0);
  }
}

TEST(Recordings, OfTheSameGpuWorkPassInNinetyFiveOfAHundredDraws) {
  for (const RecordedTime time : {RecordedTime::kLatency, RecordedTime::kDeviceLatency}) {
    EXPECT_GE(CountDrawn(OfH200("gpu_bound", time), "same", kTolerance, kDraws).passed,
              kDraws * 95 / 100);
  }
}

TEST(Recordings, OfFifteenPercentMoreOnTwoBusyCoresFailInNinetyFiveOfAHundredDraws) {
  EXPECT_GE(CountDrawn(OfCpu(), "much_slower", kTolerance, kDraws).failed, kDraws * 95 / 100);
}

TEST(Recordings, OfFivePercentMoreOnTwoBusyCoresNeverPass) {
  EXPECT_EQ(CountDrawn(OfCpu(), "slower", kTolerance, kDraws).passed, 0);
}

}  // namespace
}  // namespace perfgate
