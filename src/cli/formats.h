// The names of forms of output, as --format and --report take them.
#pragma once

#include <string>

#include "cli/options.h"

namespace perfgate::cli {

// Each throws Error(kUsage) that lists what there is, with the nearest name.
Format ParseVerdictFormat(const std::string& name, const std::string& flag);
Format ParseEvidenceFormat(const std::string& name);  // of --format: text, md, json
ReportFile ParseReport(const std::string& text);      // FORMAT=FILE

}  // namespace perfgate::cli
