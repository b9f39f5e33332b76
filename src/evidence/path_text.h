// The text of paths: operators, modules, annotations. Every row holds its own, so a trace with long
// names and deep nesting must not multiply by the number of its rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace perfgate {

inline constexpr size_t kLongestElement = 256;  // bytes of one element
inline constexpr size_t kLongestPath = 4096;    // bytes of a path
// Of what is nested deeper only the innermost levels say where work belongs.
inline constexpr size_t kDeepestPath = 64;

// A name as it stands in a path. One that is too long is cut in its middle and ends with a digest
// of the whole, so that different names stay different: "aten::aaa...aaa#0123456789abcdef".
std::string PathElement(std::string_view name);

// The elements, outermost first, with kPathSeparator between them. Of a path that is too long the
// outermost and the innermost ones stay, what is between becomes "... 41 levels #0123456789abcdef".
// No element may be longer than kLongestElement.
std::string PathText(std::span<const std::string_view> elements);

}  // namespace perfgate
