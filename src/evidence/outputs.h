// What the workload computed: the saved outputs of a case's processes, read, and compared with
// those of its reference.
#pragma once

#include <filesystem>
#include <span>

#include "evidence/evidence.h"

namespace perfgate {

// Adds the rows and the metrics of the outputs. All processes are compared with the first one of
// the reference that left outputs, but not that one with itself. What a declared reference cannot
// be compared in makes the evidence of head incomplete: a comparison that was asked for and not
// made never passes.
void AppendOutputs(const Case& declared, std::span<const AttemptData> attempts,
                   std::span<const AttemptData> reference, const std::filesystem::path& out_dir,
                   Evidence& evidence);

Json OutputsToJson(const std::vector<OutputRow>& rows);
std::vector<OutputRow> OutputsFromJson(const Json& json);

}  // namespace perfgate
