// From evidence and baselines to a verdict with its headings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/select.h"
#include "judge/judge.h"
#include "run/run.h"
#include "store/store.h"

namespace perfgate::cli {

struct JudgedRun {
  Verdict verdict;
  std::vector<CasePair> pairs;  // what it was judged by
};

// Judges the selected cases of a run by the suite's rules against the baselines. A case that the
// run lacks, or measured by another definition than the suite's, is an error of that case. A run
// that was interrupted or not finished is never judged: the verdict is an error that says so.
JudgedRun JudgeRun(const Selection& selection, const StoredRun& stored, World& world);

// "1a2b3c4", "1a2b3c4+" with uncommitted changes, "" without a commit.
std::string ShortCommit(const std::string& commit, bool dirty);

// "torch 2.11.0, cuda 13.0"
std::string StackOf(const Evidence& evidence);

// The evidence of one case of a run; incomplete, with the reason, where the run does not have it
// or measured something else than is declared now, be it the case or its reference.
Evidence EvidenceFor(const Case& declared, const Selection& selection, const StoredRun& stored);

}  // namespace perfgate::cli
