#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace perfgate {
namespace {

constexpr int kBusyMilliseconds = 30'000;

// What to do about a code of SQLite (its primary part).
std::string_view Advice(int code) {
  switch (code) {
    case SQLITE_NOTADB:
      return "it is no SQLite database and is left as it is; move it away or name another file "
             "with --db";
    case SQLITE_CORRUPT:
      return "the database is damaged and is left as it is; move it away, then bring back the runs "
             "whose out folders you have with perfgate ingest";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process has held it for 30 s; run again when that has ended";
    case SQLITE_FULL:
      return "the disk is full; nothing was changed: free space, then try again (what a run "
             "measured: "
             "perfgate ingest its out folder)";
    case SQLITE_IOERR:
      return "the disk refused; nothing was changed: check its space and health, then try again "
             "(what "
             "a run measured: perfgate ingest its out folder)";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "it cannot be written; change its permissions or name another file with --db";
    case SQLITE_CANTOPEN:
      return "it cannot be opened or made; check that its folder exists and can be written, or "
             "name "
             "another file with --db";
    default:
      return "nothing was changed";
  }
}

}  // namespace

Database::Database(const std::filesystem::path& file) : file_(file) {
  const int code = ::sqlite3_open_v2(
      file.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE,
      nullptr);
  if (code != SQLITE_OK) {
    struct Closer {  // the destructor does not run for what was never whole
      sqlite3* handle;
      ~Closer() { ::sqlite3_close(handle); }
    } closer{handle_};
    Fail(code);
  }
  ::sqlite3_busy_timeout(handle_, kBusyMilliseconds);
}

Database::~Database() { ::sqlite3_close(handle_); }

void Database::Fail(int code) const {
  int primary = code & 0xff;
  std::string detail = ::sqlite3_errstr(code);
  if (handle_ != nullptr && ::sqlite3_extended_errcode(handle_) == code) {
    detail = ::sqlite3_errmsg(handle_);
    const int system = ::sqlite3_system_errno(handle_);
    if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
      detail += fmt::format(" ({})", std::strerror(system));
      if (system == ENOSPC || system == EDQUOT) primary = SQLITE_FULL;
    }
  }
  throw Error(Fault::kStore, fmt::format("{}: {}: {}", file_.string(), detail, Advice(primary)));
}

void Database::Execute(std::string_view sql) {
  const int code = ::sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(code);
}

void Database::ExecuteWhenFree(std::string_view sql) {
  constexpr int kPauseMilliseconds = 5;
  int code = SQLITE_BUSY;
  for (int waited = 0; waited <= kBusyMilliseconds; waited += kPauseMilliseconds) {
    code = ::sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr);
    if ((code & 0xff) != SQLITE_BUSY) break;
    ::sqlite3_sleep(kPauseMilliseconds);
  }
  if (code != SQLITE_OK) Fail(code);
}

int64_t Database::Number(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.Step() ? statement.Int(0) : 0;
}

int64_t Database::LastRowId() const { return ::sqlite3_last_insert_rowid(handle_); }

int64_t Database::ChangedRows() const { return ::sqlite3_changes(handle_); }

bool Database::InTransaction() const { return ::sqlite3_get_autocommit(handle_) == 0; }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  Check(::sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                             &statement_, nullptr));
}

Statement::~Statement() { ::sqlite3_finalize(statement_); }

void Statement::Check(int code) const {
  if (code != SQLITE_OK) database_.Fail(code);
}

int Statement::IndexOf(const char* name) const {
  const int index = ::sqlite3_bind_parameter_index(statement_, name);
  if (index == 0) throw Error(Fault::kBug, fmt::format("no parameter {} in the statement", name));
  return index;
}

Statement& Statement::Bind(const char* name, std::string_view value) {
  Check(::sqlite3_bind_text64(statement_, IndexOf(name), value.data(), value.size(),
                              SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::Bind(const char* name, int64_t value) {
  Check(::sqlite3_bind_int64(statement_, IndexOf(name), value));
  return *this;
}

bool Statement::Step() {
  const int code = ::sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.Fail(code);
  return false;
}

void Statement::Run() {
  while (Step()) {
  }
  Reset();
}

void Statement::Reset() {
  Check(::sqlite3_reset(statement_));
  ::sqlite3_clear_bindings(statement_);
}

int64_t Statement::Int(int column) const { return ::sqlite3_column_int64(statement_, column); }

std::optional<double> Statement::Real(int column) const {
  if (::sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return ::sqlite3_column_double(statement_, column);
}

std::string Statement::Text(int column) const {
  const unsigned char* text = ::sqlite3_column_text(statement_, column);
  const int size = ::sqlite3_column_bytes(statement_, column);
  return text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), size);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.Execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // SQLite may have rolled back on its own (a full disk); a failure here leaves the same state.
  if (database_.InTransaction()) {
    ::sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::Commit() { database_.Execute("COMMIT"); }

ReadTransaction::ReadTransaction(Database& database) : database_(database) {
  database_.Execute("BEGIN");
}

ReadTransaction::~ReadTransaction() {
  ::sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace perfgate
