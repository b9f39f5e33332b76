#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "attempt/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "baseline/baseline.h"
#include "cli/commands.h"
#include "cli/past_runs.h"
#include "cli/retention.h"
#include "cli/select.h"
#include "store/store.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

// A run as gc sees it: a row of the database, out folders, or both.
struct KeptRun {
  RunFacts facts;
  std::string commit;
  bool stored = false;
  std::vector<fs::path> folders;
  int64_t folder_bytes = 0;
};

std::string DaysBefore(const std::string& utc, int64_t days) {
  std::tm parts{};
  ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  const std::time_t then = ::timegm(&parts) - days * 24 * 60 * 60;
  ::gmtime_r(&then, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool HasRun(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(folder / "run.json", error));
}

// Each of `given` is an out folder, or a folder of several. One that is named twice, in whatever
// spelling, is one: the first spelling stands.
std::vector<fs::path> OutFolders(const std::vector<fs::path>& given) {
  std::map<fs::path, fs::path> folders;  // by what they are, as they were spelled
  std::error_code error;
  const auto add = [&](const fs::path& folder) {
    const fs::path real = fs::canonical(folder, error);
    if (!error) folders.emplace(real, folder);
  };
  for (const fs::path& folder : given) {
    if (HasRun(folder)) {
      add(folder);
      continue;
    }
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->is_directory(error) && !it->is_symlink(error) && HasRun(it->path())) add(it->path());
    }
  }
  std::vector<fs::path> spelled;
  for (const auto& [real, folder] : folders) spelled.push_back(folder);
  return spelled;
}

// What `args` names, as given; without it the folder beside the suite, which need not be there.
std::vector<fs::path> NamedFolders(const GcArgs& args, const Suite& suite) {
  for (const std::string& folder : args.out_dirs) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    throw Error(Fault::kUsage, fmt::format("--out {}: there is no such folder: name an out folder, "
                                           "or a folder of several",
                                           Printable(folder)));
  }
  if (args.out_dirs.empty()) return {suite.folder / "perfgate-out"};
  return {args.out_dirs.begin(), args.out_dirs.end()};
}

// The baselines say which runs must stay. Without their folder that is not known, so a folder that
// somebody has named must be there.
std::vector<Baseline> KnownBaselines(const SuiteArgs& args, const Selection& selection,
                                     World& world) {
  const fs::path& folder = selection.baselines;
  std::error_code error;
  if (fs::is_directory(folder, error)) return ListBaselines(folder);
  const bool is_there = fs::exists(fs::symlink_status(folder, error));
  if (is_there || !args.baselines.empty() || selection.suite.baselines != "baselines") {
    throw Error(Fault::kUsage,
                fmt::format("{}: there is no such folder of baselines, so it is not known which "
                            "runs must stay: name it with --baselines",
                            Printable(folder.string())));
  }
  world.Err() << fmt::format("note: no baselines at {}: no run is kept for one\n",
                             Printable(folder.string()));
  return {};
}

class Gathering {
 public:
  Gathering(std::string suite, World& world) : suite_(std::move(suite)), world_(world) {}

  void AddStored(const Store& store) {
    for (const RunRow& row : store.ListRuns()) {
      KeptRun& run = Of(row.id);
      run.facts.id = row.id;
      run.facts.started = row.started;
      run.facts.finished = row.status == "finished";
      run.facts.of_this_suite = row.suite == suite_;
      run.commit = row.commit;
      run.stored = true;
    }
  }

  void AddFolder(const fs::path& folder) {
    RunRecord record;
    try {
      record = ReadRunRecord(folder);
    } catch (const Error& error) {
      world_.Err() << fmt::format("left {}: {}\n", folder.string(), Printable(error.what()));
      return;
    }
    KeptRun& run = Of(record.id);
    run.folders.push_back(folder);
    run.folder_bytes += OutFolderBytes(folder);
    if (run.stored) return;
    run.facts.id = record.id;
    run.facts.started = record.started;
    run.facts.finished = record.finished;
    run.facts.of_this_suite = record.suite == suite_;
    run.facts.may_be_running = !record.finished && record.interrupted_by == 0;
    run.commit = record.commit;
  }

  // Newest first; of one second, the last one stored, as elsewhere. A baseline that does not say
  // its run may be of any run of its commit.
  std::vector<KeptRun> Take(const std::vector<Baseline>& baselines,
                            const std::set<std::string>& since) {
    std::set<std::string> accepted, commits;
    for (const Baseline& baseline : baselines) {
      if (baseline.run.empty()) {
        world_.Err() << fmt::format("note: {}: does not say its run: all of its commit stay\n",
                                    baseline.file.string());
        commits.insert(baseline.commit.substr(0, baseline.commit.find('+')));
      } else {
        accepted.insert(baseline.run);
      }
    }
    for (KeptRun& run : runs_) {
      run.facts.accepted = accepted.contains(run.facts.id) || commits.contains(run.commit);
      run.facts.since = since.contains(run.facts.id);
    }
    std::stable_sort(runs_.begin(), runs_.end(), [](const KeptRun& a, const KeptRun& b) {
      return a.facts.started > b.facts.started;
    });
    return std::move(runs_);
  }

 private:
  KeptRun& Of(const std::string& id) {
    const auto [at, is_new] = places_.emplace(id, runs_.size());
    if (is_new) runs_.emplace_back();
    return runs_[at->second];
  }

  const std::string suite_;
  World& world_;
  std::vector<KeptRun> runs_;
  std::map<std::string, size_t> places_;  // by id, in runs_
};

struct Dropped {
  std::vector<const KeptRun*> runs;  // oldest first
  int64_t bytes_left = 0;            // of the database and all out folders
};

// Oldest first, until what is left is small enough.
Dropped Drop(const std::vector<KeptRun>& runs, const std::vector<std::string>& kept,
             std::optional<int64_t> max_bytes, RunRemoval* removal) {
  Dropped dropped;
  int64_t folder_bytes = 0;
  for (const KeptRun& run : runs) folder_bytes += run.folder_bytes;
  for (size_t i = runs.size(); i-- > 0;) {
    if (!kept[i].empty()) continue;
    if (max_bytes && removal->BytesInUse() + folder_bytes <= *max_bytes) break;
    if (runs[i].stored) removal->Remove(runs[i].facts.id);
    folder_bytes -= runs[i].folder_bytes;
    dropped.runs.push_back(&runs[i]);
  }
  dropped.bytes_left = removal->BytesInUse() + folder_bytes;
  return dropped;
}

std::string Size(int64_t bytes) {
  for (const auto& [unit, name] : {std::pair{int64_t{1} << 30, "GiB"}, {int64_t{1} << 20, "MiB"}}) {
    if (bytes >= unit) {
      return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
    }
  }
  return fmt::format("{} KiB", (bytes + 1023) / 1024);
}

void Print(const std::vector<KeptRun>& runs, const std::vector<std::string>& kept,
           const Dropped& dropped, bool dry_run, World& world) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool goes =
        std::find(dropped.runs.begin(), dropped.runs.end(), &runs[i]) != dropped.runs.end();
    std::string where = runs[i].stored ? "database" : "";
    for (const fs::path& folder : runs[i].folders) {
      where += (where.empty() ? "" : ", ") + Printable(folder.string());
    }
    const std::string why = kept[i].empty() ? (goes ? "" : "there is room") : kept[i];
    world.Out() << fmt::format("{:<{}} {}  {}{}\n",
                               goes ? (dry_run ? "would go" : "gone") : "stays", dry_run ? 8 : 5,
                               Printable(runs[i].facts.id), where, why.empty() ? "" : "; " + why);
  }
  world.Out() << fmt::format("{} of {} {}; {} left in the database and the out folders\n",
                             dropped.runs.size(), Plural(static_cast<int64_t>(runs.size()), "run"),
                             dry_run ? "would go" : "gone", Size(dropped.bytes_left));
}

void RequireLimit(const GcArgs& args) {
  if (args.keep_runs || args.keep_days || args.max_bytes) return;
  throw Error(Fault::kUsage,
              "say what may stay: --keep-runs N, --keep-days D or --max-size SIZE; with --dry-run "
              "nothing is removed");
}

std::vector<KeptRun> Gather(const GcArgs& args, const Selection& selection, const Store& store,
                            World& world) {
  Gathering gathering(selection.suite.name, world);
  gathering.AddStored(store);
  for (const fs::path& folder : OutFolders(NamedFolders(args, selection.suite))) {
    gathering.AddFolder(folder);
  }
  return gathering.Take(KnownBaselines(args.suite, selection, world),
                        RunsSince(selection.suite, store));
}

std::vector<std::string> ReasonsToStay(const std::vector<KeptRun>& runs, const GcArgs& args,
                                       World& world) {
  Retention retention{args.keep_runs, {}};
  if (args.keep_days) retention.since = DaysBefore(world.UtcNow(), *args.keep_days);
  std::vector<RunFacts> facts;
  for (const KeptRun& run : runs) facts.push_back(run.facts);
  return WhyKept(facts, retention);
}

// After the database: what an interrupt leaves of them is found by the next gc.
void RemoveFolders(const std::vector<fs::path>& named, const Dropped& dropped, World& world) {
  for (const fs::path& folder : named) FinishRemovals(folder);
  for (const KeptRun* run : dropped.runs) {
    for (const fs::path& folder : run->folders) {
      if (world.Interrupted() == 0) RemoveOutFolder(folder);
    }
  }
}

int Interrupted(std::string_view what, World& world) {
  world.Err() << "perfgate: interrupted: " << what << "\n";
  return 128 + world.Interrupted();
}

}  // namespace

int Gc(const GcArgs& args, World& world) {
  RequireLimit(args);
  const Selection selection = Select(args.suite, world);
  if (!fs::exists(selection.database)) {
    throw Error(Fault::kInput, fmt::format("{}: there is no such database: name it with --db",
                                           selection.database.string()));
  }
  Store store(selection.database);
  const std::vector<KeptRun> runs = Gather(args, selection, store, world);
  const std::vector<std::string> kept = ReasonsToStay(runs, args, world);
  Dropped dropped;
  {
    RunRemoval removal(store);
    dropped = Drop(runs, kept, args.max_bytes, &removal);
    if (world.Interrupted() != 0) return Interrupted("nothing was removed", world);
    if (!args.dry_run) removal.Commit();
  }
  if (!args.dry_run) {
    RemoveFolders(NamedFolders(args, selection.suite), dropped, world);
    if (world.Interrupted() != 0) {
      return Interrupted("out folders may be left: run it again", world);
    }
    store.Vacuum();
  }
  Print(runs, kept, dropped, args.dry_run, world);
  if (!args.max_bytes || dropped.bytes_left <= *args.max_bytes) return 0;
  world.Err() << fmt::format("perfgate: {} are more than {}, but what is left must stay\n",
                             Size(dropped.bytes_left), Size(*args.max_bytes));
  return 3;
}

}  // namespace perfgate::cli
