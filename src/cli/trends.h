// Trends of what the database holds.
#pragma once

#include <span>
#include <vector>

#include "store/store.h"
#include "trend/trend.h"

namespace perfgate::cli {

// One trend for each case, key and metric: by case, then key in the order of its first run, then
// metric in the order of reports.
std::vector<Trend> TrendsOf(std::span<const HistoryPoint> points);

// What the cases of a run were in the newest 100 runs, on the same machine and stack.
std::vector<Trend> TrendsUpTo(const std::string& run_id, const Store& store);

}  // namespace perfgate::cli
