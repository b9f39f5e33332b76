#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "attempt/attempt.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"
#include "cli/select.h"

namespace perfgate::cli {
namespace {

// What run.json says of the case's attempts, where it does not fit what was to be done.
std::vector<std::string> FaultsOfPlan(const RunRecord& run, const Case& declared, int traced) {
  std::vector<std::string> faults;
  for (const auto& [workload, fault] : run.prepare_faults) {
    if (workload == declared.workload) faults.push_back("prepare failed: " + fault);
  }
  const int wanted = ProcessesOf(declared);
  if (faults.empty() && traced > 0 && traced < wanted) {
    const bool counts = declared.profiler == Profiler::kInstructions;
    faults.push_back(fmt::format("{} of {} ran", traced,
                                 counts ? Plural(wanted, "process", "processes")
                                        : Plural(wanted, "traced process", "traced processes")));
  }
  return faults;
}

Profiler ProfilerOf(const RunRecord& run, const std::string& case_name) {
  for (const Case& declared : run.cases) {
    if (declared.name == case_name) return declared.profiler;
  }
  return Profiler::kTorch;
}

Evidence EvidenceOf(const RunRecord& run, const Case& declared,
                    const std::vector<AttemptData>& collected,
                    const std::filesystem::path& out_dir) {
  std::vector<AttemptData> head, base, reference;
  const bool counts = declared.profiler == Profiler::kInstructions;
  int traced = 0;
  for (const AttemptData& data : collected) {
    // One yardstick for both sides: what the reference of head computed.
    if (data.attempt.case_name == declared.reference && data.attempt.side == Side::kHead) {
      reference.push_back(data);
    }
    if (data.attempt.case_name != declared.name) continue;
    const bool of_head = data.attempt.side == Side::kHead;
    traced += of_head && (data.attempt.phase == Phase::kTraced || counts);
    (of_head ? head : base).push_back(data);
  }
  Evidence evidence = Extract(declared, head, out_dir, run.machine, reference);
  if (!base.empty()) {
    Case unplanted = declared;
    unplanted.plant.clear();
    evidence.base_side =
        std::make_shared<const Evidence>(Extract(unplanted, base, out_dir, run.machine, reference));
  }
  const std::vector<std::string> faults = FaultsOfPlan(run, declared, traced);
  evidence.incomplete_because.insert(evidence.incomplete_because.begin(), faults.begin(),
                                     faults.end());
  return evidence;
}

}  // namespace

OutFolder ReadOutFolder(const std::filesystem::path& out_dir) {
  OutFolder folder;
  folder.stored.run = ReadRunRecord(out_dir);
  const RunRecord& run = folder.stored.run;
  for (const auto& [attempt, result] : run.attempts) {
    folder.collected.push_back(
        CollectAttempt(out_dir, attempt, result, ProfilerOf(run, attempt.case_name)));
  }
  for (const Case& declared : run.cases) {
    folder.stored.cases.push_back(EvidenceOf(run, declared, folder.collected, out_dir));
  }
  return folder;
}

int Ingest(const IngestArgs& args, World& world) {
  const std::filesystem::path database = DatabaseHere(args.database);
  const OutFolder folder = ReadOutFolder(args.out_dir);
  const StoredRun& stored = folder.stored;
  Store store(database);
  const bool added = store.AddRun(stored.run, stored.cases, folder.collected);
  store.Checkpoint();
  world.Out() << stored.run.id << "\n";
  world.Err() << fmt::format(
      "{} {} {}: {} of suite {}{}\n", added ? "stored in" : "already in", database.string(),
      stored.run.id, Plural(static_cast<int64_t>(stored.cases.size()), "case"), stored.run.suite,
      stored.run.finished ? "" : " (the run was not finished)");
  for (const Evidence& evidence : stored.cases) {
    for (const std::string& reason : evidence.incomplete_because) {
      world.Err() << fmt::format("incomplete: {}: {}\n", Printable(evidence.case_name),
                                 Printable(reason));
    }
  }
  return 0;
}

}  // namespace perfgate::cli
