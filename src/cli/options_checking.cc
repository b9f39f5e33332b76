// Flags of the commands that check this machine and the gate on it.
#include <CLI/CLI.hpp>
#include <memory>

#include "calibration/calibration.h"
#include "cli/flags.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

constexpr int kMostPairs = 1000;

Subcommand AddCalibrate(CLI::App& app) {
  struct Flags {
    CalibrateArgs args;
    std::string format = "text";
    int64_t seed = -1;
  };
  const auto flags = std::make_shared<Flags>();
  CalibrateArgs& args = flags->args;
  CLI::App* calibrate =
      AddCommand(app, "calibrate",
                 "Measure this machine's noise, A against A: which tolerances it can resolve",
                 "  perfgate calibrate\n"
                 "  perfgate calibrate bench/perfgate.yaml --case 'geglu*' --budget 5min\n"
                 "  perfgate calibrate --pairs 48 --format md");
  AddText(calibrate, "suite", args.suite.suite, "Suite file or its folder [perfgate.yaml]",
          "SUITE");
  AddCasesFlag(calibrate, args.suite.cases);
  AddText(calibrate, "--device", args.device, "auto, cpu, cuda or cuda:N for all cases", "DEVICE");
  calibrate->add_option("--pairs", args.pairs, "Pairs of processes a case [24]")
      ->type_name("N")
      ->check(CLI::Range(kFewestToCalibrate, kMostPairs));
  AddText(calibrate, "--budget", args.budget, "Time for measuring [no limit]", "DURATION");
  AddDatabaseFlag(calibrate, args.suite.database);
  AddText(calibrate, "--out", args.out_dir, "Folder that keeps what was measured [none]", "DIR");
  AddListFormatFlag(calibrate, flags->format);
  calibrate->add_option("--seed", flags->seed, "Seed of the order within pairs [by chance]")
      ->type_name("N");
  return {calibrate, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            if (flags->seed >= 0) flags->args.seed = static_cast<uint64_t>(flags->seed);
            return Command{flags->args};
          }};
}

Subcommand AddSelftest(CLI::App& app) {
  struct Flags {
    SelftestArgs args;
    std::string format = "text";
    int64_t seed = -1;
  };
  const auto flags = std::make_shared<Flags>();
  SelftestArgs& args = flags->args;
  CLI::App* selftest = AddCommand(
      app, "selftest", "Plant known regressions into built-in workloads: do the rules bite here?",
      "  perfgate selftest\n"
      "  perfgate selftest --device cpu --budget 2min --format md");
  AddText(selftest, "--device", args.device, "auto, cpu, cuda or cuda:N [auto]", "DEVICE");
  AddText(selftest, "--budget", args.budget, "Time for comparing times [no limit]", "DURATION");
  AddText(selftest, "--out", args.out_dir, "Folder that keeps what was measured [none]", "DIR");
  AddListFormatFlag(selftest, flags->format);
  selftest->add_option("--seed", flags->seed, "Seed of the order within pairs [by chance]")
      ->type_name("N");
  return {selftest, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            if (flags->seed >= 0) flags->args.seed = static_cast<uint64_t>(flags->seed);
            return Command{flags->args};
          }};
}

}  // namespace

std::vector<Subcommand> AddChecking(CLI::App& app) { return {AddCalibrate(app), AddSelftest(app)}; }

}  // namespace perfgate::cli
