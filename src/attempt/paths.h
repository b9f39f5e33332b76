// Paths that come out of an out folder, which may be the artifact of someone else's pull request.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate {

// True for a relative path that has no "..", names something, and holds no control characters.
bool StaysInside(const std::filesystem::path& relative);

// "" if `path` is a regular file that lies under `folder` once symbolic links are followed; else
// what is wrong with it ("is a link that leads out of the folder", "is not a regular file").
std::string WhyNotInside(const std::filesystem::path& path, const std::filesystem::path& folder);

// Throws Error(kInput) unless `path` is a regular file: a pipe or a device would block its reader.
void RequireRegularFile(const std::filesystem::path& path);

}  // namespace perfgate
