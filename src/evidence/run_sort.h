// Sorting of what is nearly sorted.
#pragma once

#include <algorithm>
#include <vector>

namespace perfgate {

// A stable sort that is quick where `items` are a few ascending runs, one after the other, as a
// profiler writes them: linear if they are one. Many runs are sorted like anything else: a list of
// them would be as large as `items`.
template <typename T, typename Less>
void SortRuns(std::vector<T>& items, Less less) {
  using Place = typename std::vector<T>::iterator;
  constexpr size_t kShortRun = 16;
  std::vector<Place> ends;  // of the runs
  for (Place at = items.begin(); at != items.end(); ends.push_back(at)) {
    if (ends.size() > 1 + items.size() / kShortRun) {
      std::stable_sort(items.begin(), items.end(), less);
      return;
    }
    at = std::is_sorted_until(at, items.end(), less);
  }
  while (ends.size() > 1) {
    size_t kept = 0;
    Place start = items.begin();
    for (size_t i = 0; i < ends.size(); i += 2) {
      const Place end = ends[std::min(i + 1, ends.size() - 1)];
      if (end != ends[i] && less(*ends[i], *(ends[i] - 1))) {
        // Only where the two overlap.
        std::inplace_merge(std::upper_bound(start, ends[i], *ends[i], less), ends[i],
                           std::lower_bound(ends[i], end, *(ends[i] - 1), less), less);
      }
      ends[kept++] = start = end;
    }
    ends.resize(kept);
  }
}

}  // namespace perfgate
