// Joins what several processes of a case prove.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "evidence/evidence.h"
#include "evidence/process.h"
#include "trace/trace.h"

namespace perfgate {

// Appends one traced process: its steps stand behind those of the processes before it. `label`
// names it in notes where a case has several; empty for a single one.
void AppendProcess(ProcessEvidence process, const Attempt& attempt, const std::optional<Rank>& rank,
                   const std::string& label, Evidence& evidence);

// What the samples of one attempt say; of times see TakeTimes.
void AppendSamples(const AttemptData& data, Evidence& evidence);

// The counts of a case with `profiler: instructions`, what was counted and by which tool (key).
void AppendInstructions(const Case& declared, std::span<const AttemptData> attempts,
                        Evidence& evidence);

// Key fields that a trace shows.
void AddTraceKey(const TraceData& trace, const ProcessEvidence& process, Evidence& evidence);
// Key fields of the case, its samples and the machine. After the traces: what ran wins.
void AddCaseKey(const Case& declared, std::span<const AttemptData> attempts,
                const std::map<std::string, std::string>& machine, Evidence& evidence);

// Gives every metric of the table that has no value its reason, and takes values away that only
// some of the processes have.
void CompleteMetrics(const Case& declared, Evidence& evidence);

void AddUnique(std::vector<std::string>& lines, std::string line);

}  // namespace perfgate
