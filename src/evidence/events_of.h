// Lists of a trace's events, as long as a trace is large.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace perfgate {

// The events for which `is(index)` holds, in the order of the file. Counted before they are listed:
// a list that grows holds up to three times its size.
template <typename Is>
std::vector<uint32_t> EventsOf(const EventList& events, Is is) {
  size_t count = 0;
  for (uint32_t i = 0; i < events.size(); ++i) count += is(i);
  std::vector<uint32_t> list;
  list.reserve(count);
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (is(i)) list.push_back(i);
  }
  return list;
}

}  // namespace perfgate
