// How long judging takes: 10,000 cases by 50 rules are to be judged in 2 s at most.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "judge/judge.h"

namespace perfgate {
namespace {

constexpr int kKernelRows = 40;

void AddRows(Evidence& evidence) {
  for (int i = 0; i < kKernelRows; ++i) {
    KernelRow row;
    row.name = "void some_kernel_with_a_long_templated_name<float, 4>_" + std::to_string(i);
    row.op_path = "aten::linear > aten::addmm";
    row.device = "cuda:0";
    row.count_per_step.assign(10, 1);
    row.time_ns_per_step.assign(10, 1000);
    row.info.canonical = row.name;
    row.info.family = i % 2 == 0 ? Family::kGemm : Family::kPointwise;
    row.info.in_dtype = "bf16";
    row.info.ops =
        i % 2 == 0 ? std::vector<std::string>{"mm"} : std::vector<std::string>{"gelu", "mul"};
    row.info.tensor_core = TensorCore::kYes;
    evidence.kernels.push_back(std::move(row));
  }
}

Evidence MakeEvidence(const std::string& name) {
  Evidence evidence;
  evidence.case_name = name;
  evidence.device_kind = "cuda";
  evidence.steps = {5, 5};
  for (const Metric& metric : Metrics()) {
    for (int process = 0; process < 2; ++process) {
      evidence.values.push_back(
          {metric.id, Side::kHead, 0, process, std::vector<double>(5, kKernelRows)});
    }
  }
  AddRows(evidence);
  return evidence;
}

std::vector<CasePair> MakeCases(int count) {
  std::vector<CasePair> cases;
  for (int i = 0; i < count; ++i) {
    CasePair pair;
    pair.declared.name = "workload[batch=" + std::to_string(i) + ",mode=aoti]";
    pair.head = MakeEvidence(pair.declared.name);
    pair.base = pair.head;
    pair.comparable = true;
    pair.diff = Diff();
    cases.push_back(std::move(pair));
  }
  return cases;
}

Check MakeCheck(int i) {
  KernelSelector gemms, slow;
  gemms.family = {Family::kGemm};
  gemms.in_dtype = {"bf16", "fp16"};
  gemms.under = "aten::addmm";
  slow.tensor_core = false;
  switch (i % 5) {
    case 0:
      return ChangeCheck{{{0, false, "+0"}}, {}};
    case 1:
      return LimitCheck{1e12, std::nullopt, "at most 1e12"};
    case 2:
      return KernelsCheck{gemms, std::nullopt, std::nullopt, slow};
    case 3:
      return FusionCheck{{"gelu", "mul"}, std::nullopt, CountBound{0, 0}};
    default:
      return ChangesCheck{{ChangeKind::kFusionSplit}, CountBound{0, 0}};
  }
}

std::vector<Rule> MakeRules(int count) {
  std::vector<Rule> rules;
  for (int i = 0; i < count; ++i) {
    Rule rule;
    rule.id = "rule-" + std::to_string(i);
    rule.full_id = "rules/mine.yaml/" + rule.id;
    rule.why = "An extra kernel is a launch and usually one more round trip through memory.";
    rule.cases = "workload[*mode=aoti*";
    rule.where = {"rules/mine.yaml", i, 5};
    rule.check = MakeCheck(i);
    if (i % 5 < 2) rule.metrics = {MetricId::kKernels};
    rules.push_back(std::move(rule));
  }
  return rules;
}

void JudgeCases(benchmark::State& state) {
  const std::vector<CasePair> cases = MakeCases(static_cast<int>(state.range(0)));
  const std::vector<Rule> rules = MakeRules(static_cast<int>(state.range(1)));
  for (auto step : state) {
    benchmark::DoNotOptimize(Judge(rules, cases, {.today = "2027-01-15"}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(JudgeCases)->Args({1000, 50})->Args({10'000, 50})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfgate

BENCHMARK_MAIN();
