#include <fmt/format.h>

#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "baseline/baseline.h"
#include "cli/commands.h"
#include "cli/conflicts.h"
#include "cli/evidence_source.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "report/report.h"

namespace perfgate::cli {
namespace {

std::string Value(const Evidence& evidence, MetricId metric) {
  const MetricValue value = Summarise(evidence, metric);
  if (value.value) return FormatValue(*value.value, Info(metric).unit);
  return value.unavailable.empty() ? "varies" : "n/a";
}

// What a person knows a case by: kernels and their time.
std::string Work(const Evidence& evidence) {
  if (evidence.device_kind == "cuda") {
    return fmt::format("{} kernels, {} GPU time", Value(evidence, MetricId::kKernels),
                       Value(evidence, MetricId::kGpuTime));
  }
  return fmt::format("{} CPU kernels", Value(evidence, MetricId::kCpuKernels));
}

Json BaselineRow(const Baseline& baseline) {
  return Json(Json::Object{{"case", Json(baseline.evidence.case_name)},
                           {"file", Json(baseline.file.string())},
                           {"commit", Json(baseline.commit)},
                           {"date", Json(baseline.date)},
                           {"reason", Json(baseline.reason)}});
}

}  // namespace

int ShowBaselines(const ShowArgs& args, World& world) {
  SuiteArgs all = args.suite;
  all.cases.clear();  // globs speak of baselines here, also of cases no longer declared
  const Selection selection = Select(all, world);
  const std::vector<Baseline> baselines = ListBaselines(selection.baselines);
  std::vector<std::string> names;
  for (const Baseline& baseline : baselines) names.push_back(baseline.evidence.case_name);
  const std::vector<bool> taken = MatchGlobs(args.suite.cases, "--case", names, "baseline");
  if (baselines.empty()) {
    world.Err() << selection.baselines.string()
                << ": no baselines yet: perfgate baseline accept --reason "
                << "'first baseline'\n";
  }
  Json rows{Json::Array{}};
  for (size_t i = 0; i < baselines.size(); ++i) {
    if (!taken[i]) continue;
    const Baseline& baseline = baselines[i];
    if (args.format == Format::kJson) {
      rows.Push(BaselineRow(baseline));
      continue;
    }
    world.Out() << fmt::format(
        "{}\n  {}\n  {}, commit {}, {}\n  {}\n", Printable(baseline.evidence.case_name),
        baseline.file.string(), Printable(baseline.date),
        baseline.commit.empty() ? "unknown" : ShortCommit(baseline.commit, false),
        Work(baseline.evidence), Printable(baseline.reason));
  }
  if (args.format == Format::kJson) world.Out() << WriteJson(rows, 1);
  return 0;
}

int DiffBaselines(const BaselineDiffArgs& args, World& world) {
  const Selection selection = Select(args.suite, world);
  const StoredRun stored = OutFolderOrStored(args.from, selection.database);
  bool all_comparable = true;
  bool all_complete = true;
  for (const Case& declared : selection.cases) {
    if (declared.reference_only) continue;
    const Evidence head = EvidenceFor(declared, selection, stored);
    world.Out() << Printable(declared.name) << "\n";
    if (!head.Complete()) {
      all_complete = false;
      for (const std::string& reason : head.incomplete_because) {
        world.Out() << "  incomplete: " << Printable(reason) << "\n";
      }
      continue;
    }
    const BaselineLookup lookup = FindBaseline(selection.baselines, head, declared.was);
    all_comparable = all_comparable && lookup.state == BaselineState::kFound;
    if (!lookup.baseline) {
      world.Out() << "  no baseline: " << Work(head) << " would be the first\n";
      continue;
    }
    for (const std::string& difference : lookup.key_differences) {
      world.Out() << "  other key (baseline / run): " << Printable(difference) << "\n";
    }
    for (const std::string& note : lookup.notes)
      world.Out() << "  note: " << Printable(note) << "\n";
    world.Out() << DiffAsText(Compare(lookup.baseline->evidence, head),
                              {.color = WantsColor(world)});
  }
  if (!all_complete) return 3;
  return all_comparable ? 0 : 4;
}

int Verify(const VerifyArgs& args, World& world) {
  const Selection selection = Select(args.suite, world);
  std::vector<std::string> problems;
  bool taken = false, may_take = false;
  for (const MergeConflict& conflict : ConflictsUnder(selection.baselines, world)) {
    const ConflictSides sides(conflict, world);
    if (args.mend.empty() || !sides.whole()) {
      problems.push_back(sides.Explanation(selection.run));
      may_take = may_take || sides.whole();
      continue;
    }
    world.Err() << sides.Take(args.mend) << "\n";
    taken = true;
  }
  if (taken) world.Err() << NextAfterTaking(selection) << "\n";
  if (may_take) problems.push_back(NextAfterConflict(selection));
  std::vector<std::string> declared;
  for (const Case& item : selection.suite.cases) {
    declared.push_back(item.name);
    declared.insert(declared.end(), item.was.begin(), item.was.end());
  }
  const std::vector<std::string> others = VerifyBaselines(selection.baselines, declared);
  problems.insert(problems.end(), others.begin(), others.end());
  if (!problems.empty()) throw Error(Fault::kConfig, Join(problems, "\n"));
  world.Out() << fmt::format(
      "{}: {}, no problem\n", selection.baselines.string(),
      Plural(static_cast<int64_t>(ListBaselines(selection.baselines).size()), "baseline"));
  return 0;
}

}  // namespace perfgate::cli
