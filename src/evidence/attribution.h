// Which module, annotation and forward operator a call or an operator of the host belongs to.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/frames.h"
#include "evidence/host.h"
#include "evidence/rows.h"

namespace perfgate {

class Attribution {
 public:
  Attribution(const TraceData& trace, const HostTree& host);

  // Adds to a row of `table` where a call (or an operator of the CPU) was made: module, annotation,
  // and the forward operator if a backward one made it. `op`: the innermost operator around the
  // event, or itself; kNoOperator if there is none.
  void Describe(const TraceEvent& event, int32_t op, int64_t time_ns, RowTable::Handle row,
                RowTable& table) const;

 private:
  // Sequence number and start of an operator.
  std::pair<int64_t, int64_t> NodeOf(uint32_t op) const {
    return {trace_.events[op].SequenceNumber(), trace_.events[op].start_ns};
  }
  void FindForwardOperators(const TraceData& trace);
  // The forward operator of a backward one around `op`, by autograd's sequence number.
  int32_t ForwardOf(int32_t op) const;
  // The nearest operator from `op` outwards whose `Module Hierarchy` the trace says; "" if none.
  uint32_t Hierarchy(int32_t op) const;

  const TraceData& trace_;
  const HostTree& host_;
  Frames modules_, annotations_;
  bool hierarchies_ = false;
  std::vector<uint32_t> forward_;   // operators; sorted by sequence number, then by start
  std::vector<int64_t> ambiguous_;  // numbers that several threads used; sorted
};

// Types of an operator's inputs: "[c10::BFloat16, Scalar]"; "": the trace does not say.
std::string_view InputTypes(const TraceData& trace, int32_t op);

}  // namespace perfgate
