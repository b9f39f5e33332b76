#pragma once

#include <string_view>

namespace perfgate {

// Name and version of the JSON form of evidence.
inline constexpr std::string_view kEvidenceSchema = "perfgate.evidence/1";

}  // namespace perfgate
