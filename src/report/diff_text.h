// Parts of a report for a terminal or a log: the lines of a diff.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace perfgate {

inline constexpr size_t kTextNameWidth = 44;

enum class Ink { kRed, kGreen, kYellow, kBold, kDim };

std::string Paint(std::string_view text, Ink ink, const TextStyle& style);

// "aten::addmm, aten::gelu and 2 more": names in full, as many as fit, the first in any case.
std::string JoinShort(const std::vector<std::string>& names, size_t width);

// The kernels that went and came, a line each, and who called them.
std::string ChangeLines(const Change& change, size_t indent, const TextStyle& style);

// How much the changes explain, the four answers, and what bounds both sides.
std::string AnswerLines(const Diff& diff, size_t width);

}  // namespace perfgate
