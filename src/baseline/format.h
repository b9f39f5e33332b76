// The text of a baseline file, schema "perfgate.baseline/1" (docs/formats.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "baseline/baseline.h"

namespace perfgate {

inline constexpr std::string_view kBaselineSchema = "perfgate.baseline/1";

// What is the same in every step stands once. The same evidence gives the same bytes, but for the
// lines of commit, date, reason and run.
std::string BaselineText(const Baseline& baseline);

// Reads what BaselineText wrote; `name` is said in errors. Throws Error(kInput).
Baseline ParseBaseline(std::string_view text, const std::string& name);

// The evidence of the result is complete and has one process with the recorded number of steps; its
// kernel rows add up to its kernel counts. `file` must be a regular file inside of `folder`, links
// followed. Throws Error(kConfig) that names the file and what is wrong.
Baseline ReadBaseline(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace perfgate
