// Rows without a change whose time differs.
#include <algorithm>

#include "diff/launches.h"

namespace perfgate {
namespace {

constexpr size_t kMostSlower = 5;
// Next to a rise ten times as large, a row explains nothing.
constexpr int64_t kLeastShare = 10;

}  // namespace

void AddDrift(const ChangedKernel& base, const ChangedKernel& head, Diff* diff) {
  diff->unchanged_time_ns += head.time_ns - base.time_ns;
  if (head.time_ns != base.time_ns) diff->slower.push_back({base, head});
}

void KeepSlowest(Diff* diff) {
  std::vector<Drift>& slower = diff->slower;
  std::stable_sort(slower.begin(), slower.end(),
                   [](const Drift& a, const Drift& b) { return a.Rise() > b.Rise(); });
  const int64_t least = slower.empty() ? 0 : std::max<int64_t>(1, slower[0].Rise() / kLeastShare);
  const auto end = std::find_if(slower.begin(), slower.end(),
                                [&](const Drift& each) { return each.Rise() < least; });
  slower.erase(end, slower.end());
  if (slower.size() > kMostSlower) slower.resize(kMostSlower);
}

}  // namespace perfgate
