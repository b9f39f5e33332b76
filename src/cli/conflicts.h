// Baselines that git could not merge: what the sides are, and taking one of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "cli/select.h"
#include "run/run.h"

namespace perfgate::cli {

// The baselines under `folder` in which git left both sides of a merge, and those that one side has
// deleted and the other changed, which git's index alone tells. Sorted. Throws as FindConflicts,
// and Error(kEnvironment) if the folder for temporary files cannot be written.
std::vector<MergeConflict> ConflictsUnder(const std::filesystem::path& folder, World& world);

class ConflictSides {
 public:
  // Takes the sides as git's index has them, whole; where it has them no more, as far as the file
  // tells. Throws Error(kEnvironment) if the folder for temporary files cannot be written.
  ConflictSides(const MergeConflict& conflict, World& world);

  // True if both sides are the files that they were. What the markers part is none: git has merged
  // other lines of it by itself.
  bool whole() const { return whole_; }

  // The file, both sides with what they say, from which commit and for which reason, and in what
  // they differ. Several lines. `run` as of a Selection.
  std::string Explanation(const std::string& run) const;

  // Writes the side ("ours", "theirs") in place of the file, or removes it if that side has; says
  // what was taken. Only if whole. Throws Error(kEnvironment) if it cannot be written.
  std::string Take(const std::string& side) const;

 private:
  MergeConflict conflict_;
  bool whole_ = false;
};

// What is left to do once a side is taken.
std::string NextAfterTaking(const Selection& selection);

// What to type once the sides are known.
std::string NextAfterConflict(const Selection& selection);

}  // namespace perfgate::cli
