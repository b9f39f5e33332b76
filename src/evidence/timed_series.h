// How the iterations of timed windows behaved, found after the fact.
#pragma once

#include "base/json.h"
#include "evidence/evidence.h"

namespace perfgate {

// One series of an attempt: `name` as in TimedSeries.
TimedSeries DescribeSeries(const AttemptData& data, std::string_view name,
                           const std::vector<int64_t>& samples);

// Sets `not_steady` and `dispatch_not_steady` where most processes of the side did not get steady,
// and notes where some did not: the median of a side is one of its steady processes then. For a
// case whose suite asks for a steady state.
void CheckSteadiness(Evidence& evidence);

// Notes where each process is on one of two levels, by chance: other memory, another algorithm.
void NoteLevelsOfProcesses(Evidence& evidence);

Json TimedSeriesToJson(const std::vector<TimedSeries>& series);
// Throws Error(kInput) for a missing key or a wrong type.
std::vector<TimedSeries> TimedSeriesFromJson(const Json& json);

}  // namespace perfgate
