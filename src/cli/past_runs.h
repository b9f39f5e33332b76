// Stored runs that rules on a series compare a run with.
#pragma once

#include <string>
#include <vector>

#include "cli/select.h"
#include "judge/judge.h"
#include "store/store.h"

namespace perfgate::cli {

// Finished runs in the selection's database that began before `run`, oldest first, with the
// evidence of the cases that `history` rules are for; none where no rule asks for them, or without
// a database.
std::vector<StoredRun> RunsBefore(const RunRecord& run, const Selection& selection);

// The sessions of one case among them.
std::vector<PastSession> SessionsOf(const std::string& case_name,
                                    const std::vector<StoredRun>& runs);

}  // namespace perfgate::cli
