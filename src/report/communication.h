// Ranks and collectives, as `perfgate inspect` shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {

// Sections with a blank line before each; "" where a trace has neither.
std::string CommunicationAsText(const Evidence& evidence);
std::string CommunicationAsMarkdown(const Evidence& evidence);

// "3", or "2..4" where steps differ.
std::string CountText(const std::vector<int64_t>& per_step);

}  // namespace perfgate
