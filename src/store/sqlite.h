// SQLite with owners for its handles and our errors for its codes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace perfgate {

// A connection. Every function throws Error(kStore) that names the file, what SQLite says, and what
// to do.
class Database {
 public:
  // Opens or creates the file; writes nothing yet.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs all statements of the text.
  void Execute(std::string_view sql);
  // The same for a statement at which SQLite does not wait for other processes by itself: the
  // change of the journal's mode (sqlite.org/pragma.html).
  void ExecuteWhenFree(std::string_view sql);
  // The first column of the first row; 0 if there is none.
  int64_t Number(std::string_view sql);
  int64_t LastRowId() const;
  int64_t ChangedRows() const;  // of the last statement
  bool InTransaction() const;

  // Throws for the connection's last error.
  [[noreturn]] void Fail(int code) const;
  const std::filesystem::path& file() const { return file_; }
  sqlite3* handle() const { return handle_; }

 private:
  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

// One prepared statement; may be run again after Reset.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // By name, ":id" with its colon. A name that the statement does not have is a bug.
  Statement& Bind(const char* name, std::string_view value);
  Statement& Bind(const char* name, int64_t value);
  bool Step();  // true: a row stands ready
  void Run();   // to its end, then Reset
  void Reset();

  int64_t Int(int column) const;
  std::optional<double> Real(int column) const;  // nothing for NULL
  std::string Text(int column) const;            // "" for NULL

 private:
  int IndexOf(const char* name) const;
  void Check(int code) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Rolls back unless committed. Takes the write lock at once (BEGIN IMMEDIATE), so that what was
// read inside still holds at the commit.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit();

 private:
  Database& database_;
};

// Makes several reads see one state of the database.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database);
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database& database_;
};

}  // namespace perfgate
