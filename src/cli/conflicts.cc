#include "cli/conflicts.h"

#include <fmt/format.h>

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

std::string SideText(std::string_view name, const MergeSide& side,
                     std::optional<Baseline>* baseline) {
  std::string head = fmt::format("  {:<6}  ", name);
  if (!side.label.empty()) head += Shorten(Printable(side.label), kLongestSide) + ": ";
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

}  // namespace

ConflictSides::ConflictSides(const MergeConflict& conflict, World& world) : conflict_(conflict) {
  Git git(conflict.file.parent_path(), world);
  const auto ours = OfStage(2, conflict.file, git), theirs = OfStage(3, conflict.file, git);
  if (!ours || !theirs) return;
  whole_ = true;
  conflict_.ours.text = *ours;
  conflict_.theirs.text = *theirs;
}

std::string ConflictSides::Explanation(const std::string& run) const {
  std::string text = conflict_.file.string() + ": holds both sides of a merge\n";
  std::optional<Baseline> ours, theirs;
  text += SideText("ours", conflict_.ours, &ours) + "\n";
  text += SideText("theirs", conflict_.theirs, &theirs) + "\n";
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
  const MergeSide& taken = side == "ours" ? conflict_.ours : conflict_.theirs;
  WriteFileAtomically(conflict_.file, taken.text);
  return fmt::format("took {} ({}) of {}", side, Shorten(Printable(taken.label), kLongestSide),
                     conflict_.file.string());
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
