// Both sides of a merge that git could not decide.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "baseline/format.h"

namespace perfgate {
namespace {

constexpr std::string_view kOurs = "<<<<<<<", kBase = "|||||||",
                           kParting = "=======", kTheirs = ">>>>>>>";

bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == marker.size() || line[marker.size()] == ' ');
}

std::string LabelOf(std::string_view line) { return std::string(Trim(line.substr(kOurs.size()))); }

}  // namespace

std::optional<MergeConflict> ParseConflict(std::string_view text) {
  enum class Part { kBoth, kOurs, kBase, kTheirs } part = Part::kBoth;
  MergeConflict conflict;
  bool found = false;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view bare = line.ends_with('\r')
                                      ? std::string_view(line).substr(0, line.size() - 1)
                                      : std::string_view(line);
    if (part == Part::kBoth && IsMarker(bare, kOurs)) {
      part = Part::kOurs;
      conflict.ours.label = LabelOf(bare);
    } else if (part == Part::kOurs && IsMarker(bare, kBase)) {
      part = Part::kBase;
    } else if ((part == Part::kOurs || part == Part::kBase) && bare == kParting) {
      part = Part::kTheirs;
    } else if (part == Part::kTheirs && IsMarker(bare, kTheirs)) {
      part = Part::kBoth;
      conflict.theirs.label = LabelOf(bare);
      found = true;
    } else {
      if (part == Part::kBoth || part == Part::kOurs) conflict.ours.text += line + "\n";
      if (part == Part::kBoth || part == Part::kTheirs) conflict.theirs.text += line + "\n";
    }
  }
  if (!found && part == Part::kBoth) return std::nullopt;
  return conflict;
}

std::vector<MergeConflict> FindConflicts(const std::filesystem::path& folder) {
  std::vector<MergeConflict> conflicts;
  for (const std::filesystem::path& file : JsonFiles(folder)) {
    if (!WhyNotInside(file, folder).empty()) continue;  // ReadBaseline says what is wrong with it
    std::optional<MergeConflict> conflict = ParseConflict(ReadFile(file, kMostBaselineBytes));
    if (!conflict) continue;
    conflict->file = file;
    conflicts.push_back(std::move(*conflict));
  }
  return conflicts;
}

}  // namespace perfgate
