#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "attempt/attempt.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

Case SomeCase() {
  Case declared;
  declared.name = "geglu[mode=aoti,tokens=64]";
  declared.workload = "geglu";
  declared.was = {"old[mode=aoti,tokens=64]"};
  declared.params = {{"mode", "aoti"}, {"tokens", "64"}};
  declared.argv = {"python3", "bench/geglu.py", "--tokens", "64"};
  declared.prepare = {"python3", "bench/export.py"};
  declared.trace = "traces/x.json";
  declared.device = "cuda:1";
  declared.threads = 3;
  declared.profiler = Profiler::kCupti;
  declared.nvtx_steps = "step";
  declared.windows = {1, false, 2, 3, 4, 5};
  declared.timeout_ns = 6;
  declared.reference = "geglu[mode=eager,tokens=64]";
  declared.digest = "0123456789abcdef";
  declared.plant = "cast";
  declared.declared = {"perfgate.yaml", 7, 8};
  return declared;
}

class RunFile : public TempFolder {
 protected:
  std::string ErrorOf(const std::string& members) {
    std::ofstream(folder_ / "run.json") << R"({"schema": "perfgate.run/1", )" << members << "}";
    try {
      ReadRunRecord(folder_);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kInput);
      return error.what();
    }
    return "no error";
  }
};

AttemptResult Killed() {
  AttemptResult killed;
  killed.outcome = Outcome::kSignalled;
  killed.signal = 11;
  killed.wall_ns = 12;
  killed.peak_rss_bytes = 13;
  killed.stderr_tail = "Traceback\n";
  killed.fault = "killed by SIGSEGV";
  return killed;
}

RunRecord SomeRun() {
  RunRecord run;
  run.id = "20270131T101500Z-1a2b3c";
  run.suite = "demo";
  run.suite_file = "perfgate.yaml";
  run.started = "2027-01-31T10:15:00Z";
  run.perfgate_version = "0.1.0";
  run.commit = "abc";
  run.dirty = true;
  run.branch = "main";
  run.quick = true;
  run.seed = 18'446'744'073'709'551'615U;
  run.machine = {{"cpu", "EPYC"}};
  run.cases = {SomeCase()};
  run.attempts = {{{run.cases[0].name, Side::kBase, 2, 3, Phase::kTimed, "attempts/a"}, Killed()}};
  run.prepare_faults = {{"geglu", "exit code 2"}};
  run.finished = true;
  run.interrupted_by = 15;
  return run;
}

TEST_F(RunFile, HoldsWhatTheRunWas) {
  const RunRecord run = SomeRun();
  WriteRunRecord(run, folder_);
  const RunRecord read = ReadRunRecord(folder_);
  EXPECT_EQ(read.id, run.id);
  EXPECT_EQ(read.suite, run.suite);
  EXPECT_EQ(read.suite_file, run.suite_file);
  EXPECT_EQ(read.started, run.started);
  EXPECT_EQ(read.perfgate_version, run.perfgate_version);
  EXPECT_EQ(read.commit, "abc");
  EXPECT_TRUE(read.dirty);
  EXPECT_EQ(read.branch, "main");
  EXPECT_TRUE(read.quick);
  EXPECT_EQ(read.seed, run.seed);
  EXPECT_EQ(read.machine, run.machine);
  EXPECT_EQ(read.prepare_faults, run.prepare_faults);
  EXPECT_TRUE(read.finished);
  EXPECT_EQ(read.interrupted_by, 15);
}

TEST_F(RunFile, HoldsTheRoundsOfPairsAgainstABase) {
  RunRecord run = SomeRun();
  WriteRunRecord(run, folder_);
  EXPECT_FALSE(ReadRunRecord(folder_).against);
  run.against = AgainstRecord{"../base", "def", true, 60, {"a note"}};
  run.rounds = {{"a", 1, 5, 12}};
  WriteRunRecord(run, folder_);
  const RunRecord read = ReadRunRecord(folder_);
  ASSERT_TRUE(read.against);
  EXPECT_EQ(read.against->checkout, "../base");
  EXPECT_EQ(read.against->commit, "def");
  EXPECT_TRUE(read.against->dirty);
  EXPECT_EQ(read.against->budget_ns, 60);
  EXPECT_EQ(read.against->notes, run.against->notes);
  ASSERT_EQ(read.rounds.size(), 1U);
  const PairRound& round = read.rounds[0];
  EXPECT_EQ(round.case_name, "a");
  EXPECT_EQ(round.round, 1);
  EXPECT_EQ(round.first_pair, 5);
  EXPECT_EQ(round.pairs, 12);
}

TEST_F(RunFile, HoldsTheSecondSessionsOfHeadAlone) {
  RunRecord run = SomeRun();
  run.rounds = {{"a", 1, 2, 3}};
  WriteRunRecord(run, folder_);
  const RunRecord read = ReadRunRecord(folder_);
  EXPECT_FALSE(read.against);
  ASSERT_EQ(read.rounds.size(), 1U);
  EXPECT_EQ(read.rounds[0].case_name, "a");
  EXPECT_EQ(read.rounds[0].round, 1);
  EXPECT_EQ(read.rounds[0].first_pair, 2);
  EXPECT_EQ(read.rounds[0].pairs, 3);
}

TEST_F(RunFile, HoldsAllThatTheSuiteSaidOfItsCases) {
  WriteRunRecord(SomeRun(), folder_);
  const RunRecord read = ReadRunRecord(folder_);
  ASSERT_EQ(read.cases.size(), 1U);
  const Case expected = SomeCase();
  const Case& found = read.cases[0];
  EXPECT_EQ(found.name, expected.name);
  EXPECT_EQ(found.workload, expected.workload);
  EXPECT_EQ(found.was, expected.was);
  EXPECT_EQ(found.params, expected.params);
  EXPECT_EQ(found.argv, expected.argv);
  EXPECT_EQ(found.prepare, expected.prepare);
  EXPECT_EQ(found.trace, expected.trace);
  EXPECT_EQ(found.device, expected.device);
  EXPECT_EQ(found.threads, expected.threads);
  EXPECT_EQ(found.profiler, expected.profiler);
  EXPECT_EQ(found.nvtx_steps, expected.nvtx_steps);
  EXPECT_EQ(found.windows.warmup_iterations, 1);
  EXPECT_FALSE(found.windows.warmup_until_steady);
  EXPECT_EQ(found.windows.warmup_at_most_ns, 2);
  EXPECT_EQ(found.windows.timed_iterations, 3);
  EXPECT_EQ(found.windows.traced_iterations, 4);
  EXPECT_EQ(found.windows.traced_processes, 5);
  EXPECT_EQ(found.timeout_ns, 6);
  EXPECT_EQ(found.reference, expected.reference);
  EXPECT_EQ(found.digest, expected.digest);
  EXPECT_EQ(found.plant, expected.plant);
  EXPECT_EQ(ToString(found.declared), "perfgate.yaml:7:8");
}

TEST_F(RunFile, HoldsHowEachAttemptEnded) {
  WriteRunRecord(SomeRun(), folder_);
  const RunRecord read = ReadRunRecord(folder_);
  ASSERT_EQ(read.attempts.size(), 1U);
  const auto& [attempt, result] = read.attempts[0];
  EXPECT_EQ(attempt.case_name, SomeCase().name);
  EXPECT_EQ(attempt.side, Side::kBase);
  EXPECT_EQ(attempt.pair, 2);
  EXPECT_EQ(attempt.process, 3);
  EXPECT_EQ(attempt.phase, Phase::kTimed);
  EXPECT_EQ(attempt.dir, "attempts/a");
  EXPECT_EQ(result.outcome, Outcome::kSignalled);
  EXPECT_EQ(result.signal, 11);
  EXPECT_EQ(result.wall_ns, 12);
  EXPECT_EQ(result.peak_rss_bytes, 13);
  EXPECT_EQ(result.stderr_tail, "Traceback\n");
  EXPECT_EQ(result.fault, "killed by SIGSEGV");
}

TEST_F(RunFile, AMissingFileSaysWhere) {
  try {
    ReadRunRecord(folder_);
    FAIL() << "read nothing";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.json: no such file"));
  }
}

TEST_F(RunFile, AnAttemptFolderOutsideTheOutFolderIsRefused) {
  for (const std::string dir : {"..", "../other", "/tmp/x", "a/../../b", ""}) {
    EXPECT_THAT(ErrorOf(R"("id": "x", "cases": [{"name": "a"}],
                           "attempts": [{"case": "a", "outcome": "exited", "dir": ")" +
                        dir + R"("}])"),
                HasSubstr("attempts[0].dir: expected a path inside the out folder"))
        << dir;
  }
}

TEST_F(RunFile, AnAttemptOfNoCaseIsRefused) {
  EXPECT_THAT(ErrorOf(R"("id": "x", "cases": [{"name": "a"}],
                         "attempts": [{"case": "b", "outcome": "exited", "dir": "d"}])"),
              HasSubstr("attempts[0].case: expected the name of a case"));
}

TEST_F(RunFile, AFailedAttemptThatSaysNoFaultIsRefused) {
  EXPECT_THAT(ErrorOf(R"("id": "x", "cases": [{"name": "a"}],
                         "attempts": [{"case": "a", "outcome": "signalled", "dir": "d"}])"),
              HasSubstr("attempts[0].fault: expected what went wrong"));
}

TEST_F(RunFile, AnIdThatIsNoFileNameIsRefused) {
  EXPECT_THAT(ErrorOf(R"("id": "../x", "cases": [])"),
              HasSubstr("run.json: id: expected letters, digits"));
}

TEST_F(RunFile, UnknownWordsAndDoubleNamesAreRefused) {
  EXPECT_THAT(ErrorOf(R"("id": "x", "cases": [{"name": "a", "profiler": "perf"}])"),
              HasSubstr("cases[0].profiler: expected one of torch, cupti"));
  EXPECT_THAT(ErrorOf(R"("id": "x", "cases": [{"name": "a"}, {"name": "a"}])"),
              HasSubstr("cases[1].name: stands twice"));
  EXPECT_THAT(ErrorOf(R"("id": "x")"), HasSubstr("run.json: cases: is missing"));
  EXPECT_THAT(ErrorOf(R"("id": "x", "seed": "1x", "cases": [])"),
              HasSubstr("seed: expected a text of digits"));
}

TEST_F(RunFile, AnotherSchemaIsRefused) {
  std::ofstream(folder_ / "run.json") << R"({"schema": "perfgate.run/2"})";
  try {
    ReadRunRecord(folder_);
    FAIL() << "read a newer schema";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("schema: expected \"perfgate.run/1\""));
  }
}

}  // namespace
}  // namespace perfgate
