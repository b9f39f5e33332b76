#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A machine without surprises; processes are never started: the suites here judge traces.
class StillWorld : public World {
 public:
  std::string UtcNow() override { return "2027-01-31T10:15:00Z"; }
  int64_t MonotonicNs() override { return now_ += 1'000'000; }
  uint64_t RandomSeed() override { return ++seed_; }
  std::map<std::string, std::string> Machine() override { return {{"cpu_isa", "avx2"}}; }
  AttemptResult RunProcess(const Process&) override {
    AttemptResult result;
    result.outcome = Outcome::kNotStarted;
    result.fault = "program not found: bench";
    return result;
  }
  int Interrupted() override { return interrupted_; }
  std::string Getenv(const std::string& name) override { return environment_[name]; }
  std::ostream& Out() override { return out_; }
  std::ostream& Err() override { return err_; }
  bool OutIsTerminal() override { return terminal_; }
  bool ErrIsTerminal() override { return false; }
  std::pair<std::string, bool> GitCommit(const fs::path&) override {
    return {"0123456789abcdef", true};
  }

  std::ostringstream out_, err_;
  std::map<std::string, std::string> environment_;
  bool terminal_ = false;
  int interrupted_ = 0;

 private:
  int64_t now_ = 0;
  uint64_t seed_ = 41;
};

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::current_path();
    folder_ = fs::path(testing::TempDir()) / NameOfTest();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::current_path(folder_);
    UseTrace("geglu_compile");
    Write("perfgate.yaml",
          "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    trace: geglu.json.gz\n"
          "rules: [perfgate:structure, perfgate:fusion]\n");
  }
  void TearDown() override {
    fs::current_path(home_);
    fs::remove_all(folder_);
  }

  static void UseTrace(const std::string& name) {
    fs::copy_file(Trace(name), "geglu.json.gz", fs::copy_options::overwrite_existing);
  }
  static std::string Trace(const std::string& name) {
    return PERFGATE_TEST_DATA "/traces/" + name + ".json.gz";
  }
  static void Write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
  }

  int Run(const std::vector<std::string>& args) {
    world_.out_.str("");
    world_.err_.str("");
    return cli::Main(args, world_);
  }
  std::string Out() const { return world_.out_.str(); }
  std::string Err() const { return world_.err_.str(); }

  StillWorld world_;
  fs::path home_, folder_;
};

TEST_F(Commands, AFirstRunHasNoBaselineAndFailsUntilOneIsAccepted) {
  EXPECT_EQ(Run({"run"}), 4);
  EXPECT_THAT(Out(), AllOf(StartsWith("NO BASELINE"),
                           HasSubstr("perfgate baseline accept --case 'geglu'")));
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "first"}), 0) << Err();
  EXPECT_THAT(Out(), StartsWith("Baselines: first\n\ngeglu: first baseline, kernels "));
  EXPECT_THAT(Err(), AllOf(HasSubstr("baselines/nvidia-h200/"), HasSubstr("geglu-")));
  EXPECT_EQ(Run({"run"}), 0) << Out();
  EXPECT_THAT(Out(),
              AllOf(StartsWith("PASS"), HasSubstr("head 0123456+ against baseline of 0123456+")));
}

TEST_F(Commands, ARegressionFailsAndIsAcceptedOnlyByName) {
  Run({"run"});
  Run({"baseline", "accept", "--reason", "first"});
  UseTrace("geglu_eager");
  EXPECT_EQ(Run({"run"}), 1);
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "meant"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("perfgate:structure/no-extra-kernel"),
                           HasSubstr("if this is meant: perfgate baseline accept")));
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "meant", "--rule", "no-such"}), 2);
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "meant", "--rule", "no-extra-kernel", "--rule",
                 "no-extra-launch", "--rule", "nothing-split"}),
            0)
      << Err();
  EXPECT_EQ(Run({"run"}), 0) << Out();
}

TEST_F(Commands, ARuleThatDoesNotFailCannotBeNamed) {
  Run({"run"});
  Run({"baseline", "accept", "--reason", "first"});
  Run({"run"});
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "x", "--rule", "no-extra-kernel"}), 2);
  EXPECT_THAT(Err(), HasSubstr("no such rule fails in the selected cases"));
}

TEST_F(Commands, WarnOnAMissingBaselineIsNoPass) {
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nno_baseline: warn\nworkloads:\n  - name: geglu\n    trace: "
        "geglu.json.gz\n"
        "rules: [perfgate:structure]\n");
  EXPECT_EQ(Run({"run"}), 0);
  EXPECT_THAT(Out(), AllOf(StartsWith("NO BASELINE: the case was compared with nothing"),
                           Not(HasSubstr("PASS"))));
}

TEST_F(Commands, AWorkloadThatDidNotRunIsAnErrorAndItsCaseIsNeverAccepted) {
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: crash\n    command: [bench]\nrules: "
        "[perfgate:structure]\n");
  EXPECT_EQ(Run({"run"}), 3);
  EXPECT_THAT(Out(), AllOf(StartsWith("ERROR"), HasSubstr("program not found: bench")));
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "x"}), 3);
  EXPECT_THAT(Err(), HasSubstr("crash: the evidence is incomplete"));
}

TEST_F(Commands, AnInterruptIsStoredAndNeverJudged) {
  world_.interrupted_ = 2;
  EXPECT_EQ(Run({"run", "--report", "json=v.json"}), 130);
  EXPECT_THAT(Out(), AllOf(HasSubstr("interrupted by SIGINT"), Not(HasSubstr("PASS"))));
  EXPECT_EQ(ParseJson(ReadFile("v.json"), "v.json").At("exit_code").AsInt(), 130);
  world_.interrupted_ = 0;
  EXPECT_EQ(Run({"judge"}), 3);
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "x"}), 3);
  EXPECT_THAT(Err(), HasSubstr("cannot become a baseline"));
  EXPECT_EQ(Run({"history"}), 0);
  EXPECT_THAT(Out(), HasSubstr("interrupted"));
}

TEST_F(Commands, ReportsAreWrittenAlsoWhenTheSuiteIsWrong) {
  Write("perfgate.yaml", "version: 1\nworkloads: 3\n");
  Write("v.json", "of an earlier run");
  EXPECT_EQ(Run({"run", "--format", "json", "--report", "json=v.json"}), 2);
  EXPECT_EQ(ReadFile("v.json"), Out());
  const Json json = ParseJson(Out(), "out");
  EXPECT_EQ(json.At("verdict").AsString(), "error");
  EXPECT_EQ(json.At("exit_code").AsInt(), 2);
  EXPECT_THAT(json.At("problems").AsArray()[0].AsString(), HasSubstr("perfgate.yaml:2"));
}

TEST_F(Commands, AReportThatCannotBeOpenedStopsBeforeAnythingIsMeasured) {
  EXPECT_EQ(Run({"run", "--report", "json=no/such/folder/v.json"}), 3);
  EXPECT_THAT(Err(), HasSubstr("no/such/folder/v.json: the report cannot be opened"));
  EXPECT_FALSE(fs::exists("perfgate.db"));
  EXPECT_FALSE(fs::exists("perfgate-out"));
}

TEST_F(Commands, ADryRunWritesNothing) {
  EXPECT_EQ(Run({"run", "--dry-run", "--plant", "geglu=clone"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("1 case of demo"), HasSubstr("trace    geglu.json.gz"),
                           HasSubstr("planted defect: clone")));
  EXPECT_FALSE(fs::exists("perfgate.db"));
  EXPECT_FALSE(fs::exists("perfgate-out"));
}

TEST_F(Commands, GlobsThatMatchNothingAreMistakes) {
  EXPECT_EQ(Run({"run", "--case", "gegluu"}), 2);
  EXPECT_THAT(Err(), HasSubstr("--case 'gegluu' matches no declared case; did you mean `geglu`?"));
  EXPECT_EQ(Run({"run", "--plant", "x*=clone"}), 2);
  EXPECT_THAT(Err(), HasSubstr("--plant 'x*' matches no selected case"));
  EXPECT_EQ(Run({"run", "--device", "gpu"}), 2);
  EXPECT_THAT(Err(), HasSubstr("it takes auto, cpu, cuda or cuda:N"));
}

TEST_F(Commands, APlantThatTheWorkloadDidNotPutInIsAnError) {
  EXPECT_EQ(Run({"run", "--plant", "geglu=clone"}), 3);
  EXPECT_THAT(Out(), AllOf(HasSubstr("planted defect"),
                           HasSubstr("did not put in the planted defect 'clone'")));
}

TEST_F(Commands, ABaselineOfACaseNoLongerDeclaredFails) {
  fs::copy_file("geglu.json.gz", "other.json.gz");
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    trace: geglu.json.gz\n  - name: "
        "other\n"
        "    trace: other.json.gz\nrules: [perfgate:structure]\n");
  Run({"run"});
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "first"}), 0) << Err();
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    trace: geglu.json.gz\nrules: "
        "[perfgate:structure]\n");
  EXPECT_EQ(Run({"run"}), 4);
  EXPECT_THAT(Out(),
              AllOf(HasSubstr("other"), HasSubstr("no longer declared"), HasSubstr("git rm")));
  EXPECT_EQ(Run({"run", "--case", "geglu"}), 4) << "coverage shrank, whatever was selected";
  EXPECT_THAT(Out(), HasSubstr("no longer declared"));
  EXPECT_EQ(Run({"baseline", "verify"}), 2);
  EXPECT_THAT(Err(), HasSubstr("case `other` is not declared"));
}

TEST_F(Commands, ABaselineOfACaseThatWasNotSelectedIsNoMatter) {
  fs::copy_file("geglu.json.gz", "other.json.gz");
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    trace: geglu.json.gz\n  - name: "
        "other\n"
        "    trace: other.json.gz\nrules: [perfgate:structure]\n");
  Run({"run"});
  EXPECT_EQ(Run({"baseline", "accept", "--reason", "first"}), 0) << Err();
  EXPECT_EQ(Run({"run", "--case", "geglu"}), 0) << Out();
  EXPECT_THAT(Out(), Not(HasSubstr("no longer declared")));
}

TEST_F(Commands, AReportReplacesNothingThatTheSuiteNames) {
  fs::create_directories("rules");
  Write("rules/mine.yaml",
        "version: 1\nrules:\n  - {id: a, metric: kernels, limit: {at_most: 1000}}\n");
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    trace: geglu.json.gz\n"
        "rules: [perfgate:structure, rules/mine.yaml]\n");
  Run({"run"});
  ASSERT_EQ(Run({"baseline", "accept", "--reason", "first"}), 0) << Err();
  std::string baseline;
  for (const auto& entry : fs::recursive_directory_iterator("baselines")) {
    if (entry.is_regular_file()) baseline = entry.path().string();
  }
  for (const std::string& file :
       {std::string("rules/mine.yaml"), std::string("geglu.json.gz"), baseline,
        std::string("baselines/verdict.json"), std::string("./rules/../geglu.json.gz")}) {
    EXPECT_EQ(Run({"run", "--report", "json=" + file}), 2) << file;
    EXPECT_THAT(Err(), HasSubstr(file + ": the report would overwrite or stand among what the "
                                        "command reads"));
    EXPECT_EQ(Run({"judge", "--report", "json=" + file}), 2) << file;
  }
  EXPECT_FALSE(fs::exists("baselines/verdict.json"));
  EXPECT_EQ(Run({"run", "--report", "json=verdict.json"}), 0) << Err();
  Write("perfgate.yaml", "version: 1\nsuit: demo\nrules: [rules/mine.yaml]\n");
  EXPECT_EQ(Run({"run", "--report", "json=rules/mine.yaml"}), 2);
  EXPECT_THAT(ReadFile("rules/mine.yaml"), StartsWith("version: 1"));
}

TEST_F(Commands, AnOutFolderOfAnotherMachineIsIngestedByTheSameRoad) {
  Run({"run"});
  fs::remove("perfgate.db");
  EXPECT_EQ(Run({"ingest", "perfgate-out"}), 0) << Err();
  EXPECT_THAT(Err(), HasSubstr("stored in perfgate.db"));
  EXPECT_EQ(Run({"ingest", "perfgate-out"}), 0);
  EXPECT_THAT(Err(), HasSubstr("already in perfgate.db"));
  EXPECT_EQ(Run({"judge"}), 4);
  EXPECT_EQ(Run({"ingest", "nothing-here"}), 3);
}

TEST_F(Commands, AChangedDeclarationIsNotJudgedByOldEvidence) {
  Run({"run"});
  Write("perfgate.yaml",
        "version: 1\nsuite: demo\nworkloads:\n  - name: geglu\n    command: [bench]\nrules: "
        "[perfgate:structure]\n");
  EXPECT_EQ(Run({"judge"}), 3);
  EXPECT_THAT(Out(), HasSubstr("the declaration of the case has changed since run"));
}

TEST_F(Commands, StoredCasesStandWhereverATraceCan) {
  Run({"run"});
  EXPECT_EQ(Run({"inspect", "latest:geglu", "--format", "json"}), 0) << Err();
  EXPECT_EQ(ParseJson(Out(), "out").At("schema").AsString(), "perfgate.evidence/1");
  EXPECT_EQ(Run({"diff", "latest:geglu", Trace("geglu_eager")}), 1) << Err();
  EXPECT_EQ(Run({"inspect", "latest:gelu"}), 3);
  EXPECT_THAT(Err(), HasSubstr("has no case `gelu`; it has: geglu"));
  EXPECT_EQ(Run({"inspect", "none.json"}), 3);
  EXPECT_THAT(Err(), HasSubstr("none.json: there is no such trace file"));
}

TEST_F(Commands, TwoTracesAreComparedAndWhatIsNotKnownIsListed) {
  EXPECT_EQ(Run({"diff", Trace("geglu_compile"), Trace("geglu_eager")}), 1);
  EXPECT_THAT(Out(), AllOf(StartsWith("FAIL"),
                           HasSubstr("geglu_eager.json.gz against geglu_compile.json.gz"),
                           HasSubstr("not known to be the same on both sides")));
  EXPECT_EQ(Run({"diff", Trace("geglu_eager"), Trace("geglu_compile")}), 0) << Out();
  EXPECT_THAT(Out(), StartsWith("PASS"));
}

TEST_F(Commands, OtherShapesAreNotComparable) {
  EXPECT_EQ(Run({"diff", Trace("mlp_eager"), Trace("mlp_eager_b1")}), 4) << Out();
  EXPECT_THAT(Out(), StartsWith("NOT COMPARABLE"));
}

TEST_F(Commands, OtherDevicesAreNotComparable) {
  EXPECT_EQ(Run({"diff", Trace("cpu_geglu_compile"), Trace("geglu_compile")}), 4) << Out();
  EXPECT_THAT(Out(), HasSubstr("device: cpu / cuda"));
}

TEST_F(Commands, HistoryFollowsAMetric) {
  Run({"run"});
  EXPECT_EQ(Run({"history", "--metric", "kernels"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("geglu"), HasSubstr("0123456")));
  EXPECT_EQ(Run({"history", "--format", "html"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("One run is no history.")));
  EXPECT_EQ(Run({"history", "--metric", "kernels", "--case", "nothing"}), 2);
  EXPECT_THAT(Err(), HasSubstr("no stored case has a value of kernels"));
  EXPECT_EQ(Run({"history", "--metric", "kernls"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean `kernels`?"));
}

TEST_F(Commands, RulesAndSchemasCanBeListed) {
  EXPECT_EQ(Run({"rules", "list"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("perfgate:structure"), HasSubstr("no-extra-kernel")));
  Write("mine.yaml",
        "version: 1\nrules:\n  - id: a\n    metric: kernles\n    limit: {at_most: 1}\n");
  EXPECT_EQ(Run({"rules", "check", "mine.yaml"}), 2);
  EXPECT_THAT(Err(), HasSubstr("mine.yaml:4"));
  EXPECT_EQ(Run({"schema", "verdict"}), 0) << Err();
  EXPECT_EQ(ParseJson(Out(), "schema").At("$schema").AsString(),
            "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(Run({"schema", "verdct"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean `verdict`?"));
}

TEST_F(Commands, ColoursFollowTheTerminalAndNoColor) {
  Run({"run"});
  world_.terminal_ = true;
  Run({"judge"});
  EXPECT_THAT(Out(), HasSubstr("\x1b["));
  world_.environment_["NO_COLOR"] = "1";
  Run({"judge"});
  EXPECT_THAT(Out(), Not(HasSubstr("\x1b[")));
}

}  // namespace
}  // namespace perfgate
