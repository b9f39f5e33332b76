// Two pieces of evidence, aligned by operator path and kernel rows, not by time or position.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "metric/metric.h"

namespace perfgate {

// One side of a change: some launches of one kernel row.
struct ChangedKernel {
  std::string name;        // exact
  std::string canonical;
  std::string short_name;
  std::string op_path;
  std::string device;
  std::vector<std::string> ops;
  int64_t count = 0;    // launches a step (all steps divided by steps, rounded)
  int64_t time_ns = 0;  // a step
};

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  std::vector<ChangedKernel> base, head;
  std::vector<std::string> ops;        // operators concerned: {"gelu","mul"}
  std::vector<std::string> operators;  // launching operators that caused it: {"aten::gelu"}
  int64_t count = 0;    // head minus base, launches a step
  int64_t time_ns = 0;  // head minus base, a step
  std::string text;     // one line for a person: "one fused kernel came apart"
};

struct Answer {
  std::string question;  // "Did the GPU do fewer or more kernels?"
  std::string answer;    // in words with the numbers
};

struct Diff {
  std::vector<std::string> differing_key;
  std::vector<std::string> unknown_key;
  // Not empty: other input shapes; then changes are shown for information only.
  std::string different_shapes;
  std::vector<Change> changes;  // worst first
  std::array<Answer, 4> answers;
  std::string base_bound, head_bound;  // what bounds each: "launch", "compute", ..., with numbers
  // Head minus base over all kernels, a step. The changes' counts add up to kernel_count.
  int64_t kernel_count = 0;
  int64_t kernel_time_ns = 0;
};

Diff Compare(const Evidence& base, const Evidence& head);

}  // namespace perfgate
