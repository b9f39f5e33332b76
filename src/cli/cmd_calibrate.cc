// A against A on this machine: what its noise is, and which rules on times it can resolve.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <set>
#include <span>
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

// Why a case has no times of its own; "" if it has.
std::string WhyWithoutTimes(const Case& declared) {
  if (!declared.trace.empty()) return "a trace that is judged as it is has no times to calibrate";
  return declared.profiler == Profiler::kInstructions ? std::string(kInstructionsOnly) : "";
}

// Keeps the cases to calibrate and those that their outputs are compared with: these run, for the
// evidence is incomplete without, and are not calibrated. Gives what was left out, with the reason.
std::vector<std::pair<std::string, std::string>> KeepMeasurable(Selection* selection) {
  std::vector<std::pair<std::string, std::string>> left_out;
  std::set<std::string> references;
  bool any = false;
  for (Case& declared : selection->cases) {
    if (declared.reference_only) continue;
    const std::string why = WhyWithoutTimes(declared);
    if (why.empty()) {
      any = true;
      references.insert(declared.reference);
    } else {
      declared.reference_only = true;
      left_out.emplace_back(declared.name, why);
    }
  }
  if (!any) {
    throw Error(Fault::kEnvironment,
                "there is no case to calibrate: all are traces that are judged as they are, or "
                "count instructions");
  }
  std::erase_if(selection->cases, [&](const Case& declared) {
    return declared.reference_only && !references.contains(declared.name);
  });
  return left_out;
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
    for (const Case& declared : selection.cases) {
      if (!declared.reference_only) rest.cases.push_back(declared.name);
    }
    rest.pairs = args.pairs - kScreeningPairs;
    return rest;
  };
}

int64_t PairsOf(const Evidence& evidence, MetricId id) {
  return static_cast<int64_t>(
      std::min(ValuesByPair(evidence, id).size(), ValuesByPair(*evidence.base_side, id).size()));
}

std::string TooFewPairs(int64_t pairs, const RunRecord& run) {
  return fmt::format("{} a time, at least {} are needed{}", Plural(pairs, "pair has", "pairs have"),
                     kFewestToCalibrate, run.against->budget_ns > 0 ? ": raise --budget" : "");
}

// Rules that ask for a time without numbers, as far as a run would not skip them: what both sides
// lack is skipped where the rule is optional or has another time to judge.
void AddUnmeasuredRules(const Evidence& evidence, std::span<const Calibration> found,
                        const RunRecord& run, const Suite& suite, CalibrationReport* report) {
  for (const Rule& rule : suite.rules) {
    if (!std::holds_alternative<RegressionCheck>(rule.check)) continue;
    if (!Concerns(rule, evidence.case_name, evidence.device_kind)) continue;
    const bool any = std::any_of(rule.metrics.begin(), rule.metrics.end(), [&](MetricId id) {
      return FindCalibration(found, id) != nullptr;
    });
    for (const MetricId id : rule.metrics) {
      if (FindCalibration(found, id) != nullptr) continue;
      std::string reason = Summarise(evidence, id).unavailable;
      if (reason.empty()) reason = Summarise(*evidence.base_side, id).unavailable;
      if (!reason.empty() && (any || rule.optional)) continue;
      if (reason.empty()) reason = TooFewPairs(PairsOf(evidence, id), run);
      report->unmeasured_rules.push_back(
          {rule.full_id, rule.where, evidence.case_name, id, std::move(reason)});
    }
  }
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
  std::vector<Calibration> found = Calibrate(evidence, run.machine, run.started);
  std::erase_if(found, [](const Calibration& each) { return each.Pairs() < kFewestToCalibrate; });
  if (found.empty()) return give_up(TooFewPairs(PairsOf(evidence, MetricId::kLatencyP50), run));
  AddUnmeasuredRules(evidence, found, run, suite, report);
  for (Resolution& resolution : Resolve(suite.rules, found)) {
    SwapLabels(*FindCalibration(found, resolution.metric), kSwaps, run.seed, resolution);
    report->resolutions.push_back(std::move(resolution));
  }
  report->calibrations.insert(report->calibrations.end(), found.begin(), found.end());
}

}  // namespace

int CalibrateMachine(const CalibrateArgs& args, World& world) {
  Selection selection = Select(args.suite, world);
  auto left_out = KeepMeasurable(&selection);
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
  report.left_out = std::move(left_out);
  for (const Evidence& evidence : out.stored.cases) {
    const bool only_compared_with =
        std::any_of(selection.cases.begin(), selection.cases.end(), [&](const Case& declared) {
          return declared.name == evidence.case_name && declared.reference_only;
        });
    if (!only_compared_with) AddCase(evidence, run, selection.suite, &report);
  }
  report.disturbances = FindDisturbances(before, after, selection.cases, out.collected, world);
  store.AddCalibrations(report.calibrations);
  store.Checkpoint();
  world.Out() << AsText(report, args.format);
  return report.ExitCode();
}

}  // namespace perfgate::cli
