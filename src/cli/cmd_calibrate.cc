// A against A on this machine: what its noise is, and which rules on times it can resolve.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/against.h"
#include "cli/calibration_report.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/evidence_source.h"
#include "cli/select.h"
#include "cli/work_folder.h"

namespace perfgate::cli {
namespace {

constexpr int kSwaps = 1000;

// Cases that have times of their own: a trace that is judged as it is has none.
void KeepMeasurable(Selection* selection) {
  std::erase_if(selection->cases, [](const Case& declared) {
    return declared.reference_only || !declared.trace.empty();
  });
  if (selection->cases.empty()) {
    throw Error(Fault::kEnvironment,
                "there is no case to calibrate: all are traces that are judged as they are");
  }
}

// The rules that decide what is measured: those on times, and a question to every case.
Suite WithQuestions(Suite suite) {
  std::erase_if(suite.rules, [](const Rule& rule) {
    return !std::holds_alternative<RegressionCheck>(rule.check);
  });
  Rule question;
  question.metrics = {MetricId::kLatencyP50};
  question.check = RegressionCheck{};
  suite.rules.push_back(std::move(question));
  return suite;
}

// The checkout itself as its own base.
Against OfItself(const Selection& selection, const CalibrateArgs& args) {
  Against against;
  against.checkout = against.folder = selection.suite.folder;
  against.budget_ns = BudgetNs(args.budget);
  return against;
}

// After the screening all the pairs that are left.
std::function<Unsettled()> TheRest(const Selection& selection, const CalibrateArgs& args) {
  return [&selection, &args, asked = false]() mutable {
    Unsettled rest;
    if (std::exchange(asked, true)) return rest;
    for (const Case& declared : selection.cases) rest.cases.push_back(declared.name);
    rest.pairs = args.pairs - kScreeningPairs;
    return rest;
  };
}

void AddCase(const Evidence& evidence, const RunRecord& run, const Suite& suite,
             CalibrationReport* report) {
  report->device = evidence.device_name;
  const auto give_up = [&](const std::string& reason) {
    report->unmeasured.emplace_back(evidence.case_name, reason);
  };
  if (!evidence.Complete()) return give_up(evidence.incomplete_because.front());
  if (!evidence.base_side) return give_up("the second side did not run");
  if (!evidence.base_side->Complete()) {
    return give_up(evidence.base_side->incomplete_because.front());
  }
  const std::vector<Calibration> found = Calibrate(evidence, run.machine, run.started);
  const auto enough = std::any_of(found.begin(), found.end(), [](const Calibration& each) {
    return each.Pairs() >= kFewestToCalibrate;
  });
  if (!enough) {
    const auto pairs = static_cast<int64_t>(
        std::min(ValuesByPair(evidence, MetricId::kLatencyP50).size(),
                 ValuesByPair(*evidence.base_side, MetricId::kLatencyP50).size()));
    return give_up(fmt::format("{} a time, at least {} are needed{}",
                               Plural(pairs, "pair has", "pairs have"), kFewestToCalibrate,
                               run.against->budget_ns > 0 ? ": raise --budget" : ""));
  }
  for (Resolution& resolution : Resolve(suite.rules, found)) {
    SwapLabels(*FindCalibration(found, resolution.metric), kSwaps, run.seed, resolution);
    report->resolutions.push_back(std::move(resolution));
  }
  report->calibrations.insert(report->calibrations.end(), found.begin(), found.end());
}

}  // namespace

int CalibrateMachine(const CalibrateArgs& args, World& world) {
  Selection selection = Select(args.suite, world);
  KeepMeasurable(&selection);
  SetDevice(args.device, &selection.cases);
  Store store(selection.database);  // before measuring: one that cannot be used costs nothing
  const WorkFolder folder(args.out_dir, "calibrate");
  const Suite asked = WithQuestions(selection.suite);
  const RunOptions options{folder.path(), args.seed ? *args.seed : world.RandomSeed(),
                           OfItself(selection, args), TheRest(selection, args)};
  const SystemReading before = ReadSystem(world);
  const RunRecord run = RunSuite(asked, selection.cases, options, world);
  const SystemReading after = ReadSystem(world);
  if (run.interrupted_by != 0) return 128 + run.interrupted_by;

  const OutFolder out = ReadOutFolder(folder.path());
  CalibrationReport report;
  report.suite = selection.suite.name;
  report.measured = run.started;
  report.pairs = args.pairs;
  for (const Evidence& evidence : out.stored.cases) {
    AddCase(evidence, run, selection.suite, &report);
  }
  report.disturbances = FindDisturbances(before, after, selection.cases, out.collected, world);
  store.AddCalibrations(report.calibrations);
  store.Checkpoint();
  world.Out() << AsText(report, args.format);
  return report.ExitCode();
}

}  // namespace perfgate::cli
