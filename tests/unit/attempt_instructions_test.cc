// Counts of instructions as perf and valgrind write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "attempt/attempt.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PerfStat, HasACountOnlyWhereTheCounterRanAllTheTime) {
  EXPECT_EQ(CountOfPerfStat("# started on Mon\n\n123456,,instructions:u,4242,100.00,,\n"), 123456);
  EXPECT_EQ(CountOfPerfStat("<not supported>,,instructions:u,0,100.00,,\n"), std::nullopt);
  EXPECT_EQ(CountOfPerfStat("<not counted>,,instructions:u,0,0.00,,\n"), std::nullopt);
  // Shared with other counters: an estimate.
  EXPECT_EQ(CountOfPerfStat("123456,,instructions:u,4242,63.12,,\n"), std::nullopt);
  EXPECT_EQ(CountOfPerfStat("123456,,cycles:u,4242,100.00,,\n"), std::nullopt);
  EXPECT_EQ(CountOfPerfStat(""), std::nullopt);
}

TEST(Callgrind, HasTheCountOfTheWholeProcessInItsSummary) {
  EXPECT_EQ(CountOfCallgrind(
                "version: 1\ncmd: ./a summary: 5\nevents: Ir\nsummary: 127694\n\nfn=(1) x\n"),
            127694);
  EXPECT_EQ(CountOfCallgrind("summary: 99999999999999999999\n"), std::nullopt);
  EXPECT_EQ(CountOfCallgrind("summary: 12 7\n"), std::nullopt);
  EXPECT_EQ(CountOfCallgrind("version: 1\n"), std::nullopt);
}

class CountedAttempt : public TempFolder {
 protected:
  void Put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_ / "a");
    std::ofstream(folder_ / "a" / name) << text;
  }
  AttemptData Collect() {
    Attempt attempt;
    attempt.phase = Phase::kTimed;
    attempt.dir = "a";
    return CollectAttempt(folder_, attempt, {}, Profiler::kInstructions);
  }
};

TEST_F(CountedAttempt, AddsUpItsProcessesAndOwesNothingElse) {
  Put("callgrind.out.10", "summary: 100\n");
  Put("callgrind.out.11", "summary: 20\n");
  const AttemptData data = Collect();
  EXPECT_THAT(data.faults, IsEmpty());
  ASSERT_TRUE(data.instructions);
  EXPECT_EQ(data.instructions->tool, "callgrind");
  EXPECT_EQ(data.instructions->count, 120);
}

TEST_F(CountedAttempt, WithoutACountIsAFault) {
  Put("stdout.txt", "");
  EXPECT_THAT(Collect().faults, ElementsAre("instructions were not counted"));
  Put("perf-stat.txt", "<not supported>,,instructions:u,0,100.00,,\n");
  EXPECT_THAT(Collect().faults, ElementsAre("perf-stat.txt: has no count of instructions"));
}

TEST(TimedIterations, AreTwiceAsManyInEverySecondCountedProcess) {
  Case declared;
  declared.windows.timed_iterations = 50;
  Attempt second;
  second.process = 1;
  EXPECT_EQ(TimedIterationsOf(declared, second), 50);
  declared.profiler = Profiler::kInstructions;
  EXPECT_EQ(TimedIterationsOf(declared, second), 100);
  EXPECT_EQ(TimedIterationsOf(declared, Attempt()), 50);
}

}  // namespace
}  // namespace perfgate
