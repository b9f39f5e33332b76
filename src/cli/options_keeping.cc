// Flags of the commands on what is kept: baselines and stored runs.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/flags.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

Subcommand AddAccept(CLI::App& baseline) {
  const auto args = std::make_shared<AcceptArgs>();
  CLI::App* accept =
      AddCommand(baseline, "accept", "Write the evidence of a run as the new baseline",
                 "  perfgate baseline accept --reason 'first baseline'\n"
                 "  perfgate baseline accept --case 'geglu*' --rule no-extra-kernel \\\n"
                 "      --reason 'the split costs 2 us and saves 40 MiB'");
  AddCasesFlag(accept, args->suite.cases);
  AddText(accept, "--from", args->from, "Out folder or run id [the newest run]", "DIR|RUN");
  AddRepeatable(accept, "--rule", args->rules, "A failing rule that is accepted. Repeatable", "ID");
  accept->add_option("--reason", args->reason, "Why this is right: it stands in the file")
      ->type_name("TEXT")
      ->required();
  AddSuiteFlag(accept, args->suite.suite);
  AddBaselinesFlag(accept, args->suite.baselines);
  AddDatabaseFlag(accept, args->suite.database);
  return {accept, [args] { return Command{*args}; }};
}

Subcommand AddShow(CLI::App& baseline) {
  struct Flags {
    ShowArgs args;
    std::string format = "text";
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* show = AddCommand(baseline, "show", "List the baselines",
                              "  perfgate baseline show\n  perfgate baseline show --case 'geglu*'");
  AddListFormatFlag(show, flags->format);
  AddCasesFlag(show, flags->args.suite.cases);
  AddSuiteFlag(show, flags->args.suite.suite);
  AddBaselinesFlag(show, flags->args.suite.baselines);
  return {show, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            return Command{flags->args};
          }};
}

Subcommand AddBaselineDiff(CLI::App& baseline) {
  const auto args = std::make_shared<BaselineDiffArgs>();
  CLI::App* diff =
      AddCommand(baseline, "diff", "What accepting a run would change",
                 "  perfgate baseline diff\n  perfgate baseline diff --from perfgate-out");
  AddCasesFlag(diff, args->suite.cases);
  AddText(diff, "--from", args->from, "Out folder or run id [the newest run]", "DIR|RUN");
  AddSuiteFlag(diff, args->suite.suite);
  AddBaselinesFlag(diff, args->suite.baselines);
  AddDatabaseFlag(diff, args->suite.database);
  return {diff, [args] { return Command{*args}; }};
}

Subcommand AddVerify(CLI::App& baseline) {
  const auto args = std::make_shared<VerifyArgs>();
  CLI::App* verify = AddCommand(baseline, "verify", "Check every file of the baselines folder",
                                "  perfgate baseline verify");
  AddSuiteFlag(verify, args->suite.suite);
  AddBaselinesFlag(verify, args->suite.baselines);
  return {verify, [args] { return Command{*args}; }};
}

Subcommand AddIngest(CLI::App& app) {
  const auto args = std::make_shared<IngestArgs>();
  CLI::App* ingest =
      AddCommand(app, "ingest", "Take an out folder of another machine into the database",
                 "  perfgate ingest perfgate-out --db perfgate.db");
  ingest->add_option("dir", args->out_dir, "Out folder of `perfgate run`")
      ->type_name("DIR")
      ->required();
  AddDatabaseHereFlag(ingest, args->database);
  return {ingest, [args] { return Command{*args}; }};
}

Subcommand AddHistory(CLI::App& app) {
  struct Flags {
    HistoryArgs args;
    std::string format = "text";
  };
  const auto flags = std::make_shared<Flags>();
  HistoryArgs& args = flags->args;
  CLI::App* history =
      AddCommand(app, "history", "Stored runs, or one metric over them",
                 "  perfgate history\n  perfgate history --metric kernels --case 'geglu*'");
  AddText(history, "--metric", args.metric, "Metric to follow [list the runs]", "NAME");
  AddCasesFlag(history, args.cases);
  AddDatabaseHereFlag(history, args.database);
  AddListFormatFlag(history, flags->format);
  return {history, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            return Command{flags->args};
          }};
}

}  // namespace

std::vector<Subcommand> AddKeeping(CLI::App& app) {
  CLI::App* baseline =
      AddCommand(app, "baseline", "Reviewed baselines: accept, show, diff, verify",
                 "  perfgate baseline accept --reason 'first baseline'\n"
                 "  perfgate baseline show\n  perfgate baseline diff\n  perfgate baseline verify");
  baseline->require_subcommand(0, 1);
  return {AddAccept(*baseline), AddShow(*baseline), AddBaselineDiff(*baseline),
          AddVerify(*baseline), AddIngest(app),     AddHistory(app)};
}

}  // namespace perfgate::cli
