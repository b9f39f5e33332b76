#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "publish/sections.h"

namespace perfgate {
namespace {

// Headings and folded parts begin a section, but not inside a fence or another folded part.
std::vector<std::string> SectionsOf(const std::string& markdown) {
  std::vector<std::string> sections(1);
  std::string_view fence;
  int folded = 0;
  for (size_t begin = 0; begin < markdown.size();) {
    const size_t end = std::min(markdown.find('\n', begin), markdown.size() - 1) + 1;
    const std::string_view line = std::string_view(markdown).substr(begin, end - begin);
    const bool opens = line.starts_with("<details");
    if (fence.empty() && folded == 0 && (opens || line.starts_with("#")) &&
        !sections.back().empty()) {
      sections.emplace_back();
    }
    if (!fence.empty()) {
      if (line.starts_with(fence)) fence = {};
    } else if (line.starts_with("```") || line.starts_with("~~~")) {
      fence = line.substr(0, 3);
    } else {
      folded += opens;
      folded -= folded > 0 && line.starts_with("</details");
    }
    sections.back() += line;
    begin = end;
  }
  return sections;
}

}  // namespace

std::string CutAtSections(const std::string& markdown, size_t most_bytes) {
  if (markdown.size() <= most_bytes) return markdown;
  constexpr size_t kNoteBytes = 120;
  const std::vector<std::string> sections = SectionsOf(markdown);
  std::string text;
  size_t kept = 0;
  while (kept < sections.size() && text.size() + sections[kept].size() + kNoteBytes <= most_bytes) {
    text += sections[kept++];
  }
  return text + fmt::format("\n{} left out, because a comment may not be longer.\n",
                            Plural(static_cast<int64_t>(sections.size() - kept), "section"));
}

}  // namespace perfgate
