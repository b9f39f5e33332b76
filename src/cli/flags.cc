#include "cli/flags.h"

#include <CLI/CLI.hpp>

#include "cli/formats.h"

namespace perfgate::cli {

OutputArgs OutputFlags::Take() const {
  OutputArgs output;
  output.format = ParseVerdictFormat(format, "--format");
  for (const std::string& report : reports) output.reports.push_back(ParseReport(report));
  output.verbose = verbose;
  return output;
}

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& what,
                     const std::string& examples) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->footer("Examples:\n" + examples);
  return command;
}

void AddRepeatable(CLI::App* command, const std::string& flag, std::vector<std::string>& into,
                   const std::string& help, const std::string& value) {
  command->add_option(flag, into, help)->allow_extra_args(false)->type_name(value);
}

void AddText(CLI::App* command, const std::string& flag, std::string& into, const std::string& help,
             const std::string& value) {
  command->add_option(flag, into, help)->type_name(value);
}

void AddCasesFlag(CLI::App* command, std::vector<std::string>& cases) {
  AddRepeatable(command, "--case", cases, "Only cases that match; * and ? are special. Repeatable",
                "GLOB");
}

void AddDatabaseFlag(CLI::App* command, std::string& database) {
  AddText(command, "--db", database, "Database of runs [perfgate.db beside the suite]", "FILE");
}

void AddDatabaseHereFlag(CLI::App* command, std::string& database) {
  AddText(command, "--db", database, "Database of runs [perfgate.db in the current folder]",
          "FILE");
}

void AddBaselinesFlag(CLI::App* command, std::string& baselines) {
  AddText(command, "--baselines", baselines, "Folder of baselines [what the suite says]", "DIR");
}

void AddSuiteFlag(CLI::App* command, std::string& suite) {
  AddText(command, "--suite", suite, "Suite file or its folder [perfgate.yaml]", "FILE");
}

void AddListFormatFlag(CLI::App* command, std::string& format) {
  AddText(command, "--format", format, "Form of standard output: text, md or json [text]",
          "FORMAT");
}

void AddEvidenceFormatFlag(CLI::App* command, std::string& format) {
  AddText(command, "--format", format, "Form of standard output: text, md, json or html [text]",
          "FORMAT");
}

void AddOutputFlags(CLI::App* command, OutputFlags& output) {
  AddText(command, "--format", output.format,
          "Form of standard output: text, md, json, html, junit, github or gitlab [text]",
          "FORMAT");
  AddRepeatable(command, "--report", output.reports,
                "Also write the verdict to a file, in any of these forms and also when something "
                "fails. Repeatable",
                "FORMAT=FILE");
  command->add_flag("-v,--verbose", output.verbose, "List what passed too");
}

}  // namespace perfgate::cli
