// A folder for temporary files.
#pragma once

#include <filesystem>
#include <string_view>

namespace perfgate {

// New and empty, under $TMPDIR or /tmp; gone with this object, with all that is in it. Its name
// begins with "perfgate-" and `name`. Throws Error(kEnvironment) if none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace perfgate
