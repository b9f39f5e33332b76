#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "cli/against.h"
#include "cli/base_state.h"
#include "cli/commands.h"
#include "cli/confirmation.h"
#include "cli/device.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "cli/trends.h"

namespace perfgate::cli {
namespace {

// Enough to see the structure of a step, too little for any statement on time.
constexpr int kQuickWarmup = 3, kQuickTimed = 10, kQuickTraced = 2;

// A case that is only a reference stays as it is: with the same defect it would hide it.
void Plant(const std::vector<std::string>& plants, std::vector<Case>* cases) {
  std::vector<std::string> names;
  std::vector<Case*> judged;
  for (Case& item : *cases) {
    if (item.reference_only) continue;
    names.push_back(item.name);
    judged.push_back(&item);
  }
  for (const std::string& plant : plants) {
    // Case names hold `=`, defects do not.
    const size_t equals = plant.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == plant.size() ||
        plant.find(']', equals) != std::string::npos) {
      throw Error(Fault::kUsage,
                  fmt::format("--plant {}: it takes GLOB=DEFECT, for example --plant "
                              "'geglu*=clone'",
                              Printable(plant)));
    }
    const std::vector<bool> taken =
        MatchGlobs({plant.substr(0, equals)}, "--plant", names, "selected case");
    for (size_t i = 0; i < judged.size(); ++i) {
      if (taken[i]) judged[i]->plant = plant.substr(equals + 1);
    }
  }
}

void Adapt(const RunArgs& args, std::vector<Case>* cases) {
  SetDevice(args.device, cases);
  for (Case& item : *cases) {
    if (!args.quick) continue;
    Windows& windows = item.windows;
    windows.warmup_iterations = std::min(windows.warmup_iterations, kQuickWarmup);
    windows.warmup_until_steady = false;
    windows.timed_iterations = std::min(windows.timed_iterations, kQuickTimed);
    windows.traced_iterations = std::min(windows.traced_iterations, kQuickTraced);
    windows.traced_processes = 1;
  }
  Plant(args.plants, cases);
}

int DryRun(const Selection& selection, const RunOptions& options, World& world) {
  const std::filesystem::path& out_dir = options.out_dir;
  const std::vector<Attempt> plan = Plan(selection.cases, options.seed);
  world.Out() << fmt::format(
      "{} of {}, {}; {} rules; traces in {}, baselines in {}, database {}\n",
      Plural(static_cast<int64_t>(selection.cases.size()), "case"), selection.suite.name,
      Plural(static_cast<int64_t>(plan.size()), "attempt"), selection.suite.rules.size(),
      out_dir.string(), selection.baselines.string(), selection.database.string());
  if (options.against) {
    world.Out() << fmt::format("in pairs with the base in {}, and more where times are compared\n",
                               Printable(options.against->folder.string()));
  }
  for (const Case& item : selection.cases) {
    const auto attempts = std::count_if(plan.begin(), plan.end(), [&](const Attempt& attempt) {
      return attempt.case_name == item.name;
    });
    world.Out() << fmt::format("\n{}  device {}, {}\n", Printable(item.name), item.device,
                               Plural(attempts, "attempt"));
    if (!item.plant.empty()) world.Out() << "  planted defect: " << Printable(item.plant) << "\n";
    if (!item.prepare.empty())
      world.Out() << "  prepare  " << Printable(Join(item.prepare, " ")) << "\n";
    world.Out() << (item.argv.empty() ? "  trace    " + Printable(item.trace)
                                      : "  command  " + Printable(Join(item.argv, " ")))
                << "\n";
  }
  return 0;
}

}  // namespace

int Run(const RunArgs& args, Reports& reports, World& world) {
  Selection selection = Select(args.suite, world);
  Adapt(args, &selection.cases);
  const std::filesystem::path out_dir = args.out_dir.empty()
                                            ? selection.suite.folder / "perfgate-out"
                                            : std::filesystem::path(args.out_dir);
  const uint64_t seed = args.seed ? *args.seed : world.RandomSeed();
  std::vector<Calibration> calibrations;  // what is known when the run begins
  const RunOptions options{
      out_dir, seed, BaseToMeasure(args, selection, world),
      Confirmation(selection, out_dir, !args.against.empty(), calibrations, world), args.quick};
  if (args.dry_run) return DryRun(selection, options, world);

  // Before measuring: a database that cannot be used, or a baseline that cannot be read, costs
  // nothing.
  Store store(selection.database);
  ListBaselines(selection.baselines);
  calibrations = store.Calibrations();
  if (options.against) WarnOfUnresolvable(selection, calibrations, world);
  const RunRecord record = RunSuite(selection.suite, selection.cases, options, world);
  OutFolder folder = ReadOutFolder(out_dir);
  StoredRun& stored = folder.stored;
  stored.calibrations = calibrations;
  store.AddRun(stored.run, stored.cases, folder.collected);
  store.Checkpoint();

  JudgedRun judged = JudgeRun(selection, stored, world);
  if (!args.base.empty()) judged.verdict.review = ReviewAgainst(args.base, selection, world);
  if (record.interrupted_by != 0) judged.verdict.exit_code = 128 + record.interrupted_by;
  reports.Write(
      judged.verdict, judged.pairs,
      reports.Wants(Format::kHtml) ? TrendsUpTo(stored.run.id, store) : std::vector<Trend>{});
  return judged.verdict.exit_code;
}

}  // namespace perfgate::cli
