// Stored runs that rules on a series compare a run with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/select.h"
#include "judge/judge.h"
#include "store/store.h"

namespace perfgate::cli {

// Finished runs in the selection's database that began before `stored`, oldest first, with the
// evidence that `history` rules may compare its cases with; none where no rule asks for it, or
// without a database.
std::vector<StoredRun> RunsBefore(const StoredRun& stored, const Selection& selection);

// What these runs hold of one case, as many as there are runs.
std::vector<PastSession> SessionsOf(const std::string& case_name,
                                    const std::vector<StoredRun>& runs);

// Ids of the runs that `history` rules with `since` need: the one that it names, and the first ones
// from there on that count, for each machine and stack.
std::set<std::string> RunsSince(const Suite& suite, const Store& store);

}  // namespace perfgate::cli
