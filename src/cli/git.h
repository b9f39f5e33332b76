// git as a child process: what is asked of it stays in the checkout as it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "run/run.h"

namespace perfgate::cli {

struct GitAnswer {
  bool ok = false;
  std::string out;    // without the last line end; the last 64 KiB
  std::string fault;  // one line for a person; "" if ok
};

class Git {
 public:
  // Throws Error(kEnvironment) if the folder for temporary files cannot be written.
  Git(std::filesystem::path folder, World& world);

  // `git ARGUMENTS` in the folder, with an index of its own if `own_index`.
  GitAnswer Ask(const std::vector<std::string>& arguments, bool own_index = false);

  // True if the history of this clone was cut.
  bool IsShallow();

  // Writes what `path` (from the top of the repository; "." is all) is in `commit` below `into`,
  // links as plain files. It must be there.
  GitAnswer Export(const std::string& commit, const std::string& path,
                   const std::filesystem::path& into);

  // An empty folder that goes with this object.
  const std::filesystem::path& scratch() const { return scratch_.path(); }

 private:
  std::filesystem::path folder_;
  TemporaryFolder scratch_{"git"}, streams_{"said"};
  World& world_;
};

}  // namespace perfgate::cli
