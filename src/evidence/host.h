// The host side of a trace: which operator made which call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evidence/calls.h"
#include "evidence/path_text.h"
#include "evidence/process.h"
#include "kernel/kernel.h"
#include "trace/trace.h"

namespace perfgate {

inline constexpr int32_t kNoOperator = -1;

// Operators and calls nested by time on their thread. Rows of the compiler are transparent: what
// runs inside them has the operator around them as parent.
struct HostTree {
  std::vector<uint32_t> order;  // operators and calls: by thread, then time, outer before inner
  std::vector<int32_t> parent;  // of each event of the trace: the innermost operator around it
  std::vector<OperatorKind> kind_of_text;   // for texts that name operators
  std::vector<CallKind> call_kind_of_text;  // as a call of that name is
  const TraceData* trace = nullptr;

  int64_t Bytes() const {
    return static_cast<int64_t>(order.size() * sizeof(uint32_t) + parent.size() * sizeof(int32_t));
  }
  OperatorKind KindOf(const TraceEvent& op) const { return kind_of_text[op.name]; }
  CallKind CallKindOf(const TraceEvent& call) const { return call_kind_of_text[call.name]; }
  // What an operator is called in a path, as a number: generated code without its numbering, long
  // names cut (PathElement).
  uint32_t PathName(uint32_t text) const {
    const auto renamed = renamed_.find(text);
    return renamed == renamed_.end() ? text : renamed->second;
  }
  std::string_view NameOf(uint32_t path_name) const {
    const size_t texts = kind_of_text.size();
    return path_name < texts ? trace->Text(path_name)
                             : new_names_[path_name - static_cast<uint32_t>(texts)];
  }
  // The nearest operator from `op` outwards for which `is(event)` holds, kDeepestPath levels at
  // most; kNoOperator if there is none.
  template <typename Is>
  int32_t FindOutwards(int32_t op, Is is) const {
    for (size_t level = 0; op != kNoOperator && level < kDeepestPath; ++level) {
      if (is(trace->events[static_cast<size_t>(op)])) return op;
      op = parent[static_cast<size_t>(op)];
    }
    return kNoOperator;
  }
  // Classifies the operator that `text` names.
  void Classify(uint32_t text);

 private:
  std::unordered_map<uint32_t, uint32_t> renamed_;  // text -> path name
  TextTable new_names_;                             // path names that are no texts of the trace
};

// True if `outer` holds `inner` on its thread. Clocks of caller and callee differ by rounding: a
// child may end a microsecond after its parent.
bool Encloses(const TraceEvent& outer, const TraceEvent& inner);
// The same in whole microseconds: both were cut down, so that an inner one may seem to start as the
// outer one ends.
bool EnclosesCut(const TraceEvent& outer, const TraceEvent& inner);

HostTree BuildHostTree(const TraceData& trace);

// Copying operators that return at once where nothing is to be done: aten::to, aten::contiguous.
// They copied only if a copy stands below them.
bool MayCopyNothing(std::string_view name);

// The operator that a call belongs to: by time, or by External id where the trace's ids can be
// trusted (in files of older writers they repeat the correlation) and time says nothing.
class OperatorOf {
 public:
  OperatorOf(const TraceData& trace, const HostTree& host);
  int32_t operator()(uint32_t call) const;

 private:
  const TraceData& trace_;
  const HostTree& host_;
  std::vector<std::pair<int64_t, uint32_t>> by_external_id_;  // sorted; ambiguous ids left out
};

// host_ops, root_ops, view_ops, copy_ops, compiled_regions and the operator rows.
void ExtractHost(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence);
// cpu_kernels, cpu_kernel_time and the rows of CPU kernels.
void ExtractCpuKernels(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence);
// allocations, allocated_bytes, peak_bytes.
void ExtractMemory(const TraceData& trace, ProcessEvidence& evidence);

}  // namespace perfgate
