// The schema of the database and its numbered steps.
#pragma once

#include "store/sqlite.h"

namespace perfgate {

// Brings the database to the schema of this perfgate in one transaction; makes it if the file is
// empty. Throws Error(kStore), with the file unchanged: the database of a newer perfgate, or of
// another program.
void Migrate(Database& database);

// Readers and one writer at once, and a writer killed at any instant leaves whole transactions.
void UseWriteAheadLog(Database& database);

}  // namespace perfgate
