// Ranges on the threads of the host: modules of the Python stack, annotations of the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace perfgate {

// The ranges of one kind, nested by time on their thread.
class Frames {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Marks of steps (`ProfilerStep#N`) are no annotations of the user.
  Frames(const TraceData& trace, EventKind kind);

  bool empty() const { return frames_.empty(); }
  // The innermost range around an event of the host; kNone outside of all.
  uint32_t Around(const TraceEvent& event) const;
  // "LlamaDecoderLayer_0 > LlamaMLP_0 > Linear_4", outermost first; "" of kNone. See PathText().
  std::string Path(uint32_t frame) const;
  // Ranges of one path have one number.
  uint32_t PathNumber(uint32_t frame) const { return paths_[frame]; }

 private:
  struct Frame {
    uint32_t event, parent;
  };
  void Nest();
  void NumberPaths();
  std::string_view ElementOf(uint32_t frame) const;

  const TraceData& trace_;
  std::vector<Frame> frames_;  // by thread, then time, outer before inner
  std::vector<uint32_t> paths_;
  std::unordered_map<uint32_t, std::string> cut_;  // names that are too long for a path
};

}  // namespace perfgate
