// Two pieces of evidence, aligned by operator path and kernel rows, not by time or position.
//
// Rows are matched by exact name, then by canonical name, each under the same operator path first.
// What is left is explained, the most telling explanation first: fusions that came apart or came
// about, epilogues, tensor cores, element types, copies that an operator asked for, the same
// operator with another kernel, and at last what was added and removed. Every launch is in exactly
// one place, so the changes and the drift of the unchanged rows add up to the totals.
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
  std::string name;  // exact
  std::string canonical;
  std::string short_name;
  std::string op_path;
  std::string device;
  std::vector<std::string> ops;
  int64_t count = 0;          // launches a step (all steps divided by steps, rounded)
  int64_t time_ns = 0;        // a step
  std::string place{};        // modules or annotations: "LlamaMLP > Linear, 4 of them"; or ""
  std::string backward_of{};  // the operator whose gradient it computes: "aten::addmm"; or ""
  std::string in_dtype{}, out_dtype{};  // "bf16"; "": not said
};

// Copies and fills, head minus base, a step.
struct TransferDelta {
  int64_t count = 0, bytes = 0, time_ns = 0;
  TransferDelta operator+(const TransferDelta& other) const {
    return {count + other.count, bytes + other.bytes, time_ns + other.time_ns};
  }
  TransferDelta operator-(const TransferDelta& other) const {
    return {count - other.count, bytes - other.bytes, time_ns - other.time_ns};
  }
  friend bool operator==(const TransferDelta&, const TransferDelta&) = default;
};

struct Change {
  ChangeKind kind = ChangeKind::kAdded;  // the most telling one
  std::vector<ChangeKind> also;  // what is true of it too: dtype_changed of a lost tensor core
  std::vector<ChangedKernel> base, head;
  std::vector<std::string> ops;        // operators concerned: {"gelu","mul"}
  std::vector<std::string> operators;  // launching operators that caused it: {"aten::gelu"}
  std::vector<std::string> places;     // where in the model: {"LlamaMLP > Linear, 4 of them"}
  int64_t count = 0;                   // head minus base, launches a step
  int64_t time_ns = 0;                 // head minus base, a step
  TransferDelta transfers;             // copies and fills are no kernels: beside count and time_ns
  bool narrower = false;               // elements of fewer bytes than before: bf16 to fp8
  std::string text;                    // one line for a person: "one fused kernel came apart"
};

// Launches that are the same on both sides and take longer now.
struct Drift {
  ChangedKernel base, head;
  int64_t Rise() const { return head.time_ns - base.time_ns; }  // a step
};

struct Answer {
  std::string question;  // "Did the GPU do fewer or more kernels?"
  std::string answer;    // in words with the numbers
};

struct Diff {
  std::vector<std::string> differing_key;
  std::vector<std::string> unknown_key;
  // Not empty: other input shapes, or steps marked on one side only; then the changes are shown for
  // information only.
  std::string different_shapes;
  std::vector<Change> changes;  // worst first
  std::array<Answer, 4> answers;
  std::string base_bound, head_bound;  // what bounds each: "launch", "compute", ..., with numbers
  // Head minus base over all kernels, a step. The changes' counts add up to kernel_count; the
  // changes' times and unchanged_time_ns add up to kernel_time_ns. Copies, fills and
  // synchronisations are no kernels: their changes have count and time 0.
  int64_t kernel_count = 0;
  int64_t kernel_time_ns = 0;
  int64_t unchanged_time_ns = 0;  // how much the time of rows without a change drifted
  // The same over all copies and fills: the changes' `transfers` and unchanged_transfers add up to
  // it, also those of each direction alone.
  TransferDelta transfers, unchanged_transfers;
  // Of the rows without a change the slower ones that explain most, largest rise first.
  std::vector<Drift> slower;
};

// True if the change is of the kind, by its own or by what is true of it too.
bool IsOfKind(const Change& change, ChangeKind kind);

// Waits that end every step of one side only, a step: harness_syncs that are no habit of the
// profiling loop, since the other side's does without. They count with that side's syncs.
struct LoopWaits {
  double base = 0, head = 0;  // one of them is 0; both where a side does not say
};
LoopWaits WaitsOfOneLoop(const Evidence& base, const Evidence& head);

Diff Compare(const Evidence& base, const Evidence& head);

}  // namespace perfgate
