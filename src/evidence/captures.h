// Stretches of time in which a thread records a CUDA graph.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "evidence/host.h"
#include "trace/trace.h"

namespace perfgate {

// Launches between BeginCapture and EndCapture of a thread build a graph and run nothing. A capture
// whose end is not in the trace excuses no launch without GPU work.
class Captures {
 public:
  Captures(const TraceData& trace, const HostTree& host);

  bool Hold(const TraceEvent& call) const;

 private:
  void Pair(uint32_t thread, std::vector<std::pair<int64_t, bool>>& marks);

  // By thread: start and end, in order, not overlapping.
  std::map<uint32_t, std::vector<std::pair<int64_t, int64_t>>> intervals_;
};

}  // namespace perfgate
