// Flags that several commands share. CLI11 stays behind the .cc files that include it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace CLI {
class App;
}

namespace perfgate::cli {

// Makes the command of what CLI11 has put into the variables of its flags.
using Take = std::function<Command()>;

struct Subcommand {
  CLI::App* app = nullptr;
  Take take;
};

// Each adds its commands to `app`, in the order in which --help lists them.
std::vector<Subcommand> AddMeasuring(CLI::App& app);  // run, judge, review, inspect, diff
std::vector<Subcommand> AddKeeping(CLI::App& app);    // baseline, ingest, history, gc
std::vector<Subcommand> AddAssisting(CLI::App& app);  // comment, rules, schema, doctor, init
std::vector<Subcommand> AddChecking(CLI::App& app);   // calibrate, selftest

struct OutputFlags {
  std::string format = "text";
  std::vector<std::string> reports;
  bool verbose = false;
  OutputArgs Take() const;
};

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& what,
                     const std::string& examples);

// One value each time the flag is given, so that a positional after it is not eaten.
void AddRepeatable(CLI::App* command, const std::string& flag, std::vector<std::string>& into,
                   const std::string& help, const std::string& value);
void AddText(CLI::App* command, const std::string& flag, std::string& into, const std::string& help,
             const std::string& value);

void AddCasesFlag(CLI::App* command, std::vector<std::string>& cases);
void AddDatabaseFlag(CLI::App* command, std::string& database);
void AddDatabaseHereFlag(CLI::App* command, std::string& database);  // of a command without a suite
void AddBaselinesFlag(CLI::App* command, std::string& baselines);
void AddSuiteFlag(CLI::App* command, std::string& suite);
void AddListFormatFlag(CLI::App* command, std::string& format);
void AddEvidenceFormatFlag(CLI::App* command, std::string& format);
void AddOutputFlags(CLI::App* command, OutputFlags& output);

}  // namespace perfgate::cli
