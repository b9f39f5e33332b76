#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "declare_files.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

class SuiteMistake : public DeclaredFiles {
 protected:
  SuiteMistake() {
    Write("rules/mine.yaml",
          "version: 1\nrules:\n  - {id: a, metric: kernels, change: {at_most: +0}}\n");
  }
};

TEST_F(SuiteMistake, AllMistakesAreSaidAtOnceByLine) {
  EXPECT_EQ(SuiteMistakes(R"(version: 1
suit: demo
defaults:
  warmup: {iterations: many, at_most: 30}
workloads:
  - name: geglu
    torch:
      module: geglu
      hiden: 768
      intermediate: 3072
      input: {shape: [64, 768], dtype: bf17}
  - name: geglu
    command: python3 bench.py
rules: [rules/mine.yaml]
)"),
            R"(perfgate.yaml:2:1: unknown key 'suit'; did you mean 'suite'?
perfgate.yaml:4:24: defaults.warmup.iterations: must be a whole number from 0 to 10000000, found 'many'
perfgate.yaml:4:39: defaults.warmup.at_most: must be a duration with its unit, as 30s or 200us, above 0 and at most 86400 s, found '30'
perfgate.yaml:7:5: workloads[0].torch: key 'hidden' is missing; module geglu needs it
perfgate.yaml:9:7: workloads[0].torch: unknown key 'hiden'; did you mean 'hidden'?
perfgate.yaml:11:40: workloads[0].torch.input.dtype: must be one of fp32, bf16, fp16, found 'bf17'
perfgate.yaml:12:11: workloads[1].name: workload 'geglu' is there twice
perfgate.yaml:13:14: workloads[1].command: must be a list, program first: [python3, bench/decode.py]; no shell splits it)");
}

struct Mistake {
  const char* name;
  const char* workload;  // keys after `name: a`
  const char* line;
};

class WorkloadMistake : public SuiteMistake, public testing::WithParamInterface<Mistake> {};

TEST_P(WorkloadMistake, IsSaidWithItsKeyPathAndWhatIsExpected) {
  const std::string said =
      SuiteMistakes("version: 1\nrules: [rules/mine.yaml]\nworkloads:\n  - name: a\n" +
                    std::string(GetParam().workload));
  EXPECT_THAT(said, HasSubstr(GetParam().line));
}

constexpr const char* kMlp = "    torch: {module: mlp, hidden: 8, intermediate: 16, ";
constexpr Mistake kWorkloadMistakes[] = {
    {"unmatched_placeholder", "    command: [./a, '{btch}']\n    matrix: {batch: [1]}\n",
     "5:20: workloads[0].command[1]: placeholder '{btch}' matches no key of the matrix; did you "
     "mean "
     "'batch'?"},
    {"placeholder_without_matrix", "    command: [./a, '{batch}']\n",
     "placeholder '{batch}' matches no key of the matrix; the workload has no matrix"},
    {"unused_matrix_key", "    command: [./a]\n    matrix: {batch: [1]}\n",
     "6:14: workloads[0].matrix: key 'batch' is used nowhere"},
    {"matrix_value_with_comma", "    command: [./a, '{b}']\n    matrix: {b: ['1,2']}\n",
     "workloads[0].matrix.b[0]: '1,2' may not contain , = [ ]"},
    {"matrix_value_twice", "    command: [./a, '{b}']\n    matrix: {b: [1, 1]}\n",
     "workloads[0].matrix.b[1]: '1' is there twice"},
    {"matrix_is_a_list", "    command: [./a]\n    matrix: [1]\n",
     "workloads[0].matrix: must be a mapping from names to lists of values, found a list"},
    {"too_many_cases",
     "    command: [./a, '{a}{b}{c}{d}{e}']\n"
     "    matrix: {a: [0,1,2,3,4,5,6,7,8,9], b: [0,1,2,3,4,5,6,7,8,9], c: [0,1,2,3,4,5,6,7,8,9],"
     " d: [0,1,2,3,4,5,6,7,8,9], e: [0,1]}\n",
     "6:5: workloads[0].matrix: makes more than 10000 cases"},
    {"no_kind", "    device: cpu\n",
     "workloads[0]: needs exactly one of 'torch', 'command', 'trace'"},
    {"two_kinds", "    trace: a.json\n    command: [./a]\n",
     "workloads[0]: needs exactly one of 'torch', 'command', 'trace'"},
    {"trace_with_timeout", "    trace: a.json\n    timeout: 3s\n",
     "6:14: workloads[0].timeout: has no meaning for a 'trace', which is judged as it is"},
    {"wrong_device", "    command: [./a]\n    device: gpu\n",
     "6:13: workloads[0].device: must be one of auto, cpu, cuda, cuda:N, found 'gpu'"},
    {"environment", "    command: [./a]\n    env: {A: b}\n",
     "6:5: workloads[0]: unknown key 'env'"},
    {"quoted_number", "    command: [./a]\n    threads: '2'\n",
     "workloads[0].threads: must be a whole number from 1 to 4096, found the text '2'"},
    {"zero_timeout", "    command: [./a]\n    timeout: 0s\n",
     "workloads[0].timeout: must be a duration with its unit"},
    {"nan", "    command: [./a]\n    timeout: .nan\n", "found '.nan'"},
    {"empty_value", "    command: [./a]\n    timed:\n",
     "6:5: workloads[0].timed: must be a mapping, found nothing"},
    {"unknown_profiler", "    command: [./a]\n    profiler: nsys\n",
     "workloads[0].profiler: must be one of torch, cupti, instructions, found 'nsys'"},
    {"cupti_for_the_runner",
     "    torch: {module: mlp, hidden: 8, intermediate: 16, input: {shape: [1, 8], dtype: fp32}}\n"
     "    profiler: cupti\n",
     "workloads[0].profiler: cupti is for commands: perfgate-torch writes a trace itself"},
    {"steps_without_cupti", "    command: [./a]\n    steps: {nvtx: step}\n",
     "6:5: workloads[0].steps: needs 'profiler: cupti'"},
    {"window_without_cupti", "    command: [./a]\n    profiler: torch\n    window: {for: 2s}\n",
     "7:5: workloads[0].window: needs 'profiler: cupti'"},
    {"steps_and_window",
     "    command: [./a]\n    profiler: cupti\n    steps: {nvtx: step}\n    window: {for: 2s}\n",
     "8:5: workloads[0].window: has no meaning beside 'steps'; give one"},
    {"steps_of_nothing", "    command: [./a]\n    profiler: cupti\n    steps: {}\n",
     "7:5: workloads[0].steps: key 'nvtx' is missing"},
    {"window_of_nothing", "    command: [./a]\n    profiler: cupti\n    window: {}\n",
     "7:5: workloads[0].window: is empty; it may have after, for, kernels"},
    {"window_without_a_unit", "    command: [./a]\n    profiler: cupti\n    window: {for: 2}\n",
     "workloads[0].window.for: must be a duration with its unit"},
    {"unknown_mode",
     "    torch: {module: mlp, hidden: 8, intermediate: 16, mode: fast, input: {shape: [1, 8], "
     "dtype: fp32}}\n",
     "workloads[0].torch.mode: must be one of eager, aoti, cuda_graph, hand_fused, found 'fast'"},
    {"prepare_with_placeholder",
     "    command: [./a, '{b}']\n    prepare: [./p, '{b}']\n    matrix: {b: [1]}\n",
     "workloads[0].prepare: runs once for all cases of the workload"},
    {"unknown_module", "    torch: {module: gelu, input: {shape: [1], dtype: fp32}}\n",
     "workloads[0].torch.module: 'gelu' is not known; did you mean 'geglu'?"},
    {"module_and_package", "    torch: {module: mlp, package: m.pt2}\n",
     "workloads[0].torch: needs exactly one of 'module', 'package', 'script'"},
    {"no_input", "    torch: {module: mlp, hidden: 8, intermediate: 16}\n",
     "workloads[0].torch: key 'input' is missing"},
    {"foreign_module_key",
     "    torch: {module: mlp, hidden: 8, intermediate: 16, approximate: tanh, input: {shape: [1, "
     "8], "
     "dtype: fp32}}\n",
     "workloads[0].torch: unknown key 'approximate'; known keys of module mlp: module"},
    {"shape_against_features",
     "    torch: {module: mlp, hidden: 8, intermediate: 16, input: {shape: [2, 9], dtype: fp32}}\n",
     "workloads[0].torch.input: the last dimension of the shape is 9, but hidden of module mlp is "
     "8"},
    {"package_with_mode",
     "    torch: {package: m.pt2, mode: aoti, input: {shape: [1], dtype: fp32}}\n",
     "workloads[0].torch: unknown key 'mode'; known keys of a package: package, input, inputs, "
     "seed"},
    {"unknown_reference", "    command: [./a]\n    reference: nobody\n",
     "6:16: workloads[0].reference: no case 'nobody' and no case 'nobody'"},
    {"itself_as_reference", "    command: [./a]\n    reference: a\n",
     "perfgate.yaml:6:16: workloads[0].reference: 'a' is its own reference, from which it never "
     "differs; name another case, mode or dtype, or take 'reference' out"},
    {"itself_as_reference_of_a_matrix",
     "    matrix: {b: [1, 2]}\n    command: [./a, '{b}']\n    reference: a\n",
     "7:16: workloads[0].reference: 'a[b=1]' is its own reference"},
    {"itself_as_reference_by_its_only_mode",
     "    matrix: {mode: [eager]}\n    command: [./a, '{mode}']\n    reference: {mode: eager}\n",
     "7:5: workloads[0].reference: 'a[mode=eager]' is its own reference"},
    {"itself_as_reference_by_its_own_type",
     "    torch: {module: mlp, hidden: 8, intermediate: 16, input: {shape: [1, 8], dtype: fp32}}\n"
     "    reference: {dtype: fp32}\n",
     "6:5: workloads[0].reference: 'a' is its own reference"},
    {"unknown_reference_key", "    command: [./a]\n    reference: {dtype: fp32}\n",
     "workloads[0].reference: unknown key 'dtype'"},
    {"name_with_brackets", "    command: [./a]\n  - name: b[1]\n    command: [./a]\n",
     "6:11: workloads[1].name: 'b[1]' may not contain , = [ ]"},
    {"earlier_name_in_use", "    command: [./a]\n  - name: b\n    was: a\n    command: [./a]\n",
     "workloads[1].was: 'a' is the name of a workload of this suite"},
    {"duplicate_key", "    command: [./a]\n    command: [./b]\n",
     "6:5: workloads[0]: key 'command' is there twice, first in line 5"},
    {"merge_key", "    <<: {a: 1}\n    command: [./a]\n",
     "5:5: workloads[0]: merge keys (<<) are not accepted"},
    {"tag", "    command: !!python/object [./a]\n",
     "tag 'tag:yaml.org,2002:python/object' is not accepted"},
};

INSTANTIATE_TEST_SUITE_P(All, WorkloadMistake, testing::ValuesIn(kWorkloadMistakes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(SuiteMistake, AModuleKeyOutOfItsChoicesIsSaid) {
  EXPECT_THAT(
      SuiteMistakes("version: 1\nrules: [rules/mine.yaml]\nworkloads:\n  - name: a\n" +
                    std::string(kMlp) + "activation: tanh, input: {shape: [1, 8], dtype: fp32}}\n"),
      HasSubstr("workloads[0].torch.activation: must be one of gelu, relu, found 'tanh'"));
}

TEST_F(SuiteMistake, AnotherVersionIsRefusedAndNothingElseIsSaid) {
  EXPECT_EQ(SuiteMistakes("version: 2\nworkloads: [{nam: 1}]\nrules: [x]\n"),
            "perfgate.yaml:1:10: version: version '2' is not known to this perfgate, which reads "
            "version 1");
}

TEST_F(SuiteMistake, MissingKeysAreNamed) {
  EXPECT_EQ(SuiteMistakes("suite: a\n"),
            "perfgate.yaml:1:1: key 'version' is missing\n"
            "perfgate.yaml:1:1: key 'workloads' is missing\n"
            "perfgate.yaml:1:1: key 'rules' is missing");
}

TEST_F(SuiteMistake, AnUnknownPackAndAnAbsentRuleFileAreSaid) {
  const std::string said = SuiteMistakes(
      "version: 1\nworkloads: [{name: a, command: [./a]}]\n"
      "rules: [perfgate:nothing-such, rules/absent.yaml, rules/mine.yaml, ./rules/mine.yaml]\n");
  EXPECT_THAT(said, HasSubstr("perfgate.yaml:3:9: rules[0]: no pack 'perfgate:nothing-such'"));
  EXPECT_THAT(said, HasSubstr("rules/absent.yaml: no such file; a rule file is looked for beside"));
  EXPECT_THAT(said, HasSubstr("perfgate.yaml:3:68: rules[3]: './rules/mine.yaml' is there twice"));
}

TEST_F(SuiteMistake, MistakesOfTheRuleFilesAreSaidWithThoseOfTheSuite) {
  Write("rules/mine.yaml",
        "version: 1\nrules:\n  - {id: a, metric: kernls, change: {at_most: +0}}\n");
  const std::string said = SuiteMistakes(
      "version: 1\nworkloads: [{name: a, comand: [./a]}]\nrules: [rules/mine.yaml]\n");
  EXPECT_THAT(said,
              HasSubstr("perfgate.yaml:2:23: workloads[0]: unknown key 'comand'; did you mean "
                        "'command'?"));
  EXPECT_THAT(said,
              HasSubstr("rules/mine.yaml:3:21: rules[0].metric: 'kernls' is not known; did you "
                        "mean 'kernels'?"));
}

TEST_F(SuiteMistake, AGlobThatMatchesNoCaseIsAMistakeUnlessOptional) {
  const std::string suite =
      "version: 1\nworkloads: [{name: gelu, command: [./a]}]\nrules: [rules/mine.yaml]\n";
  Write("rules/mine.yaml", R"(version: 1
rules:
  - {id: a, cases: "geglu*", metric: kernels, change: {at_most: +0}}
  - {id: b, cases: "geglu*", metric: kernels, change: {at_most: +0}, optional: true}
  - {id: c, cases: "geglu*", metric: kernels, change: {at_most: +0}, severity: off}
  - {id: d, metric: kernels, change: {at_most: +0}, waive: {until: 2030-01-01, reason: x, cases: gegl}}
)");
  EXPECT_EQ(SuiteMistakes(suite),
            "rules/mine.yaml:3:20: rules[0].cases: 'geglu*' matches no declared case "
            "('optional: true' if that is meant); did you mean 'gelu'?\n"
            "rules/mine.yaml:6:98: rules[3].waive.cases: 'gegl' matches no declared case "
            "('optional: true' if that is meant); did you mean 'gelu'?");
}

}  // namespace
}  // namespace perfgate
