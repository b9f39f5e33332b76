// One run of a suite: prepare, launch, keep run.json.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "run/branch.h"
#include "run/collector.h"
#include "run/instructions.h"
#include "run/out_folder.h"
#include "run/pairs.h"
#include "run/progress.h"
#include "run/run.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

// "20270131T101500Z-1a2b3c" of "2027-01-31T10:15:00Z".
std::string RunId(const std::string& started, uint64_t random) {
  std::string compact = started;
  std::erase_if(compact, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}-{:06x}", compact, random & 0xffffff);
}

// Copies a trace that is judged as it is into the attempt's folder, so that the out folder is
// whole.
AttemptResult CopyTrace(const Case& declared, const fs::path& suite_folder, const fs::path& dir) {
  const fs::path source = suite_folder / declared.trace;
  const char* name = source.extension() == ".gz" ? "trace.json.gz" : "trace.json";
  AttemptResult result;
  std::error_code error;
  if (!fs::is_regular_file(source, error)) {
    result.fault = fmt::format("trace not found: {}", declared.trace);
  } else if (!fs::copy_file(source, dir / name, error) || error) {
    result.fault = fmt::format("cannot copy {}: {}", declared.trace, error.message());
  }
  if (!result.fault.empty()) result.outcome = Outcome::kNotStarted;
  return result;
}

AttemptResult Unstarted(std::string fault) {
  AttemptResult result;
  result.outcome = Outcome::kNotStarted;
  result.fault = std::move(fault);
  return result;
}

// What `prepare` is run once for: the same command of the same workload, on each side.
using Preparation = std::tuple<Side, std::string, std::vector<std::string>>;

Preparation PreparationOf(const Case& declared, Side side) {
  return {side, declared.workload, declared.prepare};
}

class SuiteRun {
 public:
  SuiteRun(const Suite& suite, const RunOptions& options, World& world, RunRecord& run)
      : suite_(suite), options_(options), out_dir_(options.out_dir), world_(world), run_(run) {
    for (const Case& declared : run.cases) by_name_[declared.name] = &declared;
  }

  void Prepare(Side side) {
    Progress progress(world_, 0);
    for (const Case& declared : run_.cases) {
      const Preparation key = PreparationOf(declared, side);
      if (declared.prepare.empty() || prepared_.contains(key) || Interrupted()) continue;
      const std::string what = fmt::format("prepare {}{}", side == Side::kBase ? "base of " : "",
                                           Printable(declared.workload));
      progress.Started(what);
      AttemptResult result = RunPreparation(declared, side);
      progress.Finished(what, result);
      // The attempts of the base say it themselves: what is recorded here is of head.
      if (!result.fault.empty() && side == Side::kHead) {
        run_.prepare_faults.emplace_back(declared.workload, result.fault);
        WriteRunRecord(run_, out_dir_);
      }
      prepared_[key] = std::move(result);
    }
    progress.End();
  }

  void Attempts(const std::vector<Attempt>& plan) {
    Progress progress(world_, plan.size());
    Attempt last;
    for (const Attempt& attempt : plan) {
      if (Interrupted()) break;
      const Case& declared = *by_name_.at(attempt.case_name);
      // Never half a pair.
      const bool begins_pair = attempt.case_name != last.case_name || attempt.pair != last.pair;
      last = attempt;
      if (begins_pair && attempt.pair >= ProcessesOf(declared) && LeftNs() <= 0) break;
      const std::string what = progress.NextAttempt(declared, attempt);
      progress.Started(what);
      AttemptResult result = One(declared, attempt);
      progress.Finished(what, result);
      run_.attempts.emplace_back(attempt, std::move(result));
      WriteRunRecord(run_, out_dir_);
    }
    progress.End();
  }

  void Pairs() {
    const std::vector<PairedCase> cases = PairedCases(suite_.rules, run_.cases);
    end_ns_ = options_.against->budget_ns > 0 ? world_.MonotonicNs() + options_.against->budget_ns
                                              : std::numeric_limits<int64_t>::max();
    Round(PlanScreening(cases, options_.seed));
    for (int i = 0; i < kMostComparisons && !Interrupted(); ++i) {
      Unsettled unsettled = AskWhatIsUnsettled();
      if (unsettled.cases.empty()) break;
      unsettled.pairs = PairsThatFit(LeftNs(), PairNs(unsettled.cases), unsettled.pairs);
      if (unsettled.pairs == 0) break;
      Round(PlanConfirmation(cases, run_.rounds, unsettled, options_.seed));
    }
  }

  void HeadAlone() {
    Attempts(Plan(run_.cases, options_.seed));
    if (Interrupted()) return;
    const Unsettled unsettled = AskWhatIsUnsettled();
    if (unsettled.cases.empty()) return;
    Round(PlanSecondSession(PairedCases(suite_.rules, run_.cases), unsettled, options_.seed));
  }

  void Finish() {
    run_.interrupted_by = world_.Interrupted();
    run_.finished = run_.interrupted_by == 0;
    WriteRunRecord(run_, out_dir_);
  }

 private:
  bool Interrupted() { return world_.Interrupted() != 0; }

  int64_t LeftNs() { return end_ns_ - world_.MonotonicNs(); }

  Unsettled AskWhatIsUnsettled() { return options_.unsettled ? options_.unsettled() : Unsettled(); }

  void Round(PlannedRound plan) {
    std::move(plan.rounds.begin(), plan.rounds.end(), std::back_inserter(run_.rounds));
    Attempts(plan.attempts);
  }

  // How long one pair of each of these cases takes, by the processes that ran.
  int64_t PairNs(const std::vector<std::string>& cases) const {
    int64_t total_ns = 0;
    for (const std::string& name : cases) {
      int64_t case_ns = 0, count = 0;
      for (const auto& [attempt, result] : run_.attempts) {
        if (attempt.case_name != name) continue;
        case_ns += result.wall_ns;
        ++count;
      }
      total_ns += count > 0 ? 2 * case_ns / count : 0;
    }
    return total_ns;
  }

  const fs::path& FolderOf(Side side) const {
    return side == Side::kBase ? options_.against->folder : suite_.folder;
  }

  AttemptResult RunPreparation(const Case& declared, Side side) {
    const fs::path dir = out_dir_ / "prepare" /
                         fmt::format("{}{}-{}", side == Side::kBase ? "base-" : "",
                                     Slug(declared.workload), prepared_.size());
    MakeFolder(dir);
    Process process;
    process.argv = declared.prepare;
    process.environment = {{"PERFGATE_SIDE", std::string(ToString(side))}};
    process.cwd = FolderOf(side);
    process.timeout_ns = declared.timeout_ns;
    process.stdout_file = dir / "stdout.txt";
    process.stderr_file = dir / "stderr.txt";
    return world_.RunProcess(process);
  }

  // Launches, unless what the case needs could not be prepared.
  AttemptResult One(const Case& declared, const Attempt& attempt) {
    const auto prepared = prepared_.find(PreparationOf(declared, attempt.side));
    if (prepared == prepared_.end() || prepared->second.fault.empty()) {
      return Launch(declared, attempt, FolderOf(attempt.side), out_dir_, world_);
    }
    AttemptResult result = Unstarted(fmt::format("prepare failed: {}", prepared->second.fault));
    result.stderr_tail = prepared->second.stderr_tail;
    return result;
  }

  const Suite& suite_;
  const RunOptions& options_;
  const fs::path& out_dir_;
  World& world_;
  RunRecord& run_;
  std::map<std::string, const Case*> by_name_;
  std::map<Preparation, AttemptResult> prepared_;
  int64_t end_ns_ = std::numeric_limits<int64_t>::max();  // of the budget
};

RunRecord NewRecord(const Suite& suite, const std::vector<Case>& cases, uint64_t seed,
                    World& world) {
  RunRecord run;
  run.started = world.UtcNow();
  run.id = RunId(run.started, world.RandomSeed());
  run.suite = suite.name;
  run.suite_file = suite.file;
  run.perfgate_version = PERFGATE_VERSION;
  std::tie(run.commit, run.dirty) = world.GitCommit(suite.folder);
  run.branch = BranchOf(suite.folder, run.commit, world);
  run.seed = seed;
  run.machine = world.Machine();
  run.cases = cases;
  return run;
}

}  // namespace

AttemptResult Launch(const Case& declared, const Attempt& attempt, const fs::path& suite_folder,
                     const fs::path& out_dir, World& world) {
  const fs::path dir = out_dir / attempt.dir;
  MakeFolder(dir);
  if (!declared.trace.empty()) return CopyTrace(declared, suite_folder, dir);
  Process process;
  process.argv = declared.argv;
  process.environment = AttemptEnvironment(declared, attempt, out_dir);
  if (declared.profiler == Profiler::kCupti) {
    Injection injection = InjectCollector(declared, world);
    if (!injection.fault.empty()) return Unstarted(std::move(injection.fault));
    process.environment.merge(injection.environment);
  }
  if (declared.profiler == Profiler::kInstructions) {
    const InstructionCounter counter = FindInstructionCounter(world);
    if (!counter.fault.empty()) {
      return Unstarted(
          fmt::format("instructions cannot be counted: {} ({})", counter.fault, kInstallCounter));
    }
    process.argv = CountingCommand(counter, declared.argv, fs::absolute(dir));
  }
  process.cwd = suite_folder;
  process.timeout_ns = declared.timeout_ns;
  process.stdout_file = dir / "stdout.txt";
  process.stderr_file = dir / "stderr.txt";
  return world.RunProcess(process);
}

RunRecord RunSuite(const Suite& suite, const std::vector<Case>& cases, const RunOptions& options,
                   World& world) {
  const fs::path& out_dir = options.out_dir;
  MakeOutFolder(out_dir);
  RunRecord run = NewRecord(suite, cases, options.seed, world);
  run.quick = options.quick;
  if (const auto& against = options.against) {
    run.against.emplace();
    run.against->checkout = against->checkout;
    std::tie(run.against->commit, run.against->dirty) = world.GitCommit(against->folder);
    run.against->budget_ns = against->budget_ns;
    run.against->notes = against->notes;
  }
  WriteRunRecord(run, out_dir);
  SuiteRun suite_run(suite, options, world, run);
  suite_run.Prepare(Side::kHead);
  if (options.against) {
    suite_run.Prepare(Side::kBase);
    suite_run.Pairs();
  } else {
    suite_run.HeadAlone();
  }
  suite_run.Finish();
  return run;
}

}  // namespace perfgate
