// Files as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace perfgate {

// The contents. Throws Error(kInput) if it cannot be read or is larger than `at_most_bytes`.
std::string ReadFile(const std::filesystem::path& path, int64_t at_most_bytes = int64_t{1} << 30);

// "" if `path` is a regular file that lies under `folder` once symbolic links are followed; else
// what is wrong with it ("is a link that leads out of the folder", "is not a regular file").
std::string WhyNotInside(const std::filesystem::path& path, const std::filesystem::path& folder);

// Writes a temporary file beside `path`, flushes it to the disk and renames it over `path`: a
// reader sees the old or the new contents, never a half. Throws Error(kEnvironment), for example on
// a full disk; the old file stands then.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace perfgate
