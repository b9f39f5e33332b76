#include "store/migrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/error.h"
#include "embedded_store.h"

namespace perfgate {
namespace {

// "PGAT" in the file's header says whose database it is (PRAGMA application_id).
constexpr int64_t kApplicationId = 0x50474154;

// A migration's files are src/store/sql/NNN_*.sql, run in the order of their names.
int NumberOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

int NewestSchema() {
  int newest = 0;
  for (const EmbeddedFile& file : kEmbeddedFiles) newest = std::max(newest, NumberOf(file.path));
  return newest;
}

// The file's schema number, after a check that the file is ours or empty. Inside a transaction:
// what another process makes of an empty file meanwhile must not be seen by halves.
int64_t SchemaOf(Database& database) {
  const int64_t schema = database.Number("PRAGMA user_version");
  const bool ours = database.Number("PRAGMA application_id") == kApplicationId;
  const bool empty = database.Number("SELECT count(*) FROM sqlite_master") == 0;
  if (!ours && (!empty || schema != 0)) {
    throw Error(Fault::kStore,
                fmt::format("{}: is the SQLite database of another program and is left as it is; "
                            "name another file with --db",
                            database.file().string()));
  }
  const int newest = NewestSchema();
  if (schema > newest) {
    throw Error(Fault::kStore,
                fmt::format("{}: written by a newer perfgate (schema {}, this one knows {}); "
                            "upgrade perfgate",
                            database.file().string(), schema, newest));
  }
  return schema;
}

}  // namespace

void Migrate(Database& database) {
  {
    const ReadTransaction reading(database);
    if (SchemaOf(database) == NewestSchema()) return;
  }
  Transaction transaction(database);
  const int64_t schema = SchemaOf(database);  // again: another process may have been first
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    if (NumberOf(file.path) > schema) database.Execute(file.text);
  }
  database.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.Execute(fmt::format("PRAGMA user_version = {}", NewestSchema()));
  transaction.Commit();
}

void UseWriteAheadLog(Database& database) { database.ExecuteWhenFree("PRAGMA journal_mode = WAL"); }

}  // namespace perfgate
