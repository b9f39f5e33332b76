// `| pick PATH: FIELD...`: a few values of a JSON document, one object a line, so that a spec can
// speak of a long document in short.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace perfgate::spec {

// `cases.findings: rule status` prints `rule` and `status` of every object that the path leads to
// (arrays are gone through), parted by two blanks; `exit_code verdict` without a colon prints these
// members of the document. A field may be a path itself; a missing one is `-`.
std::vector<std::string> Pick(const Json& document, const std::string& what);

}  // namespace perfgate::spec
