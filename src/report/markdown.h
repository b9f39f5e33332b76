// Text from outside made harmless for GitHub-flavoured Markdown.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::markdown {

// As prose: every character with a meaning is escaped; `@name`, `#1` and addresses do not become
// mentions or links.
std::string Prose(std::string_view text);
// As a code span, also inside a table.
std::string Code(std::string_view text);
// As a line inside a fenced block: no backtick stays, so that it cannot end the fence.
std::string Fenced(std::string_view text);

}  // namespace perfgate::markdown
