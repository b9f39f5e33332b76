// Small pieces of evidence and rules, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "judge/judge.h"

namespace perfgate {

// One process of as many steps as values.
inline void Set(Evidence& evidence, MetricId metric, std::vector<double> per_step) {
  evidence.unavailable.erase(metric);
  std::erase_if(evidence.values, [&](const Observation& o) { return o.metric == metric; });
  evidence.values.push_back({metric, Side::kHead, 0, 0, std::move(per_step)});
}

inline KernelRow& AddKernel(Evidence& evidence, std::string name, std::vector<std::string> ops,
                            Family family, std::vector<int64_t> counts) {
  KernelRow row;
  row.name = std::move(name);
  row.op_path = ops.empty() ? "" : "aten::" + ops.front();
  row.device = evidence.device_kind == "cpu" ? "cpu" : "cuda:0";
  row.time_ns_per_step.assign(counts.size(), 1000);
  row.count_per_step = std::move(counts);
  row.info.canonical = row.name;
  row.info.short_name = row.name;
  row.info.family = family;
  row.info.ops = std::move(ops);
  evidence.kernels.push_back(std::move(row));
  return evidence.kernels.back();
}

inline Evidence SomeEvidence(const std::string& device = "cuda") {
  Evidence evidence;
  evidence.case_name = "geglu[mode=aoti]";
  evidence.device_kind = device;
  evidence.device_name = device == "cuda" ? "NVIDIA H200" : "cpu";
  evidence.steps = {2};
  return evidence;
}

inline CasePair SomePair(const std::string& device = "cuda") {
  CasePair pair;
  pair.declared.name = "geglu[mode=aoti]";
  pair.head = SomeEvidence(device);
  pair.base = SomeEvidence(device);
  pair.comparable = true;
  pair.diff = Diff();
  return pair;
}

inline CasePair PairOf(MetricId metric, std::vector<double> base, std::vector<double> head) {
  CasePair pair = SomePair();
  Set(*pair.base, metric, std::move(base));
  Set(pair.head, metric, std::move(head));
  return pair;
}

inline Rule SomeRule(Check check, std::vector<MetricId> metrics = {}) {
  Rule rule;
  rule.id = "r";
  rule.full_id = "rules/mine.yaml/r";
  rule.why = "because";
  rule.where = {"rules/mine.yaml", 7, 5};
  rule.check = std::move(check);
  rule.metrics = std::move(metrics);
  return rule;
}

// Allowances as they are written: "+0", "+3%", "+2" in the metric's own unit.
inline Rule ChangeRule(MetricId metric, const std::vector<std::string>& at_most) {
  ChangeCheck check;
  for (const std::string& text : at_most) {
    const Quantity quantity = *ParseQuantity(text);
    check.at_most.push_back({quantity.value, quantity.percent, text});
  }
  return SomeRule(check, {metric});
}

inline Rule LimitRule(MetricId metric, double at_most) {
  return SomeRule(
      LimitCheck{at_most, std::nullopt, "at most " + FormatValue(at_most, Info(metric).unit)},
      {metric});
}

inline CountBound Exactly(int64_t count) { return {count, count}; }

inline Verdict JudgeOne(const Rule& rule, const CasePair& pair,
                        Policy policy = {.today = "2027-01-15"}) {
  return Judge({&rule, 1}, {&pair, 1}, policy);
}

// The only finding of one rule on one case.
inline Finding FindingOf(const Rule& rule, const CasePair& pair,
                         Policy policy = {.today = "2027-01-15"}) {
  const Verdict verdict = JudgeOne(rule, pair, policy);
  EXPECT_EQ(verdict.cases.size(), 1u);
  // A case that its only rule skips has one more: that nothing judged it.
  const auto& findings = verdict.cases.at(0).findings;
  EXPECT_TRUE(findings.size() == 1 || findings.at(1).rule == "perfgate:unjudged-case");
  return verdict.cases.at(0).findings.at(0);
}

}  // namespace perfgate
