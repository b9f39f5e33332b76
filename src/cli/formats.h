// The names of forms of output, as --format and --report take them.
#pragma once

#include <string>

#include "cli/options.h"

namespace perfgate::cli {

// Each throws Error(kUsage) that lists what there is, with the nearest name.
Format ParseVerdictFormat(const std::string& name, const std::string& flag);
Format ParseListFormat(const std::string& name);      // of --format: text, md, json
Format ParseEvidenceFormat(const std::string& name);  // the same and html
ReportFile ParseReport(const std::string& text);      // FORMAT=FILE

}  // namespace perfgate::cli
