// Pages of cases made by hand.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "report/report.h"

namespace perfgate {

inline KernelRow Row(const std::string& name, const std::string& path, int64_t time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = path;
  row.device = "cuda:0";
  row.count_per_step = {1, 1};
  row.time_ns_per_step = {time_ns, time_ns};
  row.info = DecodeKernelName(name);
  return row;
}

inline Evidence EvidenceOf(const std::string& case_name, int kernels) {
  Evidence evidence;
  evidence.case_name = case_name;
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  evidence.steps = {2};
  for (int i = 0; i < kernels; ++i) {
    evidence.kernels.push_back(Row(
        fmt::format("void at::native::vectorized_elementwise_kernel_{}<4, at::native::Functor>", i),
        "aten::linear > aten::addmm", 1000 + i));
  }
  evidence.values = {{MetricId::kKernels, Side::kHead, 0, 0, {1.0 * kernels, 1.0 * kernels}}};
  return evidence;
}

inline CasePair PairOf(const std::string& case_name, int kernels) {
  CasePair pair;
  pair.declared.name = case_name;
  pair.head = EvidenceOf(case_name, kernels + 1);
  pair.base = EvidenceOf(case_name, kernels);
  pair.comparable = true;
  pair.diff = Compare(*pair.base, pair.head);
  return pair;
}

inline CaseVerdict CaseOf(const CasePair& pair, Status status) {
  Finding finding;
  finding.rule = "perfgate:structure/no-extra-kernel";
  finding.case_name = pair.head.case_name;
  finding.status = status;
  finding.metric = MetricId::kKernels;
  finding.base = 4;
  finding.head = 5;
  finding.limit = "at most +0";
  finding.message = "kernels 4 -> 5 a step (at most +0)";
  finding.why = "An extra kernel is a launch.";
  finding.next = "perfgate baseline accept --case 'geglu' --reason '…'";
  finding.operators = {"aten::gelu"};
  CaseVerdict item;
  item.case_name = pair.head.case_name;
  item.status = status;
  item.findings = {finding};
  item.diff = pair.diff;
  return item;
}

inline std::string PageOf(const std::vector<CasePair>& pairs, Status status) {
  Verdict verdict;
  for (const CasePair& pair : pairs) verdict.cases.push_back(CaseOf(pair, status));
  verdict.head_label = "1a2b3c4";
  verdict.base_label = "5d6e7f8";
  verdict.device = "NVIDIA H200";
  verdict.suite = "demo";
  Settle(verdict);
  return VerdictAsHtml(verdict, pairs);
}

// `kernels` of one stream, one a microsecond, and the operator around them all.
inline TimeLine LineOf(int kernels, int64_t kernel_ns) {
  TimeLine line;
  line.texts = {"", "CPU, thread 1", "GPU 0, stream 7", "aten::mm", "my_kernel", "[[2, 3]]"};
  line.step_ns = 1000 * kernels;
  line.spans.push_back({3, 1, 0, 5, 0, false, false, 0, line.step_ns});
  for (int i = 0; i < kernels; ++i) {
    line.spans.push_back({4, 2, 3, 5, 0, true, false, 1000 * i, kernel_ns});
  }
  return line;
}

}  // namespace perfgate
