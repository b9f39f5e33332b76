// The out folder of a run: run.json, attempts/, prepare/.
#pragma once

#include <filesystem>

namespace perfgate {

// Makes the folder ready. One that is absent or empty is used; one that holds a run.json of
// perfgate loses what the earlier run left (attempts/ and prepare/; run.json stays until the new
// one takes its place). Throws Error(kUsage) for any other folder, Error(kEnvironment) if the disk
// says no.
void MakeOutFolder(const std::filesystem::path& folder);

// Throws Error(kEnvironment).
void MakeFolder(const std::filesystem::path& folder);

}  // namespace perfgate
