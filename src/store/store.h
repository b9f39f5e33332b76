// SQLite history; the one door to SQLite. SQL lives in .sql files. One transaction a run: a process
// killed at any instant leaves whole runs only. Schema: docs/sql.md.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "attempt/attempt.h"
#include "calibration/calibration.h"
#include "evidence/evidence.h"
#include "metric/metric.h"

namespace perfgate {

struct StoredRun {
  RunRecord run;
  std::vector<Evidence> cases;
  std::vector<Calibration> calibrations;  // known when it was measured, of all cases and machines
};

struct RunRow {
  std::string id, suite, started, commit, status;  // status: "finished" | "interrupted"
  int cases = 0;
};

struct HistoryPoint {
  MetricId metric = MetricId::kKernels;
  std::string run_id, started, commit, case_name;
  bool dirty = false;  // the work tree had changes
  std::string key;     // Hash16 of the key's fields
  std::optional<double> value;
  std::string unavailable;  // the reason, if there is no value because it was not measured; "" else
};

// Which evidence of a series is worth reading.
struct SeriesQuery {
  std::map<std::string, std::optional<Key>> cases;  // by name: of this key, or of any
  std::set<std::string> branches;                   // of runs of these
  // That began before this run, which need not be stored; of those that began in the same second
  // (`started`: ISO 8601, UTC) the ones stored before it.
  std::string run, started;
  // Of a case and branch the newest so many that count, and as many from other GPUs.
  std::optional<int> most;
  // Whether a session counts: by what is known before its times are read, and with its times.
  std::function<bool(const RunRecord&, const Evidence&)> may_count{}, counts{};
};

class Transaction;

class Store {
 public:
  // Opens or creates (WAL, busy time-out 30 s, migrations). Throws Error(kStore): a newer schema, a
  // corrupt file (left alone), a path that cannot be written, with the next step.
  explicit Store(const std::filesystem::path& file);
  ~Store();
  Store(Store&&) noexcept;

  // One transaction. Adding the same run id again replaces nothing and returns false. `collected`
  // are the attempts as CollectAttempt gave them: their samples are kept with the run, so that
  // every judged time can be traced back to what was measured.
  bool AddRun(const RunRecord& run, const std::vector<Evidence>& cases,
              std::span<const AttemptData> collected = {});
  // "" or "latest": the newest one. Times of the evidence are taken from the samples again, if they
  // were kept.
  std::optional<StoredRun> FindRun(const std::string& id) const;
  // Finished runs that hold evidence of these cases, oldest first, with that evidence, which lacks
  // its rows of kernels, transfers and syncs; without `most` all finished runs, for one that did
  // not measure a case has its place among them, too. Times as FindRun. Evidence of another branch
  // or key, and what is older than the `most`th of its case and branch, has its case's name and
  // nothing else; what may not count has neither values nor times. What is older than the `most`th
  // of every case and branch is left out.
  std::vector<StoredRun> Series(const SeriesQuery& query) const;
  std::vector<RunRow> ListRuns() const;  // newest first
  // Of all cases whose name matches, oldest first within a case; points without a value included.
  // Without a metric: of all metrics that this perfgate knows. `most_runs`: of the newest runs.
  std::vector<HistoryPoint> History(const std::string& case_glob, std::optional<MetricId> metric,
                                    std::optional<int> most_runs = {}) const;
  // One transaction.
  void AddCalibrations(std::span<const Calibration> calibrations);
  // Oldest first; those measured later than `until` (ISO 8601, UTC; "": none) left out.
  std::vector<Calibration> Calibrations(const std::string& until = "") const;
  void Checkpoint();  // fold the write-ahead log in
  // Gives the space of what was removed back to the disk. Needs as much free space as the database
  // has; interrupted, the file is as before.
  void Vacuum();

 private:
  friend class RunRemoval;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Removes runs with all that belongs to them, in one transaction: before Commit nothing has
// happened, and without it nothing does. Nobody else writes meanwhile.
class RunRemoval {
 public:
  explicit RunRemoval(Store& store);
  ~RunRemoval();
  bool Remove(const std::string& id);  // false: there is no such run
  int64_t BytesInUse() const;          // of the file, by what is left
  void Commit();

 private:
  Store& store_;
  std::unique_ptr<Transaction> transaction_;
};

}  // namespace perfgate
