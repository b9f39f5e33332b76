// What a case computed and how far it is from its reference, as reports show it.
#pragma once

#include <string>

#include "evidence/evidence.h"

namespace perfgate {

// Sections with a blank line before each; "" where no output is known.
std::string NumericsAsText(const Evidence& evidence);
std::string NumericsAsMarkdown(const Evidence& evidence);
std::string NumericsAsHtml(const Evidence& evidence);  // markup of html.h

}  // namespace perfgate
