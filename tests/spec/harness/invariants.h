// What must hold after every command of every spec, whatever the spec itself says.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace perfgate::spec {

struct CommandResult {
  int exit = 0;
  std::string out, err;
};

// Runs another command line at the same instant of the scripted clock.
using Rerun = std::function<CommandResult(const std::vector<std::string>&)>;

// The promises that this command broke, one line each:
// - the exit code is one of the documented ones, and one without a verdict has a message on stderr;
// - what is printed is UTF-8 without control characters, so that no name of a kernel can play with
//   a terminal;
// - JSON output is JSON;
// - a pure command prints the same bytes when it is run again;
// - the JSON form of the verdict has the exit code of the process, a finding for every rule and
//   case, and every number of the text.
std::vector<std::string> BrokenInvariants(const std::vector<std::string>& words,
                                          const CommandResult& result, const Rerun& rerun);

}  // namespace perfgate::spec
