// Where a command keeps what it measures for itself.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate::cli {

// `given`, which stays; or a new folder for temporary files that is gone with this. Throws
// Error(kEnvironment) if none can be made.
class WorkFolder {
 public:
  WorkFolder(const std::string& given, const std::string& command);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool temporary_;
};

}  // namespace perfgate::cli
