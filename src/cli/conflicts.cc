#include "cli/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/git.h"
#include "cli/judging.h"

namespace perfgate::cli {
namespace {

constexpr int64_t kMostBytes = 64 << 20;
constexpr size_t kLongestReason = 200, kLongestSide = 60;

// Git numbers the entries of an unmerged file: 2 is ours, 3 is theirs.
std::optional<std::string> OfStage(int stage, const std::filesystem::path& file, Git& git) {
  const GitAnswer prefix = git.Ask({"rev-parse", "--show-prefix"});
  const std::filesystem::path into = git.scratch() / std::to_string(stage);
  const GitAnswer answer =
      git.Ask({"checkout-index", fmt::format("--stage={}", stage),
               "--prefix=" + into.string() + "/", "--", file.filename().string()});
  const std::filesystem::path taken = into / prefix.out / file.filename();
  // A link of the index would lead elsewhere.
  if (!prefix.ok || !answer.ok || !WhyNotInside(taken, git.scratch()).empty()) return std::nullopt;
  return ReadFile(taken, kMostBytes);
}

std::string SideText(std::string_view name, const MergeSide& side, bool deleted,
                     std::optional<Baseline>* baseline) {
  std::string head = fmt::format("  {:<6}  ", name);
  if (!side.label.empty()) head += Shorten(Printable(side.label), kLongestSide) + ": ";
  if (deleted) return head + "deleted it";
  try {
    *baseline = ParseBaseline(side.text, std::string(name));
  } catch (const Error& error) {  // what cannot be read is told with the rest
    return head + "cannot be read: " + Printable(error.what());
  }
  const Baseline& read = **baseline;
  return head + fmt::format("{}, {}, of commit {}, {}: {}", Printable(read.evidence.case_name),
                            KernelCount(read.evidence),
                            read.commit.empty() ? "unknown" : Printable(read.commit.substr(0, 12)),
                            Printable(read.date), Shorten(Printable(read.reason), kLongestReason));
}

// Of the entries "MODE HASH STAGE<tab>PATH" of unmerged files: those of baselines that only one
// side has.
std::vector<MergeConflict> OneSided(const std::filesystem::path& folder,
                                    const std::string& entries) {
  std::map<std::string, std::set<char>> stages;
  for (const std::string& entry : Split(entries, '\0')) {
    const size_t tab = entry.find('\t');
    if (tab == std::string::npos || tab == 0 || !entry.ends_with(".json")) continue;
    stages[entry.substr(tab + 1)].insert(entry[tab - 1]);
  }
  std::vector<MergeConflict> conflicts;
  for (const auto& [path, found] : stages) {
    const bool ours = found.contains('2'), theirs = found.contains('3');
    std::error_code error;
    const bool taken = !std::filesystem::exists(folder / path, error);  // the deletion
    if (ours == theirs || taken) continue;
    MergeConflict& conflict = conflicts.emplace_back();
    conflict.file = folder / path;
    conflict.deleted_by = ours ? "theirs" : "ours";
    conflict.ours.label = "HEAD";
  }
  return conflicts;
}

}  // namespace

std::vector<MergeConflict> ConflictsUnder(const std::filesystem::path& folder, World& world) {
  std::vector<MergeConflict> conflicts = FindConflicts(folder);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return conflicts;
  const GitAnswer unmerged = Git(folder, world).Ask({"ls-files", "--unmerged", "-z", "--", "."});
  if (!unmerged.ok) return conflicts;  // no repository: no merge
  for (MergeConflict& conflict : OneSided(folder, unmerged.out)) {
    conflicts.push_back(std::move(conflict));
  }
  std::sort(conflicts.begin(), conflicts.end(),
            [](const MergeConflict& a, const MergeConflict& b) { return a.file < b.file; });
  return conflicts;
}

ConflictSides::ConflictSides(const MergeConflict& conflict, World& world) : conflict_(conflict) {
  Git git(conflict.file.parent_path(), world);
  const auto side = [&](const char* name, int stage, MergeSide& into) {
    if (conflict.deleted_by == name) return true;
    const std::optional<std::string> text = OfStage(stage, conflict.file, git);
    if (text) into.text = *text;
    return text.has_value();
  };
  MergeSide ours = conflict.ours, theirs = conflict.theirs;
  if (!side("ours", 2, ours) || !side("theirs", 3, theirs)) return;
  whole_ = true;
  conflict_.ours = std::move(ours);
  conflict_.theirs = std::move(theirs);
}

std::string ConflictSides::Explanation(const std::string& run) const {
  const std::string& deleted = conflict_.deleted_by;
  std::string text = conflict_.file.string() +
                     (deleted.empty() ? ": holds both sides of a merge\n"
                                      : ": one side of a merge deleted it, the other changed it\n");
  std::optional<Baseline> ours, theirs;
  text += SideText("ours", conflict_.ours, deleted == "ours", &ours) + "\n";
  text += SideText("theirs", conflict_.theirs, deleted == "theirs", &theirs) + "\n";
  if (ours && theirs) {
    text += "  ours -> theirs: " + ChangedCounts(ours->evidence, theirs->evidence) + "\n";
  }
  if (!whole_) {
    text += fmt::format(
        "  the index of git has the sides no more, and here they are mixed: take a whole one with "
        "git checkout COMMIT -- {}, then {}\n",
        ShellQuoted(conflict_.file.string()), run);
  }
  text.pop_back();
  return text;
}

std::string ConflictSides::Take(const std::string& side) const {
  if (side == conflict_.deleted_by) {
    std::error_code error;
    std::filesystem::remove(conflict_.file, error);
    if (error) throw Error(Fault::kEnvironment, conflict_.file.string() + ": " + error.message());
    return fmt::format("took {} of {}: deleted", side, conflict_.file.string());
  }
  const MergeSide& taken = side == "ours" ? conflict_.ours : conflict_.theirs;
  WriteFileAtomically(conflict_.file, taken.text);
  const std::string label =
      taken.label.empty() ? "" : " (" + Shorten(Printable(taken.label), kLongestSide) + ")";
  return fmt::format("took {}{} of {}", side, label, conflict_.file.string());
}

std::string NextAfterTaking(const Selection& selection) {
  return fmt::format(
      "it was not measured on the merged code: {}, and, if that differs, perfgate baseline "
      "accept{}; then git add",
      selection.run, selection.flags);
}

std::string NextAfterConflict(const Selection& selection) {
  return fmt::format(
      "neither side was measured on the merged code. Take one: perfgate baseline verify{0} --mend "
      "ours (or theirs); then {1}, and, if it differs, perfgate baseline accept{0} --reason '…'",
      selection.flags, selection.run);
}

}  // namespace perfgate::cli
