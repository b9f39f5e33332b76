// Removing runs.
#include "store/impl.h"
#include "store/store.h"

namespace perfgate {

RunRemoval::RunRemoval(Store& store)
    : store_(store), transaction_(std::make_unique<Transaction>(store.impl_->database)) {}

RunRemoval::~RunRemoval() = default;

bool RunRemoval::Remove(const std::string& id) {
  Database& database = store_.impl_->database;
  Statement(database, "DELETE FROM run WHERE id = :id").Bind(":id", id).Run();  // and its rows
  return database.ChangedRows() > 0;
}

int64_t RunRemoval::BytesInUse() const {
  Database& database = store_.impl_->database;
  return (database.Number("PRAGMA page_count") - database.Number("PRAGMA freelist_count")) *
         database.Number("PRAGMA page_size");
}

void RunRemoval::Commit() {
  store_.impl_->database.Execute(
      "DELETE FROM environment WHERE environment_id NOT IN (SELECT environment_id FROM evidence)");
  transaction_->Commit();
}

void Store::Vacuum() {
  impl_->database.Execute("VACUUM");
  Checkpoint();
}

}  // namespace perfgate
