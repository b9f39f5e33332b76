#include "cli/evidence_source.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

StoredRun FindStoredRun(const fs::path& database, const std::string& id) {
  // A command that only reads does not leave an empty database behind.
  if (!Exists(database)) {
    throw Error(Fault::kInput,
                fmt::format("{}: there is no such database: run `perfgate run` first, or "
                            "name it with --db",
                            database.string()));
  }
  std::optional<StoredRun> stored = Store(database).FindRun(id);
  if (stored) return std::move(*stored);
  if (id.empty() || id == "latest") {
    throw Error(Fault::kInput,
                fmt::format("{}: no run is stored: run `perfgate run` first", database.string()));
  }
  throw Error(Fault::kInput, fmt::format("{}: there is no run `{}`: `perfgate history` lists them",
                                         database.string(), Printable(id)));
}

StoredRun OutFolderOrStored(const std::string& from, const fs::path& database) {
  if (!from.empty() && Exists(from)) return ReadOutFolder(from).stored;
  return FindStoredRun(database, from);
}

Evidence TraceOrStored(const std::string& what, const fs::path& database) {
  if (Exists(what)) return ExtractTrace(what);
  const size_t colon = what.find(':');
  if (colon == std::string::npos) {
    throw Error(Fault::kInput,
                fmt::format("{}: there is no such trace file (a stored case is written "
                            "RUN:CASE, for example latest:{})",
                            Printable(what), Printable(what)));
  }
  const std::string run_id = what.substr(0, colon), case_name = what.substr(colon + 1);
  StoredRun stored = FindStoredRun(database, run_id);
  std::vector<std::string> names;
  for (Evidence& evidence : stored.cases) {
    if (evidence.case_name == case_name) return std::move(evidence);
    names.push_back(evidence.case_name);
  }
  throw Error(Fault::kInput, fmt::format("run {} has no case `{}`; it has: {}", stored.run.id,
                                         Printable(case_name), Printable(Join(names, ", "))));
}

}  // namespace perfgate::cli
