// The calls of the CUDA runtime and driver by the numbers that CUPTI gives them: their names, and
// which are of use. Decided by name, so that a call of a CUDA to come finds its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/cupti_api.h"

namespace perfgate::cupti {

// A runtime call that only asks, or that does nothing on the GPU, and that programs make often.
bool IsCheapCall(std::string_view name);
// A driver call that evidence needs: it launches, copies, sets, waits, captures or allocates.
bool IsDriverCallOfUse(std::string_view name);
// A call that owes GPU work: a launch of a kernel or of a graph.
bool IsLaunchCall(std::string_view name);
// From the one to the other what a thread launches becomes part of a graph, and owes no work.
bool BeginsCapture(std::string_view name);
bool EndsCapture(std::string_view name);

struct CallInfo {
  std::string name;  // "" for a number that CUPTI does not know
  bool recorded = true;
  bool launches = false;
  bool begins_capture = false, ends_capture = false;
};

struct CallTables {
  explicit CallTables(const CuptiApi& api);
  std::vector<CallInfo> runtime, driver;  // by cbid

  // nullptr for a number beyond the table.
  const CallInfo* Find(bool is_driver, uint32_t cbid) const {
    const std::vector<CallInfo>& calls = is_driver ? driver : runtime;
    return cbid < calls.size() ? &calls[cbid] : nullptr;
  }
};

}  // namespace perfgate::cupti
