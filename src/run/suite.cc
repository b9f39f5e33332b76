// One run of a suite: prepare, launch, keep run.json.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "run/collector.h"
#include "run/out_folder.h"
#include "run/progress.h"
#include "run/run.h"

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

// What `prepare` is run once for: the same command of the same workload.
using Preparation = std::pair<std::string, std::vector<std::string>>;

Preparation PreparationOf(const Case& declared) { return {declared.workload, declared.prepare}; }

class SuiteRun {
 public:
  SuiteRun(const Suite& suite, const std::vector<Case>& cases, const fs::path& out_dir,
           World& world, RunRecord& run)
      : suite_(suite), out_dir_(out_dir), world_(world), run_(run) {
    for (const Case& declared : cases) by_name_[declared.name] = &declared;
  }

  void Prepare() {
    Progress progress(world_, 0);
    for (const Case& declared : run_.cases) {
      const Preparation key = PreparationOf(declared);
      if (declared.prepare.empty() || prepared_.contains(key) || Interrupted()) continue;
      const std::string what = fmt::format("prepare {}", Printable(declared.workload));
      progress.Started(what);
      AttemptResult result = RunPreparation(declared);
      progress.Finished(what, result);
      if (!result.fault.empty()) {
        run_.prepare_faults.emplace_back(declared.workload, result.fault);
        WriteRunRecord(run_, out_dir_);
      }
      prepared_[key] = std::move(result);
    }
    progress.End();
  }

  void Attempts(const std::vector<Attempt>& plan) {
    Progress progress(world_, plan.size());
    for (const Attempt& attempt : plan) {
      if (Interrupted()) break;
      const Case& declared = *by_name_.at(attempt.case_name);
      const std::string what = progress.NextAttempt(declared, attempt);
      progress.Started(what);
      AttemptResult result = One(declared, attempt);
      progress.Finished(what, result);
      run_.attempts.emplace_back(attempt, std::move(result));
      WriteRunRecord(run_, out_dir_);
    }
    progress.End();
  }

  void Finish() {
    run_.interrupted_by = world_.Interrupted();
    run_.finished = run_.interrupted_by == 0;
    WriteRunRecord(run_, out_dir_);
  }

 private:
  bool Interrupted() { return world_.Interrupted() != 0; }

  AttemptResult RunPreparation(const Case& declared) {
    const fs::path dir =
        out_dir_ / "prepare" / fmt::format("{}-{}", Slug(declared.workload), prepared_.size());
    MakeFolder(dir);
    Process process;
    process.argv = declared.prepare;
    process.cwd = suite_.folder;
    process.timeout_ns = declared.timeout_ns;
    process.stdout_file = dir / "stdout.txt";
    process.stderr_file = dir / "stderr.txt";
    return world_.RunProcess(process);
  }

  // Launches, unless what the case needs could not be prepared.
  AttemptResult One(const Case& declared, const Attempt& attempt) {
    const auto prepared = prepared_.find(PreparationOf(declared));
    if (prepared == prepared_.end() || prepared->second.fault.empty()) {
      return Launch(declared, attempt, suite_.folder, out_dir_, world_);
    }
    AttemptResult result = Unstarted(fmt::format("prepare failed: {}", prepared->second.fault));
    result.stderr_tail = prepared->second.stderr_tail;
    return result;
  }

  const Suite& suite_;
  const fs::path& out_dir_;
  World& world_;
  RunRecord& run_;
  std::map<std::string, const Case*> by_name_;
  std::map<Preparation, AttemptResult> prepared_;
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
  WriteRunRecord(run, out_dir);
  SuiteRun suite_run(suite, cases, out_dir, world, run);
  suite_run.Prepare();
  suite_run.Attempts(Plan(cases, options.seed));
  suite_run.Finish();
  return run;
}

}  // namespace perfgate
