#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "declare_files.h"

namespace perfgate {
namespace {

using testing::ElementsAre;

constexpr const char* kRules = R"(version: 1
rules:
  - id: launches
    metric: [kernels, cpu_kernels]
    change: {at_most: +0}
)";

class SuiteFile : public DeclaredFiles {
 protected:
  SuiteFile() { Write("rules/mine.yaml", kRules); }
  Suite Load(const std::string& workloads) {
    return LoadSuite(
        Write("perfgate.yaml", "version: 1\nsuite: demo\nrules: [rules/mine.yaml]\n" + workloads));
  }
};

std::vector<std::string> NamesOf(const Suite& suite) {
  std::vector<std::string> names;
  for (const Case& each : suite.cases) names.push_back(each.name);
  return names;
}

TEST_F(SuiteFile, AMatrixMakesOneCaseForEachCombinationWithSortedKeys) {
  const Suite suite = Load(R"(workloads:
  - name: geglu
    matrix: {tokens: [64, 8192], mode: [eager, aoti]}
    torch:
      module: geglu
      hidden: 768
      intermediate: 3072
      input: {shape: ["{tokens}", 768], dtype: bf16}
      mode: "{mode}"
)");
  EXPECT_THAT(NamesOf(suite),
              ElementsAre("geglu[mode=eager,tokens=64]", "geglu[mode=aoti,tokens=64]",
                          "geglu[mode=eager,tokens=8192]", "geglu[mode=aoti,tokens=8192]"));
  EXPECT_EQ(suite.cases[3].workload, "geglu");
  EXPECT_EQ(suite.cases[3].params.at("tokens"), "8192");
  EXPECT_EQ(suite.cases[3].declared.line, 5);
}

TEST_F(SuiteFile, ATorchWorkloadIsTheCommandLineOfTheRunnerWithAllDefaultsSaid) {
  const Suite suite = Load(R"(workloads:
  - name: geglu
    torch: {module: geglu, hidden: 768, intermediate: 3072, input: {shape: [64, 768], dtype: bf16}, mode: aoti}
)");
  EXPECT_THAT(suite.cases[0].argv,
              ElementsAre("perfgate-torch", "--module", "geglu", "--set", "hidden=768", "--set",
                          "intermediate=3072", "--set", "bias=false", "--set", "approximate=tanh",
                          "--input-shape", "64,768", "--input-dtype", "bf16", "--mode", "aoti",
                          "--seed", "0"));
}

TEST_F(SuiteFile, APackageTakesSeveralInputsAndNoMode) {
  const Suite suite = Load(R"(workloads:
  - name: own
    torch:
      package: models/own.pt2
      inputs: [{shape: [2, 3], dtype: fp32}, {shape: [4], dtype: fp16}]
      seed: 7
)");
  EXPECT_THAT(suite.cases[0].argv,
              ElementsAre("perfgate-torch", "--package", "models/own.pt2", "--input-shape", "2,3",
                          "--input-dtype", "fp32", "--input-shape", "4", "--input-dtype", "fp16",
                          "--seed", "7"));
}

TEST_F(SuiteFile, ConditionsOfAWorkloadStandOverTheDefaults) {
  const Suite suite = Load(R"(defaults:
  device: cpu
  threads: 2
  warmup: {iterations: 3, until_steady: false, at_most: 500ms}
  timed: {iterations: 9}
  traced: {iterations: 4, processes: 3}
  timeout: 2min
workloads:
  - name: a
    command: [./a]
  - name: b
    command: [./b]
    device: cuda:1
    threads: 4
    traced: {processes: 1}
    timeout: 10s
)");
  const Case& a = suite.cases[0];
  const Case& b = suite.cases[1];
  EXPECT_EQ(a.device, "cpu");
  EXPECT_EQ(a.windows.warmup_iterations, 3);
  EXPECT_FALSE(a.windows.warmup_until_steady);
  EXPECT_EQ(a.windows.warmup_at_most_ns, 500'000'000);
  EXPECT_EQ(a.windows.timed_iterations, 9);
  EXPECT_EQ(a.timeout_ns, 120'000'000'000);
  EXPECT_EQ(b.device, "cuda:1");
  EXPECT_EQ(b.threads, 4);
  EXPECT_EQ(b.windows.traced_iterations, 4);
  EXPECT_EQ(b.windows.traced_processes, 1);
  EXPECT_EQ(b.timeout_ns, 10'000'000'000);
}

TEST_F(SuiteFile, PlaceholdersAreReplacedInsideTextsAndDoubledBracesStayLiteral) {
  const Suite suite = Load(R"(workloads:
  - name: a
    matrix: {batch: [8], threads: [3]}
    threads: "{threads}"
    command: [./a, "--batch={batch},{batch}", "{{batch}}", '{"json": {}}']
)");
  EXPECT_THAT(suite.cases[0].argv, ElementsAre("./a", "--batch=8,8", "{batch}", "{\"json\": {}}"));
  EXPECT_EQ(suite.cases[0].threads, 3);
}

TEST_F(SuiteFile, AnEarlierNameGetsTheSameParameters) {
  const Suite suite = Load(R"(workloads:
  - name: decode
    was: [decode_old, first]
    matrix: {batch: [1]}
    command: [./a, "{batch}"]
)");
  EXPECT_THAT(suite.cases[0].was, ElementsAre("decode_old[batch=1]", "first[batch=1]"));
}

TEST_F(SuiteFile, AReferenceThatIsNoCaseIsAddedAndOnlyMeasured) {
  const Suite suite = Load(R"(workloads:
  - name: geglu
    matrix: {tokens: [64], mode: [eager, aoti]}
    torch: {module: geglu, hidden: 8, intermediate: 16, input: {shape: ["{tokens}", 8], dtype: bf16}, mode: "{mode}"}
    reference: {mode: eager, dtype: fp32}
)");
  ASSERT_EQ(suite.cases.size(), 3u);
  EXPECT_EQ(suite.cases[0].reference, "geglu[dtype=fp32,mode=eager,tokens=64]");
  EXPECT_EQ(suite.cases[1].reference, suite.cases[2].name);
  EXPECT_TRUE(suite.cases[2].reference_only);
  EXPECT_THAT(suite.cases[2].argv, testing::Contains("fp32"));
  EXPECT_FALSE(suite.cases[0].reference_only);
}

TEST_F(SuiteFile, AReferenceThatIsACaseIsThatCase) {
  const Suite suite = Load(R"(workloads:
  - name: a
    matrix: {mode: [eager, fast], batch: [1, 2]}
    command: [./a, "{mode}", "{batch}"]
    reference: {mode: eager}
  - name: b
    matrix: {mode: [fast], batch: [2]}
    command: [./b, "{mode}", "{batch}"]
    reference: a
)");
  ASSERT_EQ(suite.cases.size(), 5u);
  EXPECT_EQ(suite.cases[3].name, "a[batch=2,mode=fast]");
  EXPECT_EQ(suite.cases[3].reference, "a[batch=2,mode=eager]");
  EXPECT_EQ(suite.cases[4].reference, "a[batch=2,mode=fast]");
}

TEST_F(SuiteFile, AReferenceMayDifferByTheMachineAlone) {
  const Suite suite = Load(R"(workloads:
  - name: a
    matrix: {threads: [8, 1]}
    command: [./a]
    threads: "{threads}"
    reference: {threads: 1}
  - name: b
    matrix: {device: [cuda]}
    command: [./b]
    device: "{device}"
    reference: {device: cpu}
)");
  ASSERT_EQ(suite.cases.size(), 4u);
  EXPECT_EQ(suite.cases[0].reference, "a[threads=1]");
  EXPECT_EQ(suite.cases[2].reference, "b[device=cpu]");
  EXPECT_EQ(suite.cases[3].device, "cpu");
}

TEST_F(SuiteFile, CasesMayBeComparedWithEachOther) {
  const Suite suite = Load(R"(workloads:
  - {name: a, command: [./a], reference: b}
  - {name: b, command: [./b], reference: c}
  - {name: c, command: [./c], reference: a}
)");
  EXPECT_EQ(suite.cases[2].reference, "a");
}

TEST_F(SuiteFile, TheDigestIsTheDefinitionAndNotTheNameOrTheMachine) {
  const auto digest = [&](const std::string& keys) {
    return Load("workloads:\n  - {" + keys + "}\n").cases[0].digest;
  };
  const std::string first = digest("name: a, command: [./a, x]");
  EXPECT_EQ(first.size(), 16u);
  EXPECT_EQ(first, digest("name: b, command: [./a, x], device: cpu, threads: 4, timeout: 9s"));
  EXPECT_NE(first, digest("name: a, command: [./a, y]"));
  EXPECT_NE(first, digest("name: a, command: [./a, x], traced: {iterations: 6}"));
  EXPECT_EQ(first, digest("name: a, command: [./a, x], profiler: torch"));
  const std::string cupti = digest("name: a, command: [./a, x], profiler: cupti");
  EXPECT_NE(first, cupti);
  EXPECT_NE(cupti, digest("name: a, command: [./a, x], profiler: cupti, steps: {nvtx: s}"));
  EXPECT_NE(cupti, digest("name: a, command: [./a, x], profiler: cupti, window: {for: 1s}"));
  EXPECT_EQ(digest("name: a, trace: x.json"), digest("name: b, trace: x.json"));
  EXPECT_NE(digest("name: a, trace: x.json"), digest("name: a, trace: y.json"));
}

TEST_F(SuiteFile, TheRunnersPathIsNoPartOfTheDefinition) {
  const auto file = Write("perfgate.yaml", R"(version: 1
rules: [rules/mine.yaml]
workloads:
  - {name: a, torch: {script: m.pt, input: {shape: [1], dtype: fp32}}}
)");
  const Suite here = LoadSuite(file);
  const Suite there = LoadSuite(file, {.torch_runner = "/opt/perfgate-torch"});
  EXPECT_EQ(there.cases[0].argv[0], "/opt/perfgate-torch");
  EXPECT_EQ(here.cases[0].digest, there.cases[0].digest);
  EXPECT_EQ(here.name, folder_.filename().string()) << "the folder names a suite without a name";
}

TEST_F(SuiteFile, WhatIsSaidOfAllCasesIsTaken) {
  const Suite suite = Load(R"(no_baseline: warn
baselines: golden
workloads:
  - name: server
    command: [./server]
    profiler: torch
    prepare: [./make, model]
)");
  EXPECT_EQ(suite.cases[0].profiler, Profiler::kTorch);
  EXPECT_THAT(suite.cases[0].prepare, ElementsAre("./make", "model"));
  EXPECT_TRUE(suite.no_baseline_warns);
  EXPECT_EQ(suite.baselines, "golden");
}

TEST_F(SuiteFile, TheCollectorsWindowIsDeclaredBySteps) {
  const Suite suite = Load(R"(workloads:
  - name: server
    command: [./server]
    profiler: cupti
    steps: {nvtx: "{range}"}
    matrix: {range: [step]}
)");
  EXPECT_EQ(suite.cases[0].profiler, Profiler::kCupti);
  EXPECT_EQ(suite.cases[0].nvtx_steps, "step");
  EXPECT_EQ(suite.cases[0].cupti_window, "");
}

TEST_F(SuiteFile, TheCollectorsWindowIsDeclaredByTimeAndCount) {
  const Suite suite = Load(R"(workloads:
  - {name: a, command: [./a], profiler: cupti, window: {after: 1.5s, for: 200ms, kernels: 1000}}
  - {name: b, command: [./b], profiler: cupti}
)");
  EXPECT_EQ(suite.cases[0].cupti_window, "after=1500000000ns,for=200000000ns,kernels=1000");
  EXPECT_EQ(suite.cases[1].cupti_window, "");
}

TEST_F(SuiteFile, TheFilesItNamesAreKnownInSpiteOfItsMistakes) {
  const NamedFiles named = FilesNamedBy(Write("perfgate.yaml", R"(version: 7
baselines: golden
workloads:
  - {trace: "traces/{name}.json", matrix: {name: [a, b]}}
  - {name: c, trace: c.json, wrong: 1}
  - 3
rules: [perfgate:structure, rules/mine.yaml]
)"));
  EXPECT_THAT(named.traces, testing::ElementsAre(folder_ / "traces/a.json",
                                                 folder_ / "traces/b.json", folder_ / "c.json"));
  EXPECT_THAT(named.rules, testing::ElementsAre(folder_ / "rules/mine.yaml"));
  EXPECT_EQ(named.baselines, folder_ / "golden");
  EXPECT_TRUE(FilesNamedBy(folder_ / "none.yaml").rules.empty());
}

TEST_F(SuiteFile, AnAliasIsItsAnchor) {
  const Suite suite = Load(R"(workloads:
  - name: a
    command: &command [./a, x]
  - name: b
    command: *command
)");
  EXPECT_EQ(suite.cases[0].argv, suite.cases[1].argv);
}

}  // namespace
}  // namespace perfgate
