// Where evidence comes from: out folders, stored runs, bare traces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "store/store.h"

namespace perfgate::cli {

struct OutFolder {
  StoredRun stored;
  std::vector<AttemptData> collected;  // all attempts, as they go into the database
};

// The one road from an out folder to evidence, for `run` and `ingest` alike. Throws Error(kInput)
// if it holds no readable run.json; whatever else is wrong makes a case's evidence incomplete.
OutFolder ReadOutFolder(const std::filesystem::path& out_dir);

// The stored run; "" is the newest. Throws Error(kInput) if there is no such run or no database.
StoredRun FindStoredRun(const std::filesystem::path& database, const std::string& id);

// An out folder if there is one of this name, else a stored run.
StoredRun OutFolderOrStored(const std::string& from, const std::filesystem::path& database);

// A trace file, or RUN:CASE of the database. Throws Error(kInput) if it is neither.
Evidence TraceOrStored(const std::string& what, const std::filesystem::path& database);

}  // namespace perfgate::cli
