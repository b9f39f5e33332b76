// A metric over the stored runs: where it changed, and between which commits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metric/metric.h"

namespace perfgate {

struct TrendPoint {
  std::string run, started, commit;  // commit: "" if unknown
  std::string short_commit;          // for people: "1a2b3c4", "1a2b3c4+" with uncommitted changes
  std::optional<double> value;       // per step, in the metric's unit
  std::string unavailable;           // why there is no value; "" too where it varies within the run
};

struct TrendChange {
  size_t last_before = 0;  // index of the last point with a value before the change
  size_t first_after = 0;  // and of the first one after it
  // Of an exact metric the two values; of others the medians of the stretches on both sides.
  double before = 0, after = 0;
};

struct Trend {
  std::string case_name, key;
  MetricId metric = MetricId::kKernels;
  std::vector<TrendPoint> points;  // oldest first
  std::vector<TrendChange> changes;
  size_t measured = 0;  // points with a value
  // False: the metric is noisy, and so few values are measured that no change can be told from it.
  bool searched = true;
};

// Finds the changes between points of one case, key and metric. Of an exact metric any other value
// is a change; of others what FindChangePoints finds (stats.h), at 1 % at least.
void FindChanges(Trend& trend);

// "between 1a2b3c4 and 5d6e7f8"; what happened at one commit was not the code: "at 1a2b3c4 itself".
// Printable; runs without a commit are named by their time.
std::string PlaceOf(const TrendChange& change, const Trend& trend);

// "3 -> 4"; of a metric that is not exact "100 us -> 110 us (+10.0 %)".
std::string SizeOf(const TrendChange& change, const Trend& trend);

// The value of a point as people read it; "varies" or "n/a" where there is none.
std::string ValueOf(const TrendPoint& point, MetricId metric);

}  // namespace perfgate
