#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "attempt/attempt.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/evidence_source.h"

namespace perfgate::cli {
namespace {

// What run.json says of the case's attempts, where it does not fit what was to be done.
std::vector<std::string> FaultsOfPlan(const RunRecord& run, const Case& declared, int traced) {
  std::vector<std::string> faults;
  for (const auto& [workload, fault] : run.prepare_faults) {
    if (workload == declared.workload) faults.push_back("prepare failed: " + fault);
  }
  const int wanted = declared.windows.traced_processes;
  if (declared.trace.empty() && faults.empty() && traced < wanted) {
    faults.push_back(
        fmt::format("{} of {} ran", traced, Plural(wanted, "traced process", "traced processes")));
  }
  return faults;
}

Evidence EvidenceOf(const RunRecord& run, const Case& declared,
                    const std::filesystem::path& out_dir) {
  std::vector<AttemptData> attempts;
  int traced = 0;
  for (const auto& [attempt, result] : run.attempts) {
    if (attempt.case_name != declared.name) continue;
    traced += attempt.phase == Phase::kTraced;
    attempts.push_back(CollectAttempt(out_dir, attempt, result));
  }
  Evidence evidence = Extract(declared, attempts, out_dir, run.machine);
  for (const std::string& fault : FaultsOfPlan(run, declared, traced)) {
    evidence.incomplete_because.push_back(fault);
  }
  return evidence;
}

}  // namespace

StoredRun ReadOutFolder(const std::filesystem::path& out_dir) {
  StoredRun stored;
  stored.run = ReadRunRecord(out_dir);
  for (const Case& declared : stored.run.cases) {
    stored.cases.push_back(EvidenceOf(stored.run, declared, out_dir));
  }
  return stored;
}

int Ingest(const IngestArgs& args, World& world) {
  const std::filesystem::path database = args.database.empty() ? "perfgate.db" : args.database;
  const StoredRun stored = ReadOutFolder(args.out_dir);
  Store store(database);
  const bool added = store.AddRun(stored.run, stored.cases);
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
