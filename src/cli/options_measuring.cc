// Flags of the commands that measure, judge and read traces.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/flags.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

void AddBaseFlag(CLI::App* command, std::string& base) {
  AddText(command, "--base", base,
          "Also report what the files accept, loosen or waive since this checkout left BASE",
          "BASE");
}

Subcommand AddRun(CLI::App& app) {
  struct Flags {
    RunArgs args;
    OutputFlags output;
    int64_t seed = -1;
  };
  const auto flags = std::make_shared<Flags>();
  RunArgs& args = flags->args;
  CLI::App* run =
      AddCommand(app, "run", "Measure the declared cases, store, judge and report",
                 "  perfgate run\n"
                 "  perfgate run bench/perfgate.yaml --case 'geglu*' --device cpu\n"
                 "  perfgate run --report md=summary.md --report json=verdict.json\n"
                 "  perfgate run --against ../base --budget 10min\n"
                 "  perfgate run --plant 'geglu*=clone'      put a known defect in: the gate must "
                 "fail");
  AddText(run, "suite", args.suite.suite, "Suite file or its folder [perfgate.yaml]", "SUITE");
  AddCasesFlag(run, args.suite.cases);
  AddText(run, "--device", args.device, "auto, cpu, cuda or cuda:N for all cases", "DEVICE");
  AddDatabaseFlag(run, args.suite.database);
  AddBaselinesFlag(run, args.suite.baselines);
  AddText(run, "--against", args.against,
          "Built checkout of the base, measured in pairs with head: what `regression` rules need",
          "DIR");
  AddText(run, "--budget", args.budget,
          "Time for the pairs of --against [`budget` of the suite, else no limit]", "DURATION");
  AddText(run, "--out", args.out_dir,
          "Folder for traces and samples [perfgate-out beside the suite]", "DIR");
  AddBaseFlag(run, args.base);
  AddOutputFlags(run, flags->output);
  run->add_flag("--quick", args.quick, "Few iterations, one traced process: a first look");
  run->add_flag("--dry-run", args.dry_run, "Print what would run");
  AddRepeatable(run, "--plant", args.plants, "Put a known defect into cases. Repeatable",
                "GLOB=DEFECT");
  run->add_option("--seed", flags->seed,
                  "Seed of the order within the pairs of --against; run.json keeps it [by chance]")
      ->type_name("N");
  return {run, [flags] {
            flags->args.output = flags->output.Take();
            if (flags->seed >= 0) flags->args.seed = static_cast<uint64_t>(flags->seed);
            return Command{flags->args};
          }};
}

Subcommand AddJudge(CLI::App& app) {
  struct Flags {
    JudgeArgs args;
    OutputFlags output;
  };
  const auto flags = std::make_shared<Flags>();
  JudgeArgs& args = flags->args;
  CLI::App* judge =
      AddCommand(app, "judge", "Judge stored evidence with today's rules; measures nothing",
                 "  perfgate judge\n  perfgate judge 20270131T101500Z-1a2b3c --format json");
  AddText(judge, "run", args.run, "Run id [the newest]", "RUN");
  AddSuiteFlag(judge, args.suite.suite);
  AddCasesFlag(judge, args.suite.cases);
  AddDatabaseFlag(judge, args.suite.database);
  AddBaselinesFlag(judge, args.suite.baselines);
  AddBaseFlag(judge, args.base);
  AddOutputFlags(judge, flags->output);
  return {judge, [flags] {
            flags->args.output = flags->output.Take();
            return Command{flags->args};
          }};
}

Subcommand AddReview(CLI::App& app) {
  struct Flags {
    ReviewArgs args;
    std::string format = "text";
  };
  const auto flags = std::make_shared<Flags>();
  ReviewArgs& args = flags->args;
  CLI::App* review = AddCommand(
      app, "review", "What suite, rules and baselines accept, loosen or waive against a commit",
      "  perfgate review main\n  perfgate review origin/main --format md");
  review
      ->add_option("base", args.base,
                   "Branch, tag or commit; compared with the commit in which this checkout left it")
      ->type_name("BASE")
      ->required();
  AddSuiteFlag(review, args.suite.suite);
  AddBaselinesFlag(review, args.suite.baselines);
  AddListFormatFlag(review, flags->format);
  return {review, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            return Command{flags->args};
          }};
}

Subcommand AddInspect(CLI::App& app) {
  struct Flags {
    InspectArgs args;
    std::string format = "text";
  };
  const auto flags = std::make_shared<Flags>();
  InspectArgs& args = flags->args;
  CLI::App* inspect =
      AddCommand(app, "inspect", "Show what one trace or stored case proves",
                 "  perfgate inspect trace.json.gz\n"
                 "  perfgate inspect latest:'geglu[mode=aoti]' --explain --format json");
  inspect
      ->add_option("what", args.what,
                   "Trace file, folder with those of several ranks, or RUN:CASE of the database")
      ->type_name("TRACE|RUN:CASE")
      ->required();
  inspect->add_flag("--explain", args.explain, "Also what was left out, and why");
  AddDatabaseHereFlag(inspect, args.database);
  AddEvidenceFormatFlag(inspect, flags->format);
  return {inspect, [flags] {
            flags->args.format = ParseEvidenceFormat(flags->format);
            return Command{flags->args};
          }};
}

Subcommand AddDiff(CLI::App& app) {
  struct Flags {
    DiffArgs args;
    OutputFlags output;
  };
  const auto flags = std::make_shared<Flags>();
  DiffArgs& args = flags->args;
  CLI::App* diff =
      AddCommand(app, "diff", "Compare two traces or stored cases by rules",
                 "  perfgate diff before.json.gz after.json.gz\n"
                 "  perfgate diff latest:'geglu[mode=eager]' latest:'geglu[mode=aoti]' --rules "
                 "perfgate:fusion");
  diff->add_option("base", args.base, "What it was: trace file or RUN:CASE")
      ->type_name("BASE")
      ->required();
  diff->add_option("head", args.head, "What it is now: trace file or RUN:CASE")
      ->type_name("HEAD")
      ->required();
  AddRepeatable(diff, "--rules", args.rules,
                "Pack or rule file instead of perfgate:structure, :fusion, :precision and "
                ":gpu-time. Repeatable",
                "RULES");
  AddDatabaseHereFlag(diff, args.database);
  AddOutputFlags(diff, flags->output);
  return {diff, [flags] {
            flags->args.output = flags->output.Take();
            return Command{flags->args};
          }};
}

}  // namespace

std::vector<Subcommand> AddMeasuring(CLI::App& app) {
  return {AddRun(app), AddJudge(app), AddReview(app), AddInspect(app), AddDiff(app)};
}

}  // namespace perfgate::cli
