// From flags to the suite, its selected cases, and the paths beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.h"
#include "declare/declare.h"
#include "run/run.h"

namespace perfgate::cli {

struct Selection {
  Suite suite;
  std::vector<Case> cases;  // those that --case names, in declared order, and their references
  std::filesystem::path database, baselines;
  std::string
      flags;        // " --suite bench/perfgate.yaml": what the next command needs to find the same
  std::string run;  // "perfgate run 'bench/perfgate.yaml'": what measures the same
};

// Throws Error(kConfig) for the suite's mistakes and Error(kUsage) for a glob without a case.
Selection Select(const SuiteArgs& args, World& world);

// Adds the cases that the outputs of `selected` are compared with: they are measured together.
void AddReferences(const std::vector<Case>& declared, std::vector<Case>* selected);

// The database of a command without a suite: `given`, else perfgate.db in the current folder.
std::filesystem::path DatabaseHere(const std::string& given);

// The elements of `names` that match any of `globs`; all of them without a glob. Throws
// Error(kUsage) naming the first glob that matches none.
std::vector<bool> MatchGlobs(const std::vector<std::string>& globs, const std::string& flag,
                             const std::vector<std::string>& names, const std::string& what);

// $PERFGATE_TORCH, else the one beside the perfgate program, else the one on PATH, else the bare
// name (the attempt will say that it is not found).
std::string TorchRunner(World& world);

}  // namespace perfgate::cli
