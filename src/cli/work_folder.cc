#include "cli/work_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace perfgate::cli {

WorkFolder::WorkFolder(const std::string& given, const std::string& command)
    : path_(given), temporary_(given.empty()) {
  if (!temporary_) return;
  std::string name =
      (std::filesystem::temp_directory_path() / fmt::format("perfgate-{}-XXXXXX", command))
          .string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(Fault::kEnvironment,
                fmt::format("{}: cannot make a folder: {}", name, std::strerror(errno)));
  }
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (temporary_) std::filesystem::remove_all(path_, error);
}

}  // namespace perfgate::cli
