// What makes the evidence of a case incomplete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evidence/evidence.h"
#include "evidence_processes.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(CaseEvidence, FaultsOfAttemptsMakeItIncomplete) {
  const TraceBuilder trace = Launches(1);
  Add(&trace);
  AttemptData& crashed = Add(nullptr, 1);
  crashed.faults = {"killed by SIGSEGV"};
  crashed.result.outcome = Outcome::kSignalled;
  crashed.result.fault = "killed by SIGSEGV";
  crashed.result.stderr_tail = "loading weights\nout of\tluck\n\n";
  const Evidence evidence = Run();
  // What a process that failed therefore did not write is no second fault.
  EXPECT_THAT(evidence.incomplete_because,
              ElementsAre("process 1: killed by SIGSEGV; it said last: out of\\x09luck"));
}

TEST_F(CaseEvidence, NothingRunIsIncompleteNotEmpty) {
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, ElementsAre("the case was not run"));
  EXPECT_EQ(Summarise(evidence, MetricId::kHostOps).unavailable, "no trace could be read");
}

TEST_F(CaseEvidence, ATraceThatIsNoneMakesItIncomplete) {
  AttemptData& data = Add(nullptr);
  files_.emplace_back("trace.json", "{}");
  data.traces.push_back({files_.back().path(), {}});
  EXPECT_THAT(Run().incomplete_because,
              Contains(HasSubstr("trace.json: not a trace but an empty JSON object")));
}

TEST_F(CaseEvidence, APlantedDefectThatWasNotPutInIsIncomplete) {
  const TraceBuilder trace = Launches(1);
  Case declared = Declared();
  declared.plant = "clone";
  Add(&trace);
  EXPECT_THAT(Run(declared).incomplete_because,
              Contains("the workload did not put in the planted defect 'clone'"));
  attempts_[0].samples->plant = "clone";
  const Evidence planted = Run(declared);
  EXPECT_THAT(planted.incomplete_because, IsEmpty());
  EXPECT_EQ(planted.plant, "clone");
}

TEST_F(CaseEvidence, ACudaCaseWithoutCudaRecordsIsIncomplete) {
  TraceBuilder trace;
  trace.Step(1, 0, 100'000).Op("aten::mm", 1000, 1000);
  Add(&trace).samples->environment["device"] = "cuda:0";
  const Evidence evidence = Run();
  EXPECT_EQ(evidence.device_kind, "cuda");
  EXPECT_THAT(evidence.incomplete_because, Contains(HasSubstr("recorded the CPU only")));
}

TEST_F(CaseEvidence, ADeclaredTraceNeedsNoSamples) {
  const TraceBuilder trace = Launches(1);
  Add(&trace).samples.reset();
  Case declared = Declared("server");
  declared.argv.clear();
  declared.trace = "server.json";
  const Evidence evidence = Run(declared);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(evidence.case_name, "server");
  EXPECT_EQ(evidence.key.fields.at("definition"), "0123456789abcdef");
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP50).unavailable,
            "needs samples.json with a timed window");
}

TEST_F(CaseEvidence, FewerStepsThanWereAskedForMakeItIncomplete) {
  const TraceBuilder trace = Launches(1);
  Add(&trace);
  Case declared = Declared();
  declared.windows.traced_iterations = 5;
  EXPECT_THAT(Run(declared).incomplete_because,
              ElementsAre("the trace marks 1 step, 5 were asked for"));
}

TEST_F(CaseEvidence, NoStepMarksAtAllMakeItIncomplete) {
  TraceBuilder trace;
  trace.Op("aten::mm", 1000, 1000);
  Add(&trace);
  EXPECT_THAT(Run().incomplete_because, ElementsAre("the trace marks 0 steps, 1 were asked for"));
}

TEST_F(CaseEvidence, MoreStepsThanWereAskedForAreANote) {
  TraceBuilder trace = Launches(1);
  trace.Step(2, 100'000, 100'000).Launch("gemm", 110'000, 9);
  Add(&trace);
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(evidence.notes, Contains("the trace marks 2 steps, 1 were asked for"));
}

TEST_F(CaseEvidence, StepNumbersThatJumpOrRepeatMakeItIncomplete) {
  for (const int second : {1, 3}) {
    TraceBuilder trace = Launches(1);
    trace.Step(second, 100'000, 100'000).Launch("gemm", 110'000, 9);
    attempts_.clear();
    Add(&trace);
    Case declared = Declared();
    declared.windows.traced_iterations = 2;
    const std::string text =
        fmt::format("ProfilerStep#1 is followed by #{}: 2 steps are marked", second);
    EXPECT_THAT(Run(declared).incomplete_because, ElementsAre(text));
    declared.profiler = Profiler::kCupti;
    EXPECT_THAT(Run(declared).incomplete_because, IsEmpty());
    const Evidence bare = ExtractTrace(files_.back().path());
    EXPECT_THAT(bare.incomplete_because, IsEmpty());
    EXPECT_THAT(bare.notes, Contains(text));
  }
}

TEST_F(CaseEvidence, ACpuCaseThatRanOnCudaIsIncomplete) {
  const TraceBuilder trace = Launches(1);
  Add(&trace);
  Case declared = Declared();
  declared.device = "cpu";
  EXPECT_THAT(Run(declared).incomplete_because,
              ElementsAre("the case declares `device: cpu`, but the workload ran on CUDA"));
}

}  // namespace
}  // namespace perfgate
