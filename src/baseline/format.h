// The text of a baseline file, schema "perfgate.baseline/1" (docs/formats.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/baseline.h"

namespace perfgate {

inline constexpr std::string_view kBaselineSchema = "perfgate.baseline/1";

// What is the same in every step stands once. The same evidence gives the same bytes, but for the
// lines of commit, date, reason and run.
std::string BaselineText(const Baseline& baseline);

// Far above any baseline.
inline constexpr int64_t kMostBaselineBytes = 64 << 20;

// All .json files under `folder`, sorted. Also links and what is no regular file: the reader says
// what is wrong with them. Linked folders, and out folders of runs, are not entered. Throws
// Error(kConfig).
std::vector<std::filesystem::path> JsonFiles(const std::filesystem::path& folder);

// The evidence of the result is complete and has one process with the recorded number of steps; its
// kernel rows add up to its kernel counts. `file` must be a regular file inside of `folder`, links
// followed. Throws Error(kConfig) that names the file and what is wrong.
Baseline ReadBaseline(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace perfgate
