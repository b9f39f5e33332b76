// How the iterations of timed windows behaved, found after the fact.
#pragma once

#include "base/json.h"
#include "evidence/evidence.h"

namespace perfgate {

// Appends the series of one attempt. Returns how many iterations of its timed window were warm-up
// yet, by their latencies.
int AppendTimedSeries(const AttemptData& data, Evidence& evidence);

// Sets `not_steady` and `dispatch_not_steady` where most processes did not get steady, and notes
// where some did not. For a case whose suite asks for a steady state.
void CheckSteadiness(Evidence& evidence);

Json TimedSeriesToJson(const std::vector<TimedSeries>& series);
// Throws Error(kInput) for a missing key or a wrong type.
std::vector<TimedSeries> TimedSeriesFromJson(const Json& json);

}  // namespace perfgate
