// Reading runs back, and trends over them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "store/impl.h"
#include "store/rows.h"
#include "store/store.h"

namespace perfgate {
namespace {

Json Parsed(const Database& database, const std::string& text) {
  return ParseJson(text, database.file().string());
}

// The documents that a query gives in its first column, for one parameter :id.
Json::Array Documents(Database& database, std::string_view sql, int64_t id) {
  Statement statement(database, sql);
  statement.Bind(":id", id);
  Json::Array documents;
  while (statement.Step()) documents.push_back(Parsed(database, statement.Text(0)));
  return documents;
}

Json::Object Metrics(Database& database, int64_t evidence_id) {
  Statement statement(
      database, "SELECT name, document FROM metric WHERE evidence_id = :id ORDER BY position");
  statement.Bind(":id", evidence_id);
  Json::Object metrics;
  while (statement.Step()) {
    metrics.emplace_back(statement.Text(0), Parsed(database, statement.Text(1)));
  }
  return metrics;
}

Json::Array KernelRows(Database& database, int64_t evidence_id, const char* kind) {
  Statement statement(database,
                      "SELECT document FROM kernel WHERE evidence_id = :id AND kind = :kind "
                      "ORDER BY position");
  statement.Bind(":id", evidence_id).Bind(":kind", kind);
  Json::Array rows;
  while (statement.Step()) rows.push_back(Parsed(database, statement.Text(0)));
  return rows;
}

EvidenceParts PartsWithoutRows(Database& database, int64_t evidence_id, const std::string& detail) {
  EvidenceParts parts;
  parts.detail = Parsed(database, detail);
  parts.metrics = Metrics(database, evidence_id);
  parts.observations = Documents(
      database, "SELECT document FROM observation WHERE evidence_id = :id ORDER BY position",
      evidence_id);
  return parts;
}

Evidence ReadEvidence(Database& database, int64_t evidence_id, const std::string& detail) {
  EvidenceParts parts = PartsWithoutRows(database, evidence_id, detail);
  for (const KernelKind& kind : kKernelKinds) {
    parts.kernels.emplace_back(kind.kind, KernelRows(database, evidence_id, kind.kind));
  }
  return JoinEvidence(std::move(parts));
}

// The attempts of a run with their samples, in its order.
std::vector<AttemptData> Collected(Database& database, int64_t run_id, const RunRecord& run) {
  std::vector<AttemptData> collected;
  for (const auto& [attempt, result] : run.attempts) {
    AttemptData& data = collected.emplace_back();
    data.attempt = attempt;
    data.result = result;
  }
  Statement samples(database,
                    "SELECT attempt.position, sample.document "
                    "FROM sample JOIN attempt USING (attempt_id) "
                    "WHERE run_id = :id");
  samples.Bind(":id", run_id);
  while (samples.Step()) {
    collected.at(static_cast<size_t>(samples.Int(0))).samples =
        SamplesFromJson(Parsed(database, samples.Text(1)), database.file().string());
  }
  return collected;
}

void TakeTimesOf(Side side, const Case& declared, std::span<const AttemptData> collected,
                 Evidence& evidence) {
  std::vector<AttemptData> attempts;
  for (const AttemptData& data : collected) {
    const bool own = data.attempt.case_name == declared.name && data.attempt.side == side;
    if (own) attempts.push_back(data);
  }
  TakeTimes(declared, attempts, evidence);
}

void TakeTimesAgain(std::span<const AttemptData> collected, const RunRecord& run,
                    Evidence& evidence) {
  for (const Case& declared : run.cases) {
    if (declared.name != evidence.case_name) continue;
    TakeTimesOf(Side::kHead, declared, collected, evidence);
    if (!evidence.base_side) continue;
    Evidence base = *evidence.base_side;
    TakeTimesOf(Side::kBase, declared, collected, base);
    evidence.base_side = std::make_shared<const Evidence>(std::move(base));
  }
}

// The run of a row "run_id, record, id", without its evidence.
RunRecord ReadRun(Database& database, const Statement& row) {
  return JoinRun(
      {Parsed(database, row.Text(1)),
       Documents(database, "SELECT document FROM attempt WHERE run_id = :id ORDER BY position",
                 row.Int(0))},
      fmt::format("{}, run {}", database.file().string(), row.Text(2)));
}

struct EvidenceRow {
  int64_t id = 0;
  std::string case_name, detail, digest;
};

// What of each case and branch of a series is still to be read: a branch with many newer sessions
// takes nothing away from another one, nor do sessions that do not count.
class SeriesReader {
 public:
  SeriesReader(Database& database, const SeriesQuery& query)
      : query_(query),
        rows_(database,
              "SELECT evidence_id, case_name, detail, digest FROM evidence "
              "JOIN environment USING (environment_id) WHERE run_id = :id ORDER BY position") {
    for (const auto& [name, key] : query.cases) digests_[name] = key ? DigestOf(*key) : "";
  }

  bool AnyLeft() const {
    return std::any_of(digests_.begin(), digests_.end(),
                       [&](const auto& each) { return AnyLeft(each.first); });
  }

  std::vector<EvidenceRow> RowsOf(int64_t run_id) {
    std::vector<EvidenceRow> rows;
    rows_.Bind(":id", run_id);
    while (rows_.Step()) {
      EvidenceRow row{rows_.Int(0), rows_.Text(1), rows_.Text(2), rows_.Text(3)};
      if (digests_.contains(row.case_name) && AnyLeft(row.case_name)) rows.push_back(row);
    }
    rows_.Reset();
    return rows;
  }

  // Nothing but the name, where the rest is not asked for.
  Evidence WithoutValues(const EvidenceRow& row, const RunRecord& run) const {
    Evidence evidence;
    evidence.case_name = row.case_name;
    const std::string& digest = digests_.at(row.case_name);
    const bool of_series =
        query_.branches.contains(run.branch) && (digest.empty() || row.digest == digest);
    if (!of_series) return evidence;
    EvidenceParts parts;
    parts.detail = ParseJson(row.detail, "evidence of run " + run.id);
    Evidence known = JoinEvidence(std::move(parts));
    // From other GPUs no more than from its own, which the series needs however old they are.
    const bool left = Left(row.case_name, run.branch, true) &&
                      Left(row.case_name, run.branch, IsOnSameGpu(known));
    return left ? known : evidence;
  }

  bool IsWorthReading(const Evidence& evidence, const RunRecord& run) const {
    const bool named_only = evidence.key.fields.empty();
    return !named_only && (!query_.may_count || query_.may_count(run, evidence));
  }

  void Count(const Evidence& evidence, const RunRecord& run) {
    if (query_.counts && !query_.counts(run, evidence)) return;
    ++read_[{evidence.case_name, run.branch, IsOnSameGpu(evidence)}];
  }

 private:
  using Part = std::tuple<std::string, std::string, bool>;  // case, branch, on the same GPU

  bool Left(const std::string& name, const std::string& branch, bool same_gpu) const {
    const auto read = read_.find({name, branch, same_gpu});
    return !query_.most || read == read_.end() || read->second < *query_.most;
  }

  bool AnyLeft(const std::string& name) const {
    return std::any_of(query_.branches.begin(), query_.branches.end(),
                       [&](const std::string& branch) { return Left(name, branch, true); });
  }

  bool IsOnSameGpu(const Evidence& evidence) const {
    const auto gpu = [](const Key& key) {
      const auto found = key.recorded.find("gpu_uuid");
      return found == key.recorded.end() ? "" : found->second;
    };
    const std::optional<Key>& key = query_.cases.at(evidence.case_name);
    return !key || gpu(evidence.key) == gpu(*key);
  }

  const SeriesQuery& query_;
  Statement rows_;
  std::map<std::string, std::string> digests_;  // "": any
  std::map<Part, int> read_;
};

}  // namespace

std::optional<StoredRun> Store::FindRun(const std::string& id) const {
  Database& database = impl_->database;
  // One transaction: the run stays the same while it is read.
  ReadTransaction transaction(database);
  const bool latest = id.empty() || id == "latest";
  Statement run(database, latest ? "SELECT run_id, record, id FROM run "
                                   "ORDER BY started DESC, run_id DESC LIMIT 1"
                                 : "SELECT run_id, record, id FROM run WHERE id = :id");
  if (!latest) run.Bind(":id", id);
  if (!run.Step()) return std::nullopt;
  const int64_t run_id = run.Int(0);
  StoredRun stored;
  stored.run = ReadRun(database, run);
  Statement cases(database,
                  "SELECT evidence_id, detail FROM evidence WHERE run_id = :id ORDER BY position");
  cases.Bind(":id", run_id);
  while (cases.Step()) {
    stored.cases.push_back(ReadEvidence(database, cases.Int(0), cases.Text(1)));
  }
  const std::vector<AttemptData> collected = Collected(database, run_id, stored.run);
  for (Evidence& evidence : stored.cases) TakeTimesAgain(collected, stored.run, evidence);
  stored.calibrations = Calibrations(stored.run.started);
  return stored;
}

std::vector<StoredRun> Store::Series(const SeriesQuery& query) const {
  Database& database = impl_->database;
  ReadTransaction transaction(database);
  Statement runs(database,
                 "SELECT run_id, record, id FROM run "
                 "WHERE status = 'finished' AND (started, run_id) < "
                 "(:started, ifnull((SELECT run_id FROM run WHERE id = :run), :last)) "
                 "ORDER BY started DESC, run_id DESC");
  runs.Bind(":started", query.started).Bind(":run", query.run);
  runs.Bind(":last", std::numeric_limits<int64_t>::max());
  SeriesReader reader(database, query);
  std::vector<StoredRun> found;
  while (reader.AnyLeft() && runs.Step()) {
    const std::vector<EvidenceRow> rows = reader.RowsOf(runs.Int(0));
    if (rows.empty() && query.most) continue;
    StoredRun& stored = found.emplace_back();
    stored.run = ReadRun(database, runs);
    std::optional<std::vector<AttemptData>> collected;
    for (const EvidenceRow& row : rows) {
      stored.cases.push_back(reader.WithoutValues(row, stored.run));
      Evidence& evidence = stored.cases.back();
      if (!reader.IsWorthReading(evidence, stored.run)) continue;
      if (!collected) collected = Collected(database, runs.Int(0), stored.run);
      evidence = JoinEvidence(PartsWithoutRows(database, row.id, row.detail));
      TakeTimesAgain(*collected, stored.run, evidence);
      reader.Count(evidence, stored.run);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<RunRow> Store::ListRuns() const {
  Statement statement(
      impl_->database,
      "SELECT run, suite, started, commit_id, status, case_count FROM run_view "
      "ORDER BY started DESC, (SELECT run_id FROM run WHERE id = run_view.run) DESC");
  std::vector<RunRow> rows;
  while (statement.Step()) {
    rows.push_back({statement.Text(0), statement.Text(1), statement.Text(2), statement.Text(3),
                    statement.Text(4), static_cast<int>(statement.Int(5))});
  }
  return rows;
}

std::vector<HistoryPoint> Store::History(const std::string& case_glob,
                                         std::optional<MetricId> metric,
                                         std::optional<int> most_runs) const {
  // The record of a run is looked into once, not for each of its values.
  Statement runs(impl_->database, "SELECT id, json_extract(record, '$.dirty') FROM run");
  std::unordered_map<std::string, bool> dirty;
  while (runs.Step()) dirty[runs.Text(0)] = runs.Int(1) != 0;
  Statement statement(
      impl_->database,
      "SELECT metric, run, metric_view.started, metric_view.commit_id, case_name, environment, "
      "value, unavailable "
      "FROM metric_view JOIN run ON run.id = metric_view.run "
      "WHERE (:metric = '' OR metric = :metric) AND run.run_id IN "
      "(SELECT run_id FROM run ORDER BY started DESC, run_id DESC LIMIT :most_runs) "
      "ORDER BY case_name, metric_view.started, run.run_id");
  statement.Bind(":metric", metric ? Info(*metric).name : "");
  statement.Bind(":most_runs", int64_t{most_runs.value_or(-1)});  // -1: all
  std::vector<HistoryPoint> points;
  while (statement.Step()) {
    const std::optional<MetricId> known = FindMetric(statement.Text(0));
    HistoryPoint point{known.value_or(MetricId::kKernels),
                       statement.Text(1),
                       statement.Text(2),
                       statement.Text(3),
                       statement.Text(4),
                       dirty[statement.Text(1)],
                       statement.Text(5),
                       statement.Real(6),
                       statement.Text(7)};
    if (known && MatchesGlob(case_glob, point.case_name)) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace perfgate
