// Counts of whole processes become counts of a step.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Process {
  int64_t count;
  int timed;  // iterations that it says it timed; -1: it says nothing
  std::string tool = "callgrind";
};

Evidence EvidenceOf(const std::vector<Process>& processes) {
  Case declared;
  declared.name = "tokenize";
  declared.argv = {"bench"};
  declared.profiler = Profiler::kInstructions;
  declared.windows.timed_iterations = 100;
  std::vector<AttemptData> attempts;
  for (const Process& process : processes) {
    AttemptData& data = attempts.emplace_back();
    data.attempt.process = static_cast<int>(attempts.size()) - 1;
    data.attempt.phase = Phase::kTimed;
    data.instructions = InstructionCount{process.tool, process.count};
    if (process.timed < 0) continue;
    data.samples.emplace();
    data.samples->latency_ns.assign(static_cast<size_t>(process.timed), 1000);
  }
  return Extract(declared, attempts, "/out", {});
}

TEST(Instructions, OfAStepAreTheDifferenceOfTwoProcesses) {
  const Evidence evidence =
      EvidenceOf({{1'000'000, 100}, {1'500'000, 200}, {1'000'300, 100}, {1'500'500, 200}});
  EXPECT_TRUE(evidence.Complete());
  EXPECT_EQ(Summarise(evidence, MetricId::kInstructions).value, 5001);
  EXPECT_THAT(Summarise(evidence, MetricId::kInstructions).per_step, ElementsAre(5000, 5002));
  EXPECT_EQ(evidence.key.fields.at("profiler"), "callgrind");
  EXPECT_EQ(evidence.key.fields.at("counted"), "a step");
  EXPECT_THAT(evidence.notes, ElementsAre(HasSubstr("processes of 100 and 200 iterations")));
}

TEST(Instructions, OfAProgramWithoutTheContractAreThoseOfTheWholeProcess) {
  const Evidence evidence = EvidenceOf({{1'000'000, -1}, {1'000'100, -1}});
  EXPECT_EQ(Summarise(evidence, MetricId::kInstructions).value, 1'000'050);
  EXPECT_EQ(evidence.key.fields.at("counted"), "a process");
}

TEST(Instructions, LeaveNoOtherMetricOfATraceOrAClock) {
  const Evidence evidence = EvidenceOf({{1'000'000, 100}, {1'500'000, 200}});
  for (const MetricId id : {MetricId::kLatencyP50, MetricId::kCpuKernels, MetricId::kColdStart}) {
    EXPECT_EQ(evidence.unavailable.at(id), kInstructionsOnly) << Info(id).name;
  }
  EXPECT_THAT(evidence.timed_series, IsEmpty());
}

TEST(Instructions, OfProcessesThatDifferAreSaidToVary) {
  const Evidence evidence =
      EvidenceOf({{1'000'000, 100}, {1'500'000, 200}, {1'000'000, 100}, {1'600'000, 200}});
  EXPECT_THAT(evidence.notes, Contains(HasSubstr("instructions differ by 20.0 %")));
}

TEST(Instructions, ThatCannotBeTrustedAreIncomplete) {
  EXPECT_THAT(EvidenceOf({{1'000'000, 100}, {1'500'000, 100}}).incomplete_because,
              Contains("process 1 timed 100 iterations, 200 were asked for"));
  EXPECT_THAT(EvidenceOf({{1'000'000, 100}, {1'000'000, 200}}).incomplete_because,
              Contains("200 iterations took no more instructions than 100"));
  EXPECT_THAT(EvidenceOf({{1'000'000, 100}, {1'500'000, -1}}).incomplete_because,
              Contains("some processes wrote samples.json, others did not"));
  EXPECT_THAT(EvidenceOf({{1'000'000, 100}, {1'500'000, 200, "perf stat instructions:u"}})
                  .incomplete_because,
              Contains("instructions were counted by different tools"));
}

}  // namespace
}  // namespace perfgate
