// Where a command keeps what it measures for itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"

namespace perfgate::cli {

// `given`, which stays; or a new folder for temporary files that is gone with this. Throws
// Error(kEnvironment) if none can be made.
class WorkFolder {
 public:
  WorkFolder(const std::string& given, std::string_view command) : given_(given) {
    if (given.empty()) temporary_.emplace(command);
  }

  const std::filesystem::path& path() const { return temporary_ ? temporary_->path() : given_; }

 private:
  std::filesystem::path given_;
  std::optional<TemporaryFolder> temporary_;
};

}  // namespace perfgate::cli
