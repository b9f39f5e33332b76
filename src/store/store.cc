// Opening, and adding a run.
#include "store/store.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "store/impl.h"
#include "store/migrate.h"
#include "store/rows.h"

namespace perfgate {
namespace {

// Which attempt of a run: what an AttemptData and a row of `attempt` have in common.
using AttemptKey = std::tuple<std::string, Side, int, int, Phase>;

AttemptKey KeyOf(const Attempt& attempt) {
  return {attempt.case_name, attempt.side, attempt.pair, attempt.process, attempt.phase};
}

std::string Text(const Json& json) { return WriteJson(json, 0); }

void RefuseFolder(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_directory(file, error)) return;
  throw Error(Fault::kStore, fmt::format("{}: is a folder; name a file with --db", file.string()));
}

void AddAttempts(Database& database, int64_t run_id, const RunRecord& run,
                 const Json::Array& documents, std::span<const AttemptData> collected) {
  std::map<AttemptKey, const Samples*> samples;
  for (const AttemptData& data : collected) {
    if (data.samples) samples[KeyOf(data.attempt)] = &*data.samples;
  }
  Statement attempt(database,
                    "INSERT INTO attempt (run_id, position, document) "
                    "VALUES (:run_id, :position, :document)");
  Statement sample(database, "INSERT INTO sample (attempt_id, document) VALUES (:id, :document)");
  for (size_t i = 0; i < documents.size(); ++i) {
    attempt.Bind(":run_id", run_id).Bind(":position", static_cast<int64_t>(i));
    attempt.Bind(":document", Text(documents[i])).Run();
    const auto found = samples.find(KeyOf(run.attempts[i].first));
    if (found == samples.end()) continue;
    sample.Bind(":id", database.LastRowId()).Bind(":document", Text(ToJson(*found->second))).Run();
  }
}

int64_t EnvironmentId(Database& database, const Key& key) {
  const std::string text = FieldsText(key), digest = DigestOf(key);
  Statement(database,
            "INSERT INTO environment (digest, fields) VALUES (:digest, :fields) "
            "ON CONFLICT DO NOTHING")
      .Bind(":digest", digest)
      .Bind(":fields", text)
      .Run();
  Statement find(database, "SELECT environment_id FROM environment WHERE digest = :digest");
  find.Bind(":digest", digest).Step();
  return find.Int(0);
}

void AddMetrics(Database& database, int64_t evidence_id, const EvidenceParts& parts) {
  Statement metric(database,
                   "INSERT INTO metric (evidence_id, position, name, document) "
                   "VALUES (:evidence_id, :position, :name, :document)");
  int64_t position = 0;
  for (const auto& [name, document] : parts.metrics) {
    metric.Bind(":evidence_id", evidence_id).Bind(":position", position++);
    metric.Bind(":name", name).Bind(":document", Text(document)).Run();
  }
  Statement observation(database,
                        "INSERT INTO observation (evidence_id, position, document) "
                        "VALUES (:evidence_id, :position, :document)");
  position = 0;
  for (const Json& document : parts.observations) {
    observation.Bind(":evidence_id", evidence_id).Bind(":position", position++);
    observation.Bind(":document", Text(document)).Run();
  }
}

void AddKernels(Database& database, int64_t evidence_id, const EvidenceParts& parts) {
  Statement kernel(database,
                   "INSERT INTO kernel (evidence_id, kind, position, document) "
                   "VALUES (:evidence_id, :kind, :position, :document)");
  for (const auto& [kind, rows] : parts.kernels) {
    int64_t position = 0;
    for (const Json& document : rows) {
      kernel.Bind(":evidence_id", evidence_id).Bind(":kind", kind).Bind(":position", position++);
      kernel.Bind(":document", Text(document)).Run();
    }
  }
}

void AddEvidence(Database& database, int64_t run_id, int64_t position, const Evidence& evidence) {
  const EvidenceParts parts = SplitEvidence(evidence);
  const int64_t environment_id = EnvironmentId(database, evidence.key);
  Statement(database,
            "INSERT INTO evidence (run_id, position, case_name, environment_id, detail) "
            "VALUES (:run_id, :position, :case_name, :environment_id, :detail)")
      .Bind(":run_id", run_id)
      .Bind(":position", position)
      .Bind(":case_name", evidence.case_name)
      .Bind(":environment_id", environment_id)
      .Bind(":detail", Text(parts.detail))
      .Run();
  const int64_t evidence_id = database.LastRowId();
  AddMetrics(database, evidence_id, parts);
  AddKernels(database, evidence_id, parts);
}

}  // namespace

Store::Store(const std::filesystem::path& file) {
  RefuseFolder(file);
  impl_ = std::make_unique<Impl>(file);
  Database& database = impl_->database;
  Migrate(database);
  UseWriteAheadLog(database);  // writes to the file: only now that it is known to be ours
  database.Execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

bool Store::AddRun(const RunRecord& run, const std::vector<Evidence>& cases,
                   std::span<const AttemptData> collected) {
  const RunParts parts = SplitRun(run);
  Database& database = impl_->database;
  Transaction transaction(database);
  Statement(database, "INSERT INTO run (id, record) VALUES (:id, :record) ON CONFLICT DO NOTHING")
      .Bind(":id", run.id)
      .Bind(":record", Text(parts.record))
      .Run();
  if (database.ChangedRows() == 0) return false;
  const int64_t run_id = database.LastRowId();
  AddAttempts(database, run_id, run, parts.attempts, collected);
  int64_t position = 0;
  for (const Evidence& evidence : cases) AddEvidence(database, run_id, position++, evidence);
  transaction.Commit();
  return true;
}

void Store::Checkpoint() { impl_->database.Number("PRAGMA wal_checkpoint(TRUNCATE)"); }

}  // namespace perfgate
