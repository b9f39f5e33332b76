// Flags of the commands on what is kept: baselines and stored runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/flags.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

int64_t ParseSize(const std::string& text) {
  const std::optional<Quantity> size = ParseQuantity(text);
  if (size && size->unit == Unit::kBytes && size->value >= 0 && size->value < 9e18) {
    return static_cast<int64_t>(size->value);
  }
  throw Error(Fault::kUsage, fmt::format("--max-size {}: it takes a size with its unit, for "
                                         "example 500MiB",
                                         Printable(text)));
}

Subcommand AddAccept(CLI::App& baseline) {
  const auto args = std::make_shared<AcceptArgs>();
  CLI::App* accept =
      AddCommand(baseline, "accept",
                 "Write the evidence of a run as the new baseline; prints a commit message",
                 "  perfgate baseline accept --reason 'first baseline'\n"
                 "  perfgate baseline accept --case 'geglu*' --rule no-extra-kernel \\\n"
                 "      --reason 'the split costs 2 us and saves 40 MiB'\n"
                 "  perfgate baseline accept --from perfgate-report/run --reason 'torch 2.12' "
                 ">message\n"
                 "  git add baselines && git commit --file message");
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
  CLI::App* verify = AddCommand(
      baseline, "verify", "Check every file of the baselines folder; mend conflicts",
      "  perfgate baseline verify\n"
      "  perfgate baseline verify --mend ours      after a merge that git left undecided");
  AddText(verify, "--mend", args->mend,
          "Take this side of files in which git left both: `ours` or `theirs`, as it calls them",
          "SIDE");
  AddSuiteFlag(verify, args->suite.suite);
  AddBaselinesFlag(verify, args->suite.baselines);
  return {verify, [args] {
            if (!args->mend.empty() && args->mend != "ours" && args->mend != "theirs") {
              throw Error(Fault::kUsage,
                          fmt::format("--mend {}: it takes ours or theirs", Printable(args->mend)));
            }
            return Command{*args};
          }};
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
      AddCommand(app, "history", "Stored runs, or a metric over them and where it changed",
                 "  perfgate history\n  perfgate history --metric kernels --case 'geglu*'\n"
                 "  perfgate history --format html > history.html");
  AddText(history, "--metric", args.metric, "Metric to follow [list the runs; html: all]", "NAME");
  AddCasesFlag(history, args.cases);
  AddDatabaseHereFlag(history, args.database);
  AddEvidenceFormatFlag(history, flags->format);
  return {history, [flags] {
            flags->args.format = ParseEvidenceFormat(flags->format);
            return Command{flags->args};
          }};
}

Subcommand AddGc(CLI::App& app) {
  struct Flags {
    GcArgs args;
    int64_t keep_runs = 0, keep_days = 0;
    std::string max_size;
  };
  const auto flags = std::make_shared<Flags>();
  GcArgs& args = flags->args;
  CLI::App* gc = AddCommand(app, "gc", "Drop old runs and their traces; accepted ones always stay",
                            "  perfgate gc --keep-runs 50 --keep-days 90 --dry-run\n"
                            "  perfgate gc --max-size 2GiB --out runs      runs/*: out folders");
  CLI::Option* runs =
      gc->add_option("--keep-runs", flags->keep_runs, "The newest N finished runs stay")
          ->type_name("N")
          ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
  CLI::Option* days =
      gc->add_option("--keep-days", flags->keep_days, "Runs of the last D days stay")
          ->type_name("D")
          ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}));
  AddText(gc, "--max-size", flags->max_size,
          "Only drop the oldest, until the database and the out folders are not larger", "SIZE");
  AddRepeatable(gc, "--out", args.out_dirs,
                "Out folder, or folder of several [perfgate-out beside the suite]. Repeatable",
                "DIR");
  gc->add_flag("--dry-run", args.dry_run, "Print what would go");
  AddSuiteFlag(gc, args.suite.suite);
  AddDatabaseFlag(gc, args.suite.database);
  AddBaselinesFlag(gc, args.suite.baselines);
  return {gc, [flags, runs, days] {
            if (runs->count() > 0) flags->args.keep_runs = flags->keep_runs;
            if (days->count() > 0) flags->args.keep_days = flags->keep_days;
            if (!flags->max_size.empty()) flags->args.max_bytes = ParseSize(flags->max_size);
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
  return {AddAccept(*baseline),
          AddShow(*baseline),
          AddBaselineDiff(*baseline),
          AddVerify(*baseline),
          AddIngest(app),
          AddHistory(app),
          AddGc(app)};
}

}  // namespace perfgate::cli
