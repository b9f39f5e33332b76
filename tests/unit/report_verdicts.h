// Verdicts made by hand, as reports are asked to show them.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace perfgate {

inline ChangedKernel Kernel(const std::string& name, std::vector<std::string> ops,
                            int64_t time_ns) {
  return {name, name, name, "aten::" + ops.front(), "cuda:0", ops, 1, time_ns};
}

inline Finding Found(const std::string& rule, Status status, const std::string& message) {
  Finding finding;
  finding.rule = rule;
  finding.case_name = "geglu";
  finding.where = {"rules/mine.yaml", 3, 5};
  finding.status = status;
  finding.message = message;
  finding.why = "why of " + rule;
  return finding;
}

inline Diff SplitFusion() {
  Diff diff;
  Change change;
  change.kind = ChangeKind::kFusionSplit;
  change.base = {Kernel("fused_gelu_mul", {"gelu", "mul"}, 4130)};
  change.head = {Kernel("gelu_kernel", {"gelu"}, 3230), Kernel("mul_kernel", {"mul"}, 2860)};
  change.operators = {"aten::gelu", "aten::mul"};
  change.count = 1;
  change.time_ns = 1960;
  change.text = "one fused kernel came apart";
  diff.changes = {change};
  diff.kernel_count = 1;
  diff.kernel_time_ns = 1960;
  for (int i = 0; i < 4; ++i) diff.answers[i] = {"Question " + std::to_string(i) + "?", "answer"};
  return diff;
}

inline Verdict Failing() {
  Verdict verdict;
  verdict.result = Result::kFail;
  verdict.exit_code = 1;
  verdict.suite = "demo";
  verdict.device = "NVIDIA H200";
  verdict.base_label = "9f8e7d6";
  verdict.head_label = "1a2b3c4";
  verdict.rules = 3;
  CaseVerdict item;
  item.case_name = "geglu";
  item.status = Status::kFail;
  item.diff = SplitFusion();
  item.attempts = {"attempts/geglu/traced-0"};
  Finding split = Found("p/nothing-split", Status::kFail, "one fused kernel came apart");
  split.changes = {0};
  split.next = "perfgate baseline accept --case 'geglu' --rule 'p/nothing-split' --reason '…'";
  Finding count = Found("p/no-extra-kernel", Status::kFail, "kernels 4 -> 5 a step (at most +0)");
  count.metric = MetricId::kKernels;
  count.base = 4;
  count.head = 5;
  count.delta = 1;
  count.limit = "at most +0";
  count.changes = {0};
  count.next = "perfgate baseline accept --case 'geglu' --rule 'p/no-extra-kernel' --reason '…'";
  item.findings = {split, count, Found("p/copies", Status::kPass, "fine")};
  CaseVerdict other;
  other.case_name = "linear";
  other.status = Status::kPass;
  for (const Finding& finding : item.findings) {
    other.findings.push_back(Found(finding.rule, Status::kPass, "fine"));
  }
  verdict.cases = {other, item};
  return verdict;
}

inline size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline Verdict Hostile(const std::string& name) {
  Verdict verdict = Failing();
  CaseVerdict& item = verdict.cases[1];
  item.diff->changes[0].head[0].short_name = name;
  item.diff->changes[0].text = name;
  item.findings[0].message = name;
  item.case_name = name;
  verdict.suite = name;
  return verdict;
}

}  // namespace perfgate
