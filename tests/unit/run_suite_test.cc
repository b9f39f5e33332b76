#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/file.h"
#include "run/run.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Answers each process with what the test said, in order; success when nothing is left.
class ScriptedWorld : public World {
 public:
  std::string UtcNow() override { return "2027-01-31T10:15:00Z"; }
  int64_t MonotonicNs() override { return 0; }
  uint64_t RandomSeed() override { return 0xabc1a2b3c; }
  std::map<std::string, std::string> Machine() override { return {{"cpu", "EPYC"}}; }
  AttemptResult RunProcess(const Process& process) override {
    started.push_back(process);
    AttemptResult result;
    if (!results.empty()) {
      result = results.front();
      results.pop_front();
    }
    result.wall_ns = 1'200'000'000;
    if (started.size() == interrupt_after) signal = SIGINT;
    return result;
  }
  int Interrupted() override { return signal; }
  std::string Getenv(const std::string& name) override {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
  }
  std::ostream& Out() override { return out; }
  std::ostream& Err() override { return err; }
  bool OutIsTerminal() override { return false; }
  bool ErrIsTerminal() override { return terminal; }
  std::pair<std::string, bool> GitCommit(const std::filesystem::path&) override {
    return {"c0ffee", true};
  }

  std::string GitBranch(const std::filesystem::path&) override { return branch; }

  std::string branch;
  std::map<std::string, std::string> environment;
  std::vector<Process> started;
  std::deque<AttemptResult> results;
  size_t interrupt_after = 0;
  int signal = 0;
  bool terminal = false;
  std::ostringstream out, err;
};

AttemptResult Failed(const std::string& fault) {
  AttemptResult result;
  result.exit_code = 1;
  result.fault = fault;
  result.stderr_tail = "Traceback";
  return result;
}

class SuiteRuns : public testing::Test {
 protected:
  void SetUp() override {
    suite_.name = "demo";
    suite_.folder = std::filesystem::path(testing::TempDir()) / NameOfTest();
    suite_.file = suite_.folder / "perfgate.yaml";
    std::filesystem::remove_all(suite_.folder);
    std::filesystem::create_directories(suite_.folder);
    options_.out_dir = suite_.folder / "out";
  }
  void TearDown() override { std::filesystem::remove_all(suite_.folder); }

  Case& Add(const std::string& name, const std::string& workload) {
    Case declared;
    declared.name = name;
    declared.workload = workload;
    declared.argv = {"run", name};
    suite_.cases.push_back(declared);
    return suite_.cases.back();
  }
  RunRecord Run() { return RunSuite(suite_, suite_.cases, options_, world_); }
  std::string ErrorOf() {
    try {
      Run();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Suite suite_;
  RunOptions options_;
  ScriptedWorld world_;
};

TEST_F(SuiteRuns, ProcessesOfACaseAreSpreadOverTheCases) {
  Add("a", "a");
  Add("b", "b").windows.traced_processes = 1;
  Add("c", "c").windows.traced_processes = 3;
  std::vector<std::string> order;
  for (const Attempt& attempt : Plan(suite_.cases, 1)) {
    order.push_back(attempt.case_name + std::to_string(attempt.process));
  }
  EXPECT_THAT(order, ElementsAre("a0", "b0", "c0", "a1", "c1", "c2"));
}

TEST_F(SuiteRuns, WhatIsUnsettledWithoutABaseGetsASecondSessionOnce) {
  Add("a", "a");
  Add("b", "b");
  int asked = 0;
  options_.unsettled = [&asked] {
    ++asked;
    return Unsettled{{"b"}, 8};
  };
  const RunRecord run = Run();
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(run.attempts.size(), 6U);
  EXPECT_EQ(run.attempts[4].first.case_name, "b");
  EXPECT_EQ(run.attempts[5].first.process, 3);
  ASSERT_EQ(run.rounds.size(), 1U);
  EXPECT_EQ(run.rounds[0].first_pair, 2);
}

TEST_F(SuiteRuns, AnInterruptLeavesNoSecondSession) {
  Add("a", "a");
  world_.interrupt_after = 2;
  options_.unsettled = []() -> Unsettled { throw Error(Fault::kBug, "asked after an interrupt"); };
  EXPECT_EQ(Run().attempts.size(), 2U);
}

TEST_F(SuiteRuns, TheBranchIsTheCheckedOutOneElseThatOfTheJobForThisCommit) {
  EXPECT_EQ(Run().branch, "");
  world_.environment = {{"GITHUB_SHA", "c0ffee"}, {"GITHUB_REF", "refs/heads/release/2"}};
  EXPECT_EQ(Run().branch, "release/2");
  world_.environment["GITHUB_REF"] = "refs/pull/7/merge";
  EXPECT_EQ(Run().branch, "");
  world_.environment = {{"CI_COMMIT_SHA", "c0ffee"}, {"CI_COMMIT_BRANCH", "trunk"}};
  EXPECT_EQ(Run().branch, "trunk");
  world_.environment["CI_COMMIT_SHA"] = "another";
  EXPECT_EQ(Run().branch, "");
  world_.branch = "main";
  EXPECT_EQ(Run().branch, "main");
}

TEST_F(SuiteRuns, FoldersOfCasesThatLookAlikeDiffer) {
  Add("Gemm", "Gemm").windows.traced_processes = 1;
  Add("gemm", "gemm").windows.traced_processes = 1;
  Add("../x", "x").windows.traced_processes = 1;
  const std::vector<Attempt> plan = Plan(suite_.cases, 1);
  EXPECT_NE(plan[0].dir, plan[1].dir);
  for (const Attempt& attempt : plan) {
    EXPECT_EQ(attempt.dir, attempt.dir.lexically_normal());
    EXPECT_EQ(*attempt.dir.begin(), "attempts");
  }
}

TEST_F(SuiteRuns, TheContractIsInTheEnvironment) {
  Case& declared = Add("a[n=1]", "a");
  declared.device = "cuda:1";
  declared.threads = 3;
  declared.plant = "clone";
  declared.windows = {1, false, 2, 3, 4, 1};
  const Attempt attempt = Plan(suite_.cases, 1)[0];
  const auto environment = AttemptEnvironment(declared, attempt, "out");
  EXPECT_EQ(environment, (std::map<std::string, std::string>{
                             {"PERFGATE_ATTEMPT_DIR",
                              (std::filesystem::current_path() / "out" / attempt.dir).string()},
                             {"PERFGATE_DEVICE", "cuda:1"},
                             {"PERFGATE_ITERATIONS", "3"},
                             {"PERFGATE_PHASE", "traced"},
                             {"PERFGATE_PLANT", "clone"},
                             {"PERFGATE_SIDE", "head"},
                             {"PERFGATE_THREADS", "3"},
                             {"PERFGATE_TRACED_ITERATIONS", "4"},
                             {"PERFGATE_WARMUP", "1"},
                             {"PERFGATE_WARMUP_AT_MOST_NS", "2"},
                             {"PERFGATE_WARMUP_UNTIL_STEADY", "0"},
                         }));
}

class CuptiRuns : public SuiteRuns {
 protected:
  void SetUp() override {
    SuiteRuns::SetUp();
    Case& declared = Add("a", "a");
    declared.profiler = Profiler::kCupti;
    declared.nvtx_steps = "step";
    declared.windows.traced_processes = 1;
    collector_ = suite_.folder / "collector.so";
    std::ofstream(collector_) << "ELF";
    world_.environment["PERFGATE_CUPTI_COLLECTOR"] = collector_.string();
  }
  std::string FaultOfTheAttempt() { return Run().attempts.at(0).second.fault; }

  std::filesystem::path collector_;
};

TEST_F(CuptiRuns, TheCollectorIsLoadedByTheDriverByNvtxAndByTheLoader) {
  world_.environment["LD_PRELOAD"] = "/lib/other.so";
  EXPECT_EQ(FaultOfTheAttempt(), "");
  const auto& environment = world_.started.at(0).environment;
  EXPECT_EQ(environment.at("CUDA_INJECTION64_PATH"), collector_);
  EXPECT_EQ(environment.at("NVTX_INJECTION64_PATH"), collector_);
  EXPECT_EQ(environment.at("LD_PRELOAD"), collector_.string() + ":/lib/other.so");
  EXPECT_EQ(environment.at("PERFGATE_NVTX_STEPS"), "step");
  EXPECT_EQ(environment.at("PERFGATE_CUPTI_WINDOW"), "");
  EXPECT_EQ(environment.at("PERFGATE_WARMUP"), "20");
}

TEST_F(CuptiRuns, WithoutTheCollectorNothingIsStarted) {
  world_.environment["PERFGATE_CUPTI_COLLECTOR"] = "/nowhere/collector.so";
  EXPECT_EQ(FaultOfTheAttempt(),
            "collector not found: PERFGATE_CUPTI_COLLECTOR says /nowhere/collector.so");
  world_.environment.clear();
  EXPECT_THAT(FaultOfTheAttempt(), HasSubstr("is neither beside perfgate nor in ../lib"));
  EXPECT_TRUE(world_.started.empty());
}

TEST_F(CuptiRuns, WhereAnotherProfilerWouldBeLoadedNothingIsStarted) {
  world_.environment["CUDA_INJECTION64_PATH"] = "/opt/nsys.so";
  EXPECT_THAT(FaultOfTheAttempt(), HasSubstr("CUDA_INJECTION64_PATH is set to /opt/nsys.so"));
  EXPECT_TRUE(world_.started.empty());
}

TEST_F(CuptiRuns, AnotherListenerToNvtxIsNotReplacedInSilence) {
  world_.environment["NVTX_INJECTION64_PATH"] = "/opt/ranges.so";
  EXPECT_THAT(FaultOfTheAttempt(), HasSubstr("NVTX_INJECTION64_PATH is set to /opt/ranges.so"));
  EXPECT_TRUE(world_.started.empty());
}

TEST_F(CuptiRuns, APathThatThePreloadWouldSplitStartsNothing) {
  for (const char* name : {"my collector.so", "my:collector.so", "my\tcollector.so"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path split = collector_.parent_path() / name;
    std::filesystem::copy_file(collector_, split);
    world_.environment["PERFGATE_CUPTI_COLLECTOR"] = split.string();
    EXPECT_THAT(FaultOfTheAttempt(), HasSubstr("LD_PRELOAD splits its paths at blanks and colons"));
  }
  EXPECT_TRUE(world_.started.empty());
}

TEST_F(SuiteRuns, EveryAttemptIsRunInTheSuitesFolderAndRecorded) {
  Add("a[n=1]", "a");
  const RunRecord run = Run();
  EXPECT_EQ(run.id, "20270131T101500Z-1a2b3c");
  EXPECT_EQ(run.commit, "c0ffee");
  EXPECT_TRUE(run.dirty);
  EXPECT_TRUE(run.finished);
  ASSERT_EQ(world_.started.size(), 2U);
  EXPECT_EQ(world_.started[0].cwd, suite_.folder);
  EXPECT_THAT(world_.started[0].argv, ElementsAre("run", "a[n=1]"));
  const RunRecord read = ReadRunRecord(options_.out_dir);
  EXPECT_EQ(read.id, run.id);
  ASSERT_EQ(read.attempts.size(), 2U);
  EXPECT_TRUE(std::filesystem::is_empty(options_.out_dir / read.attempts[0].first.dir));
  EXPECT_EQ(world_.err.str(), "[1/2] a[n=1] traced 1/2  1.20 s\n[2/2] a[n=1] traced 2/2  1.20 s\n");
}

TEST_F(SuiteRuns, OnATerminalOneLineIsRewrittenAndOnlyFaultsStay) {
  world_.terminal = true;
  Add("a", "a");
  world_.results = {Failed("exit code 1")};
  Run();
  EXPECT_EQ(
      world_.err.str(),
      "\r\x1b[K\r\x1b[K[1/2] a traced 1/2 ...\r\x1b[K[1/2] a traced 1/2  1.20 s  exit code 1\n"
      "\r\x1b[K[2/2] a traced 2/2 ...\r\x1b[K[2/2] a traced 2/2  1.20 s\r\x1b[K");
}

TEST_F(SuiteRuns, AFaultOfOneCaseDoesNotStopTheOthers) {
  Add("a", "a");
  Add("b", "b");
  world_.results = {Failed("exit code 1")};
  const RunRecord run = Run();
  ASSERT_EQ(run.attempts.size(), 4U);
  EXPECT_EQ(run.attempts[0].second.fault, "exit code 1");
  EXPECT_EQ(run.attempts[1].second.fault, "");
  EXPECT_TRUE(run.finished);
}

TEST_F(SuiteRuns, PrepareRunsOnceAWorkloadAndItsFailureIsAFaultOfItsCasesAlone) {
  Add("a[n=1]", "a").prepare = {"export"};
  Add("a[n=2]", "a").prepare = {"export"};
  Add("b", "b").windows.traced_processes = 1;
  world_.results = {Failed("exit code 1")};
  const RunRecord run = Run();
  ASSERT_EQ(world_.started.size(), 2U);  // export once, then b
  EXPECT_THAT(world_.started[0].argv, ElementsAre("export"));
  EXPECT_THAT(world_.started[1].argv, ElementsAre("run", "b"));
  ASSERT_EQ(run.attempts.size(), 5U);
  for (const auto& [attempt, result] : run.attempts) {
    EXPECT_EQ(result.fault, attempt.case_name == "b" ? "" : "prepare failed: exit code 1");
    EXPECT_EQ(result.stderr_tail, attempt.case_name == "b" ? "" : "Traceback");
  }
  EXPECT_THAT(run.prepare_faults,
              ElementsAre(std::pair<std::string, std::string>("a", "exit code 1")));
  EXPECT_EQ(ReadRunRecord(options_.out_dir).prepare_faults, run.prepare_faults);
}

TEST_F(SuiteRuns, AnInterruptKeepsWhatIsFinished) {
  Add("a", "a");
  Add("b", "b");
  world_.interrupt_after = 2;
  const RunRecord run = Run();
  EXPECT_EQ(world_.started.size(), 2U);
  EXPECT_EQ(run.attempts.size(), 2U);
  EXPECT_EQ(run.interrupted_by, SIGINT);
  EXPECT_FALSE(run.finished);
  EXPECT_EQ(ReadRunRecord(options_.out_dir).interrupted_by, SIGINT);
}

TEST_F(SuiteRuns, ATraceIsCopiedIntoTheOutFolderAndNothingIsLaunched) {
  std::ofstream(suite_.folder / "server.json.gz") << "gz";
  Case& declared = Add("server", "server");
  declared.argv = {};
  declared.trace = "server.json.gz";
  const RunRecord run = Run();
  EXPECT_TRUE(world_.started.empty());
  ASSERT_EQ(run.attempts.size(), 1U);
  EXPECT_EQ(run.attempts[0].second.fault, "");
  EXPECT_EQ(ReadFile(options_.out_dir / run.attempts[0].first.dir / "trace.json.gz"), "gz");
}

TEST_F(SuiteRuns, AMissingTraceIsAFault) {
  Add("server", "server").trace = "none.json";
  EXPECT_EQ(Run().attempts[0].second.fault, "trace not found: none.json");
}

TEST_F(SuiteRuns, AnOutFolderOfAnEarlierRunLosesThatRunOnly) {
  Add("a", "a").windows.traced_processes = 1;
  Run();
  std::ofstream(options_.out_dir / "report.md") << "kept";
  std::filesystem::create_directories(options_.out_dir / "attempts" / "old");
  Run();
  EXPECT_FALSE(std::filesystem::exists(options_.out_dir / "attempts" / "old"));
  EXPECT_EQ(ReadFile(options_.out_dir / "report.md"), "kept");
}

TEST_F(SuiteRuns, AnyOtherOutFolderIsLeftAlone) {
  Add("a", "a");
  std::filesystem::create_directories(options_.out_dir);
  std::ofstream(options_.out_dir / "thesis.tex") << "x";
  EXPECT_THAT(ErrorOf(),
              AllOf(HasSubstr("out: holds files but no run of perfgate"), HasSubstr("--out")));
  std::ofstream(options_.out_dir / "run.json") << R"({"schema": "other/1"})";
  EXPECT_THAT(ErrorOf(), HasSubstr("holds files but no run of perfgate"));
  EXPECT_TRUE(std::filesystem::exists(options_.out_dir / "thesis.tex"));
  options_.out_dir = suite_.folder / "file";
  std::ofstream(options_.out_dir) << "x";
  EXPECT_THAT(ErrorOf(), HasSubstr("is not a folder"));
  options_.out_dir /= "below";
  EXPECT_THAT(ErrorOf(), HasSubstr("below: cannot make the folder"));
}

TEST_F(SuiteRuns, AnOutFolderWithAHalfWrittenRecordIsUsed) {
  Add("a", "a").windows.traced_processes = 1;
  std::filesystem::create_directories(options_.out_dir);
  std::ofstream(options_.out_dir / "run.json.tmp-12345") << R"({"schema": "perfg)";
  EXPECT_TRUE(Run().finished);
  EXPECT_FALSE(std::filesystem::exists(options_.out_dir / "run.json.tmp-12345"));
}

TEST_F(SuiteRuns, AnEmptyOutFolderIsUsed) {
  Add("a", "a").windows.traced_processes = 1;
  std::filesystem::create_directories(options_.out_dir);
  EXPECT_TRUE(Run().finished);
  EXPECT_TRUE(std::filesystem::exists(options_.out_dir / "run.json"));
}

}  // namespace
}  // namespace perfgate
