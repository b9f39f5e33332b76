// Reviewed baselines: baselines/<gpu>/<stack>/<case>.json, small, sorted, one kernel a line, so
// that the `git diff` of a baseline is itself a trace diff.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {

struct Baseline {
  Evidence evidence;
  std::string commit, date, reason;  // of the acceptance; date is ISO, UTC
  std::string run;  // id of the run that was accepted; "": the file does not say it
  std::string perfgate_version;
  std::filesystem::path file;
};

enum class BaselineState { kFound, kMissing, kNotComparable };

struct BaselineLookup {
  BaselineState state = BaselineState::kMissing;
  std::optional<Baseline> baseline;  // also when not comparable: the nearest one, for information
  // "torch: 2.11.0 / 2.12.0", baseline first; a field that only one side knows differs too, and so
  // does the extractor.
  std::vector<std::string> key_differences;
  std::vector<std::string> notes;  // driver, clocks, CPU model differ; an earlier name
};

// Looks for `head`'s case (or one of `was`) under `folder`: the file of the same key, else the
// nearest of another key. A folder that does not exist has no baselines. Throws Error(kConfig) if a
// file whose name begins like the case's cannot be read, or the case's own file holds another case.
BaselineLookup FindBaseline(const std::filesystem::path& folder, const Evidence& head,
                            const std::vector<std::string>& was);

// True if the two were measured on the same machine and libraries: keys equal but for the
// definition of the case.
bool SameSurroundings(const Key& a, const Key& b);

// All baselines under `folder`, sorted by path. Throws like FindBaseline.
std::vector<Baseline> ListBaselines(const std::filesystem::path& folder);

// Where the baseline of this evidence belongs: <gpu>/<stack>/<slug of the case>.json under
// `folder`. The stack ends with a digest of the key only where the plain place is taken by the same
// case of another machine or other libraries. A new definition of the case takes the place of the
// old one.
std::filesystem::path BaselinePath(const std::filesystem::path& folder, const Evidence& evidence);

// Throws Error(kInput) for evidence that is incomplete, that measured nothing or a planted defect,
// and Error(kUsage) without a reason: what WriteBaseline refuses.
void CheckFitForBaseline(const Baseline& baseline);

// Writes it (atomically) and removes the file of an earlier name of the case (`was`) in the same
// place. Returns the path. Throws like CheckFitForBaseline, and Error(kEnvironment) if it cannot be
// written or a link leads out of the folder (kConfig).
std::filesystem::path WriteBaseline(const std::filesystem::path& folder, const Baseline& baseline,
                                    const std::vector<std::string>& was = {});

// True if both files would be the same, reason and date too.
bool SameText(const Baseline& a, const Baseline& b);

// True if both hold the same values, whenever and for whatever reason they were accepted.
bool SameValues(const Baseline& a, const Baseline& b);

// "kernels 4 -> 5, launches 4 -> 5", "no count changed". Times move with every run and are left
// out.
std::string ChangedCounts(const Evidence& before, const Evidence& now);
// "gpu_time 3.00 us -> 93.0 us, latency.p50 12.0 us -> n/a": times and other values that do not
// repeat, where they moved by more than they do from run to run. "": none.
std::string ChangedTimes(const Evidence& before, const Evidence& now);
// "kernels 4", "cpu_kernels 4": what a person knows a case by.
std::string KernelCount(const Evidence& evidence);

// One side of a merge that git could not decide.
struct MergeSide {
  std::string label;  // "HEAD", "topic": what git calls it; "" if it does not
  std::string text;   // the whole file, as far as the conflicted one tells: what git could merge by
                      // itself stands on both sides, so neither is a file that ever was
};
struct MergeConflict {
  std::filesystem::path file;
  std::string deleted_by;  // "ours", "theirs": the side that has the file no more; "": none
  MergeSide ours, theirs;
};
// Parts `text` at git's conflict markers; empty if it has none.
std::optional<MergeConflict> ParseConflict(std::string_view text);
// The conflicted files under `folder`, sorted. Throws Error(kConfig) for a folder, and
// Error(kInput) for a file, that cannot be read.
std::vector<MergeConflict> FindConflicts(const std::filesystem::path& folder);

// Reads the text of a baseline file; `name` is said in errors. Throws Error(kInput).
Baseline ParseBaseline(std::string_view text, const std::string& name);

// Problems of the files under `folder`: unreadable, in the wrong place, of a newer schema, whose
// case is not declared. One line each. Not of conflicted files, which FindConflicts names.
std::vector<std::string> VerifyBaselines(const std::filesystem::path& folder,
                                         const std::vector<std::string>& declared_cases);

}  // namespace perfgate
