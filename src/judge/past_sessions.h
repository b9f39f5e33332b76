// Which stored sessions a `history` rule compares a run with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "trend/trend.h"

namespace perfgate {

// Sessions that count, oldest first.
struct SessionSeries {
  Trend trend;                        // all that count, by their values of the metric
  size_t begin = 0, end = 0;          // of the points that the rule compares with
  std::vector<double> values;         // of these
  bool other_gpus = false;            // some of these ran on another GPU of the same model
  bool since_found = true;            // false: no run before this one is of the rule's `since`
  std::vector<std::string> left_out;  // "3 of other branches"
};

// A session counts if it is of the rule's branch without uncommitted changes, complete, steady,
// with a value above 0, without a planted defect, not by --quick, and of the same windows,
// key, CPU, driver and clocks as the run. Those of the same GPU are taken where
// they are enough, else those of all GPUs of the model.
SessionSeries SeriesOf(const HistoryCheck& check, const CasePair& pair, MetricId id);

// The value of the run's first session, and of the second one that confirms it; nothing where that
// was not measured.
std::optional<double> SessionValue(const CasePair& pair, MetricId id, bool second);

}  // namespace perfgate
