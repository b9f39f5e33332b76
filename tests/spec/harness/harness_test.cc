// The harness that judges the product must be right itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "base/json.h"
#include "harness/invariants.h"
#include "harness/pick.h"
#include "harness/scripted_world.h"
#include "harness/spec_file.h"
#include "harness/trace_notation.h"

namespace perfgate::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Json> Events(const Json& trace, const std::string& category) {
  std::vector<Json> found;
  for (const Json& event : trace.At("traceEvents").AsArray()) {
    const Json* cat = event.Find("cat");
    if (cat != nullptr && cat->AsString() == category) found.push_back(event);
  }
  return found;
}

Json Expand(const std::string& notation) { return ParseJson(ExpandTrace(notation, "t"), "trace"); }

template <typename Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

std::string NotationError(const std::string& notation) {
  return MessageOf([&] { ExpandTrace(notation, "t"); });
}

// A file of its own for each test: CTest runs them side by side.
std::filesystem::path WriteSpec(const std::string& text) {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto path = std::filesystem::path(testing::TempDir()) / ("harness_" + name + ".test");
  WriteFileAtomically(path, text);
  return path;
}

TEST(Notation, AKernelIsLaunchedInsideItsOperatorByACallOfTheSameCorrelation) {
  const Json trace = Expand("step×2 { aten::linear{aten::addmm[[64],[64,768]]{gemm_bias 12us}} }");
  const auto kernels = Events(trace, "kernel"), launches = Events(trace, "cuda_driver");
  ASSERT_EQ(kernels.size(), 2u);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(kernels[0].At("name").AsString(), "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT");
  EXPECT_EQ(kernels[0].At("dur").AsNumber(), 12);
  EXPECT_EQ(kernels[0].At("args").At("correlation"), launches[0].At("args").At("correlation"));
  const auto operators = Events(trace, "cpu_op");
  ASSERT_EQ(operators.size(), 4u);
  EXPECT_EQ(operators[0].At("name").AsString(), "aten::addmm");
  EXPECT_EQ(operators[0].At("args").At("External id"), kernels[0].At("args").At("External id"));
  EXPECT_EQ(operators[0].At("args").At("Input Dims").AsArray().size(), 2u);
  EXPECT_EQ(Events(trace, "user_annotation").size(), 2u);
}

TEST(Notation, ATraceOfACpuHasNoDeviceAndEveryWordIsAnOperator) {
  const Json trace = Expand("cpu step { aten::mm 100us graph_0_cpp_fused_gelu_mul_0 20us }");
  EXPECT_TRUE(trace.At("deviceProperties").AsArray().empty());
  EXPECT_EQ(Events(trace, "cpu_op").size(), 2u);
  EXPECT_EQ(Events(trace, "cpu_op")[0].At("dur").AsNumber(), 100);
}

TEST(Notation, AGraphLaunchOwnsAllItsKernels) {
  const Json trace = Expand("step { graph{ gelu 2us mul 3us } }");
  ASSERT_EQ(Events(trace, "kernel").size(), 2u);
  EXPECT_EQ(Events(trace, "cuda_runtime").size(), 1u);
}

TEST(Notation, DefectsLeaveOutWhatTheyName) {
  EXPECT_TRUE(Events(Expand("step { aten::gelu{drop gelu 2us} }"), "kernel").empty());
  EXPECT_TRUE(Events(Expand("step { orphan gelu 2us }"), "cuda_runtime").empty());
  EXPECT_EQ(Events(Expand("step { zero-time gelu 2us }"), "kernel")[0].At("dur").AsNumber(), 0);
  EXPECT_THAT(MessageOf([] { Expand("truncate step { gelu 2us }"); }), HasSubstr("trace"));
}

TEST(Notation, AMistakeIsSaidWithTheWordAtWhichItWasSeen) {
  EXPECT_EQ(NotationError("step { gelu }"), "t: expected a duration such as 3us at `}`");
  EXPECT_EQ(NotationError("step { gelu 3us"), "t: a } is missing at `the end`");
  EXPECT_EQ(NotationError("step { \"gelu 3us }"), "t: a quote is not closed");
}

TEST(Spec, ACommandWithoutAnExitIsRefused) {
  const auto path = WriteSpec("A title\n\n$ perfgate diff a b\n> out\n");
  EXPECT_THAT(MessageOf([&] { ReadSpec(path); }), HasSubstr("needs a line `exit N`"));
}

TEST(Spec, UpdatingRewritesExpectedLinesAndNeverTheExitCode) {
  const auto path =
      WriteSpec("A title\n\n$ perfgate diff a b\n> old\n> old too\nexit 1\n\n# end\n");
  const SpecFile spec = ReadSpec(path);
  UpdateSpec(spec, {{&std::get<Command>(spec.steps[0]), {"new", ""}, {"noise"}}});
  EXPECT_EQ(ReadFile(path), "A title\n\n$ perfgate diff a b\n> new\n>\nexit 1\n\n# end\n");
}

TEST(Spec, ThreeDotsStandForAnyLines) {
  EXPECT_TRUE(LinesMatch({"a", "...", "d"}, {"a", "b", "c", "d"}));
  EXPECT_TRUE(LinesMatch({"..."}, {}));
  EXPECT_FALSE(LinesMatch({"a", "...", "d"}, {"a", "b", "d", "e"}));
  EXPECT_FALSE(LinesMatch({}, {"a"}));
}

TEST(Pick, PrintsOneObjectALine) {
  const Json json = ParseJson(
      R"({"exit_code": 1, "cases": [{"case": "a", "findings": [{"rule": "r", "x": {"y.z": 2}}]}]})",
      "t");
  EXPECT_THAT(Pick(json, "exit_code none"), ElementsAre("1  -"));
  EXPECT_THAT(Pick(json, "cases.findings: rule x.y.z"), ElementsAre("r  2"));
  EXPECT_THAT(Pick(json, "cases.case:"), ElementsAre("a"));
}

TEST(World, TheSectionWithTheMostWordsWinsAndALaunchMayHaveItsOwn) {
  ScriptedWorld world;
  world.SetProgram("python3 bench.py", "exit: 1", "t");
  world.SetProgram("python3 bench.py --batch 8", "exit: 2", "t");
  world.SetProgram("python3 bench.py, launch 2", "exit: 3", "t");
  Process process;
  process.argv = {"python3", "bench.py", "--batch", "1"};
  EXPECT_EQ(world.RunProcess(process).exit_code, 1);
  EXPECT_EQ(world.RunProcess(process).exit_code, 3);
  process.argv.back() = "8";
  EXPECT_EQ(world.RunProcess(process).exit_code, 2);
  process.argv[1] = "other.py";
  EXPECT_EQ(world.RunProcess(process).fault, "program not found: python3");
}

TEST(World, TheClockTicksAndACommandRunAgainStartsAtTheSameInstant) {
  ScriptedWorld world;
  world.BeginCommand(1);
  EXPECT_EQ(world.UtcNow(), "2027-01-31T10:16:00Z");
  const int64_t first = world.MonotonicNs();
  EXPECT_LT(first, world.MonotonicNs());
  world.BeginCommand(1);
  EXPECT_EQ(world.MonotonicNs(), first);
}

TEST(World, AnUnknownLineOfAProgramIsAnError) {
  EXPECT_EQ(MessageOf([] { ParseBehaviour("latancy: 3us", "t:4"); }),
            "t:4: a program has no `latancy`");
}

// What BrokenInvariants says of a `diff` that prints `text`, whose JSON form prints `json`.
std::vector<std::string> Broken(const std::string& text, const std::string& json, int exit) {
  const auto rerun = [&](const std::vector<std::string>& words) {
    const bool as_json = words.back() == "json";
    return CommandResult{exit, as_json ? json : text, ""};
  };
  return BrokenInvariants({"perfgate", "diff", "a", "b"}, {exit, text, ""}, rerun);
}

constexpr const char* kVerdict =
    R"({"schema": "perfgate.verdict/1", "exit_code": 1, "cases": [
        {"case": "a", "status": "fail", "findings": [{"rule": "r", "status": "fail", "base": 5, "head": 12300}]}]})";

TEST(Invariants, AVerdictWhoseTextAndJsonAgreeIsWhole) {
  EXPECT_THAT(Broken("FAIL  1 rule: 5 -> 12.3 us\n", kVerdict, 1), ElementsAre());
}

TEST(Invariants, ANumberOfTheTextThatTheJsonDoesNotHoldIsFound) {
  EXPECT_THAT(Broken("kernels 5 -> 6\n", kVerdict, 1),
              ElementsAre("6 of the report is not in the JSON: kernels 5 -> 6"));
  EXPECT_THAT(Broken("time 45.6 us\n", kVerdict, 1), ElementsAre(HasSubstr("45.6 of the report")));
}

TEST(Invariants, AnotherExitCodeInTheJsonIsFound) {
  EXPECT_THAT(Broken("FAIL\n", kVerdict, 3), ElementsAre("exit_code is 1 in the JSON"));
}

TEST(Invariants, ARuleWithoutAFindingForACaseIsFound) {
  const std::string json =
      R"({"schema": "perfgate.verdict/1", "exit_code": 1, "cases": [
          {"case": "a", "status": "fail", "findings": [{"rule": "r", "status": "fail"}]},
          {"case": "b", "status": "pass", "findings": []}]})";
  EXPECT_THAT(Broken("FAIL\n", json, 1), ElementsAre("rule r has no finding for b"));
}

TEST(Invariants, ControlCharactersAreFound) {
  EXPECT_THAT(Broken("FAIL \x1b[2J\n", kVerdict, 1),
              ElementsAre("stdout holds the raw byte 0x1b at 5"));
}

TEST(Invariants, AFailureWithoutAWordIsFound) {
  EXPECT_THAT(Broken("", "", 2), ElementsAre("it fails without a word"));
}

}  // namespace
}  // namespace perfgate::spec
