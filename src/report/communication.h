// Ranks and collectives, as `perfgate inspect` shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"

namespace perfgate {

// Sections with a blank line before each; "" where a trace has neither.
std::string CommunicationAsText(const Evidence& evidence);
std::string CommunicationAsMarkdown(const Evidence& evidence);
// Markup of html.h. `side` tells the tables of base and head apart; "": there is one side.
std::string CommunicationAsHtml(const Evidence& evidence, std::string_view side);

// "3", or "2..4" where steps differ.
std::string CountText(const std::vector<int64_t>& per_step);

}  // namespace perfgate
