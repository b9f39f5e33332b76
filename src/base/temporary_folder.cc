#include "base/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace perfgate {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw Error(Fault::kEnvironment,
                fmt::format("no folder for temporary files: {} (TMPDIR)", error.message()));
  }
  std::string made = (parent / fmt::format("perfgate-{}-XXXXXX", name)).string();
  if (::mkdtemp(made.data()) == nullptr) {
    throw Error(Fault::kEnvironment,
                fmt::format("{}: cannot make a folder: {}", made, std::strerror(errno)));
  }
  path_ = made;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace perfgate
