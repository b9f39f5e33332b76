// Rows without a change whose time differs.
#include <algorithm>

#include "diff/launches.h"

namespace perfgate {
namespace {

constexpr size_t kMostSlower = 5;
// Next to a rise ten times as large, a row explains nothing.
constexpr int64_t kLeastShare = 10;

}  // namespace

void AddDrift(const Portion& base, const Portion& head, Work* work) {
  const Drifting drifting{base, head};
  work->diff->unchanged_time_ns += drifting.Rise();
  if (drifting.Rise() > 0) work->drifting.push_back(drifting);
}

void TellSlowest(Work* work) {
  std::vector<Drifting>& slower = work->drifting;
  std::stable_sort(slower.begin(), slower.end(),
                   [](const Drifting& a, const Drifting& b) { return a.Rise() > b.Rise(); });
  for (const Drifting& each : slower) {
    if (each.Rise() < slower[0].Rise() / kLeastShare) break;
    if (work->diff->slower.size() == kMostSlower) break;
    work->diff->slower.push_back({Named(each.base), Named(each.head)});
  }
}

}  // namespace perfgate
