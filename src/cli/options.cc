#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/flags.h"

namespace perfgate::cli {
namespace {

constexpr std::string_view kOverview =
    R"(A gate for CI that judges the work a PyTorch or LibTorch workload does on the machine: kernels,
fusions, copies, syncs, dispatch. It measures declared workloads under the profiler, compares the
traces with reviewed baselines and says what changed.)";

constexpr std::string_view kExamples = R"(Examples:
  perfgate run                                    measure, compare and judge what ./perfgate.yaml declares
  perfgate diff old.json.gz new.json.gz           compare two profiler traces, no suite needed
  perfgate inspect trace.json --explain           what one trace proves, and what was left out
  perfgate baseline accept --reason 'first one'   keep the newest run as the baseline

Exit codes: 0 nothing failed, 1 a rule failed, 2 wrong use or configuration, 3 could not measure,
4 no comparable baseline, 130 or 143 interrupted.)";

class Parser {
 public:
  Parser() : app_(std::string(kOverview), "perfgate") {
    app_.footer(std::string(kExamples));
    app_.get_formatter()->column_width(34);
    app_.set_help_flag("-h,--help", "Print this help");
    app_.set_version_flag("--version", "perfgate " PERFGATE_VERSION "\n" PERFGATE_LIBRARIES);
    app_.require_subcommand(0, 1);
    for (const auto& add : {AddMeasuring, AddKeeping, AddAssisting, AddChecking}) {
      for (Subcommand& command : add(app_)) commands_.push_back(std::move(command));
    }
  }

  std::variant<Command, Information> Parse(std::vector<std::string> args) {
    CheckCommand(app_, args, 0);
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    try {
      app_.parse(std::move(args));
    } catch (const CLI::CallForHelp&) {
      return Information{app_.help()};
    } catch (const CLI::CallForVersion&) {
      return Information{app_.version() + "\n"};
    } catch (const CLI::ExtrasError&) {
      throw Error(Fault::kUsage, UnknownArgument());
    } catch (const CLI::ParseError& error) {
      throw Error(Fault::kUsage, fmt::format("{}\n{}", error.what(), SeeHelp()));
    }
    return Take();
  }

 private:
  using Texts = std::vector<std::string>;

  // The deepest command that was named.
  const CLI::App* Chosen() const {
    const CLI::App* chosen = &app_;
    while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
    return chosen;
  }

  std::string SeeHelp() const {
    std::string path;
    for (const CLI::App* app = &app_; app != nullptr;) {
      path += (path.empty() ? "" : " ") + app->get_name();
      app = app->get_subcommands().empty() ? nullptr : app->get_subcommands().front();
    }
    return fmt::format("see: {} --help", path);
  }

  // The word at `at` must name a command of `app` (unless it is a flag).
  static void CheckCommand(const CLI::App& app, const Texts& args, size_t at) {
    Texts names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (names.empty()) return;
    const bool root = app.get_parent() == nullptr;
    if (at >= args.size()) {
      throw Error(Fault::kUsage, fmt::format("a command is needed: {}\nsee: perfgate{} --help",
                                             Join(names, ", "), root ? "" : " " + app.get_name()));
    }
    if (args[at].starts_with("-")) return;
    for (const CLI::App* command : app.get_subcommands({})) {
      if (command->get_name() == args[at]) return CheckCommand(*command, args, at + 1);
    }
    const std::optional<std::string> nearest = Nearest(args[at], names);
    throw Error(Fault::kUsage, fmt::format("unknown command `{}{}`{}\ncommands: {}",
                                           root ? "" : app.get_name() + " ", Printable(args[at]),
                                           nearest ? ": did you mean `" + *nearest + "`?" : "",
                                           Join(names, ", ")));
  }

  std::string UnknownArgument() const {
    const Texts extras = app_.remaining(true);
    const std::string unknown = extras.empty() ? "" : extras.front();
    if (!unknown.starts_with("-")) {
      return fmt::format("unexpected argument `{}`\n{}", Printable(unknown), SeeHelp());
    }
    Texts flags;
    for (const CLI::Option* option : Chosen()->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
    const std::optional<std::string> nearest = Nearest(unknown.substr(0, unknown.find('=')), flags);
    return fmt::format("unknown flag `{}`{}\n{}", Printable(unknown),
                       nearest ? ": did you mean `" + *nearest + "`?" : "", SeeHelp());
  }

  Command Take() const {
    const CLI::App* chosen = Chosen();
    for (const Subcommand& command : commands_) {
      if (command.app == chosen) return command.take();
    }
    throw Error(Fault::kUsage, "no command was given\n" + SeeHelp());
  }

  CLI::App app_;
  std::vector<Subcommand> commands_;
};

}  // namespace

std::variant<Command, Information> ParseArguments(const std::vector<std::string>& args) {
  return Parser().Parse(args);
}

}  // namespace perfgate::cli
