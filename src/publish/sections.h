// Markdown cut where a reader does not stumble.
#pragma once

#include <cstddef>
#include <string>

namespace perfgate {

// `markdown` with at most `most_bytes` bytes, cut before a section (a heading or a folded part) and
// ending with the number of sections that were left out.
std::string CutAtSections(const std::string& markdown, size_t most_bytes);

}  // namespace perfgate
