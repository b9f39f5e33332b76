#include "cli/cli.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "cli/commands.h"
#include "declare/declare.h"

namespace perfgate::cli {
namespace {

int ExitCode(Fault fault) {
  switch (fault) {
    case Fault::kUsage:
    case Fault::kConfig:
      return 2;
    case Fault::kInput:
    case Fault::kEnvironment:
    case Fault::kStore:
    case Fault::kBug:
      return 3;
  }
  return 3;
}

// What the command prints as a verdict; commands without one have no reports.
OutputArgs OutputOf(const Command& command) {
  if (const auto* run = std::get_if<RunArgs>(&command)) return run->output;
  if (const auto* judge = std::get_if<JudgeArgs>(&command)) return judge->output;
  if (const auto* diff = std::get_if<DiffArgs>(&command)) return diff->output;
  return {};
}

// Also what the suite names: mistakes in it are said when it is read, after the reports are open.
void AddSuite(const SuiteArgs& args, std::vector<std::filesystem::path>* inputs) {
  std::filesystem::path suite = args.suite;
  std::error_code error;  // what cannot be looked at is said when it is read
  if (std::filesystem::is_directory(suite, error)) suite /= "perfgate.yaml";
  inputs->push_back(suite);
  inputs->push_back(args.database.empty() ? suite.parent_path() / "perfgate.db"
                                          : std::filesystem::path(args.database));
  const NamedFiles named = FilesNamedBy(suite);
  inputs->insert(inputs->end(), named.rules.begin(), named.rules.end());
  inputs->insert(inputs->end(), named.traces.begin(), named.traces.end());
  inputs->push_back(args.baselines.empty() ? named.baselines
                                           : std::filesystem::path(args.baselines));
}

// Files and folders that no report may replace or stand in.
std::vector<std::filesystem::path> InputsOf(const Command& command) {
  std::vector<std::filesystem::path> inputs;
  if (const auto* run = std::get_if<RunArgs>(&command)) AddSuite(run->suite, &inputs);
  if (const auto* judge = std::get_if<JudgeArgs>(&command)) AddSuite(judge->suite, &inputs);
  if (const auto* diff = std::get_if<DiffArgs>(&command)) {
    inputs = {diff->base, diff->head, diff->database.empty() ? "perfgate.db" : diff->database};
    inputs.insert(inputs.end(), diff->rules.begin(), diff->rules.end());
  }
  return inputs;
}

struct Dispatch {
  Reports& reports;
  World& world;
  int operator()(const RunArgs& args) const { return Run(args, reports, world); }
  int operator()(const JudgeArgs& args) const { return JudgeStored(args, reports, world); }
  int operator()(const ReviewArgs& args) const { return ReviewFiles(args, world); }
  int operator()(const InspectArgs& args) const { return Inspect(args, world); }
  int operator()(const DiffArgs& args) const { return DiffTwo(args, reports, world); }
  int operator()(const AcceptArgs& args) const { return Accept(args, world); }
  int operator()(const ShowArgs& args) const { return ShowBaselines(args, world); }
  int operator()(const BaselineDiffArgs& args) const { return DiffBaselines(args, world); }
  int operator()(const VerifyArgs& args) const { return Verify(args, world); }
  int operator()(const IngestArgs& args) const { return Ingest(args, world); }
  int operator()(const HistoryArgs& args) const { return History(args, world); }
  int operator()(const GcArgs& args) const { return Gc(args, world); }
  int operator()(const CommentArgs& args) const { return Comment(args, world); }
  int operator()(const RulesListArgs& args) const { return ListRules(args, world); }
  int operator()(const RulesCheckArgs& args) const { return CheckRules(args, world); }
  int operator()(const SchemaArgs& args) const { return PrintSchema(args, world); }
  int operator()(const DoctorArgs& args) const { return Doctor(args, world); }
  int operator()(const CalibrateArgs& args) const { return CalibrateMachine(args, world); }
  int operator()(const SelftestArgs& args) const { return SelfTest(args, world); }
  int operator()(const InitArgs& args) const { return Init(args, world); }
};

int Execute(const std::vector<std::string>& args, World& world, std::unique_ptr<Reports>* reports) {
  const std::variant<Command, Information> parsed = ParseArguments(args);
  if (const auto* information = std::get_if<Information>(&parsed)) {
    world.Out() << information->text << std::flush;
    return 0;
  }
  const auto& command = std::get<Command>(parsed);
  *reports = std::make_unique<Reports>(OutputOf(command), InputsOf(command), world);
  const int exit_code = std::visit(Dispatch{**reports, world}, command);
  world.Out().flush();
  if (!world.Out()) {
    throw Error(Fault::kEnvironment, "standard output could not be written in full");
  }
  return exit_code;
}

int Fail(const Error& error, World& world, Reports* reports) {
  const int exit_code = ExitCode(error.fault());
  world.Err() << "perfgate: " << error.what() << std::endl;
  if (reports == nullptr) return exit_code;
  try {
    reports->WriteFailure(error, exit_code);
  } catch (const Error& second) {
    world.Err() << "perfgate: " << second.what() << std::endl;
  }
  return exit_code;
}

}  // namespace

int Main(const std::vector<std::string>& args, World& world) {
  std::unique_ptr<Reports> reports;
  try {
    return Execute(args, world, &reports);
  } catch (const Error& error) {
    return Fail(error, world, reports.get());
  } catch (const std::exception& error) {
    const Error wrapped(Fault::kBug, fmt::format("unexpected: {}", error.what()));
    return Fail(wrapped, world, reports.get());
  }
}

}  // namespace perfgate::cli
