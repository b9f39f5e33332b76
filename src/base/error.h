// The one exception type of perfgate: "this command cannot go on".
//
// What a gate must expect (a crash of a workload, a time-out, no baseline, noise) is data, never an
// exception. An Error says what happened, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace perfgate {

// Why a command cannot go on; decides the exit code (DESIGN: 2 for what the user must mend in
// flags, files or schemas, 3 for what could not be measured or read).
enum class Fault {
  kUsage,        // wrong flag or argument: exit 2
  kConfig,       // perfgate.yaml, a rule file, a baseline file, a schema version: exit 2
  kInput,        // a trace, an out folder: unreadable or not what it should be: exit 3
  kEnvironment,  // full disk, missing program, no permission: exit 3
  kStore,        // the database: corrupt, busy, from a newer perfgate: exit 3
  kBug,          // a promise inside perfgate does not hold: exit 3
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

// A place in a file that a person wrote. Lines and columns count from 1; 0 means unknown.
struct Where {
  std::string file;
  int line = 0;
  int column = 0;
};

// "file:line:column", "file:line" or "file", as much as is known.
std::string ToString(const Where& where);

}  // namespace perfgate
