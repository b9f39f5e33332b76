#include "declare/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace perfgate {

int Problems::AddFile(std::string name) {
  files_.push_back(Printable(name));
  return static_cast<int>(files_.size()) - 1;
}

void Problems::Add(Spot spot, std::string_view path, std::string_view text) {
  if (list_.size() >= kKept) return;
  std::string full = path.empty() ? std::string(text) : fmt::format("{}: {}", path, text);
  if (!seen_.insert(fmt::format("{}:{}:{}:{}", spot.file, spot.line, spot.column, full)).second) {
    return;
  }
  list_.push_back({spot, std::move(full)});
}

Where Problems::At(Spot spot) const {
  return {files_[static_cast<size_t>(spot.file)], spot.line, spot.column};
}

void Problems::ThrowIfAny() const {
  if (list_.empty()) return;
  std::vector<Problem> sorted = list_;
  const auto order = [](const Problem& p) {
    return std::tie(p.spot.file, p.spot.line, p.spot.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  std::vector<std::string> lines;
  for (const Problem& problem : sorted) {
    lines.push_back(fmt::format("{}: {}", ToString(At(problem.spot)), problem.text));
  }
  if (lines.size() > kShown) {
    const size_t more = lines.size() - kShown;
    lines.resize(kShown);
    lines.push_back(fmt::format("and {} more", more));
  }
  throw Error(Fault::kConfig, Join(lines, "\n"));
}

std::string Quoted(std::string_view text, size_t longest) {
  if (text.size() <= longest) return fmt::format("'{}'", Printable(text));
  return fmt::format("'{}...'", Printable(text.substr(0, longest)));
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view names) {
  if (const auto nearest = Nearest(word, known)) {
    return fmt::format("; did you mean {}?", Quoted(*nearest));
  }
  if (known.empty()) return "";
  return fmt::format("; known {}: {}", names, Join(known, ", "));
}

}  // namespace perfgate
