// Paths that come out of an out folder, which may be the artifact of someone else's pull request.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate {

// True for a relative path that has no "..", names something, and holds no control characters.
bool StaysInside(const std::filesystem::path& relative);

// Throws Error(kInput) unless `path` is a regular file: a pipe or a device would block its reader.
void RequireRegularFile(const std::filesystem::path& path);

}  // namespace perfgate
