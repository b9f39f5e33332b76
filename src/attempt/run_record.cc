// run.json, schema "perfgate.run/1" (docs/schema/run.json): all of the cases, so that an out folder
// can be read on another machine without the suite.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "attempt/attempt.h"
#include "attempt/case_json.h"
#include "attempt/fields.h"
#include "attempt/paths.h"
#include "base/file.h"
#include "base/json.h"

namespace perfgate {
namespace {

constexpr std::string_view kRunSchema = "perfgate.run/1";
constexpr int64_t kRunAtMostBytes = int64_t{64} << 20;

// A run's id becomes part of commands and file names.
bool IsRunId(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_';
  });
}

Json WriteAttempt(const Attempt& attempt, const AttemptResult& result) {
  Json json;
  json.Set("case", attempt.case_name)
      .Set("side", ToString(attempt.side))
      .Set("pair", attempt.pair)
      .Set("process", attempt.process)
      .Set("phase", ToString(attempt.phase))
      .Set("dir", attempt.dir.generic_string())
      .Set("outcome", ToString(result.outcome))
      .Set("exit_code", result.exit_code)
      .Set("signal", result.signal)
      .Set("wall_ns", result.wall_ns)
      .Set("peak_rss_bytes", result.peak_rss_bytes)
      .Set("stderr_tail", result.stderr_tail)
      .Set("fault", result.fault);
  return json;
}

std::pair<Attempt, AttemptResult> ReadAttempt(const Fields& fields,
                                              const std::set<std::string>& case_names) {
  Attempt attempt;
  fields.Require("case");
  attempt.case_name = fields.Text("case");
  if (!case_names.contains(attempt.case_name)) fields.Fail("case", "expected the name of a case");
  attempt.side = ReadEnum(fields, "side", {Side::kHead, Side::kBase});
  attempt.pair = fields.SmallInt("pair");
  attempt.process = fields.SmallInt("process");
  attempt.phase = ReadEnum(fields, "phase", {Phase::kTraced, Phase::kTimed});
  fields.Require("dir");
  attempt.dir = fields.Text("dir");
  if (!StaysInside(attempt.dir)) fields.Fail("dir", "expected a path inside the out folder");
  AttemptResult result;
  fields.Require("outcome");
  result.outcome = ReadEnum(fields, "outcome",
                            {Outcome::kExited, Outcome::kSignalled, Outcome::kTimedOut,
                             Outcome::kNotStarted, Outcome::kInterrupted});
  result.exit_code = fields.SmallInt("exit_code");
  result.signal = fields.SmallInt("signal");
  result.wall_ns = fields.Int("wall_ns");
  result.peak_rss_bytes = fields.Int("peak_rss_bytes");
  result.stderr_tail = fields.Text("stderr_tail");
  result.fault = fields.Text("fault");
  const bool well = result.outcome == Outcome::kExited && result.exit_code == 0;
  if (!well && result.fault.empty()) fields.Fail("fault", "expected what went wrong");
  return {std::move(attempt), std::move(result)};
}

Json WriteRounds(const std::vector<PairRound>& rounds) {
  Json list{Json::Array{}};
  for (const PairRound& round : rounds) {
    Json json;
    json.Set("case", round.case_name)
        .Set("round", round.round)
        .Set("first_pair", round.first_pair)
        .Set("pairs", round.pairs);
    list.Push(std::move(json));
  }
  return list;
}

std::vector<PairRound> ReadRounds(const Fields& fields) {
  std::vector<PairRound> rounds;
  for (const Fields& item : fields.Objects("rounds")) {
    item.Require("case");
    rounds.push_back({item.Text("case"), item.SmallInt("round"), item.SmallInt("first_pair"),
                      item.SmallInt("pairs")});
  }
  return rounds;
}

Json WriteAgainst(const AgainstRecord& against, const std::vector<PairRound>& rounds) {
  Json json;
  json.Set("checkout", against.checkout.generic_string())
      .Set("commit", against.commit)
      .Set("dirty", against.dirty)
      .Set("budget_ns", against.budget_ns)
      .Set("rounds", WriteRounds(rounds))
      .Set("notes", Json::ArrayOf(against.notes));
  return json;
}

AgainstRecord ReadAgainst(const Fields& fields) {
  AgainstRecord against;
  against.checkout = fields.Text("checkout");
  against.commit = fields.Text("commit");
  against.dirty = fields.Bool("dirty");
  against.budget_ns = fields.Int("budget_ns");
  against.notes = fields.Texts("notes");
  return against;
}

void ReadCases(const Fields& fields, RunRecord& run) {
  std::set<std::string> names;
  for (const Fields& item : fields.Objects("cases")) {
    run.cases.push_back(ReadCase(item));
    if (!names.insert(run.cases.back().name).second) item.Fail("name", "stands twice");
  }
  for (const Fields& item : fields.Objects("attempts")) {
    run.attempts.push_back(ReadAttempt(item, names));
  }
  for (const Fields& item : fields.Objects("prepare_faults")) {
    run.prepare_faults.emplace_back(item.Text("workload"), item.Text("fault"));
  }
}

}  // namespace

RunRecord RunRecordFromJson(const Json& json, const std::string& name) {
  const Fields fields(json, name);
  fields.RequireSchema(kRunSchema);
  RunRecord run;
  fields.Require("id");
  run.id = fields.Text("id");
  if (!IsRunId(run.id)) fields.Fail("id", "expected letters, digits, - and _, 64 at most");
  run.suite = fields.Text("suite");
  run.suite_file = fields.Text("suite_file");
  run.started = fields.Text("started");
  run.perfgate_version = fields.Text("perfgate_version");
  run.commit = fields.Text("commit");
  run.dirty = fields.Bool("dirty");
  run.branch = fields.Text("branch");
  run.quick = fields.Bool("quick");
  run.seed = ReadSeed(fields);
  run.machine = fields.TextMap("machine");
  fields.Require("cases");
  ReadCases(fields, run);
  run.finished = fields.Bool("finished");
  run.interrupted_by = fields.SmallInt("interrupted_by");
  if (fields.Has("against")) run.against = ReadAgainst(fields.Object("against"));
  run.rounds = ReadRounds(run.against ? fields.Object("against") : fields);
  return run;
}

Json ToJson(const RunRecord& run) {
  Json cases{Json::Array{}}, attempts{Json::Array{}}, faults{Json::Array{}};
  for (const Case& item : run.cases) cases.Push(WriteCase(item));
  for (const auto& [attempt, result] : run.attempts) attempts.Push(WriteAttempt(attempt, result));
  for (const auto& [workload, fault] : run.prepare_faults) {
    Json json;
    json.Set("workload", workload).Set("fault", fault);
    faults.Push(std::move(json));
  }
  Json json;
  json.Set("schema", kRunSchema)
      .Set("id", run.id)
      .Set("suite", run.suite)
      .Set("suite_file", run.suite_file.string())
      .Set("started", run.started)
      .Set("perfgate_version", run.perfgate_version)
      .Set("commit", run.commit)
      .Set("dirty", run.dirty)
      .Set("branch", run.branch)
      .Set("quick", run.quick)
      .Set("seed", fmt::format("{}", run.seed))
      .Set("finished", run.finished)
      .Set("interrupted_by", run.interrupted_by)
      .Set("machine", ToJson(run.machine))
      .Set("cases", std::move(cases))
      .Set("attempts", std::move(attempts))
      .Set("prepare_faults", std::move(faults));
  if (run.against) {
    json.Set("against", WriteAgainst(*run.against, run.rounds));
  } else if (!run.rounds.empty()) {
    json.Set("rounds", WriteRounds(run.rounds));
  }
  return json;
}

RunRecord ReadRunRecord(const std::filesystem::path& out_dir) {
  const std::filesystem::path file = out_dir / "run.json";
  RequireRegularFile(file);
  return RunRecordFromJson(ParseJson(ReadFile(file, kRunAtMostBytes), file.string()),
                           file.string());
}

void WriteRunRecord(const RunRecord& run, const std::filesystem::path& out_dir) {
  WriteFileAtomically(out_dir / "run.json", WriteJson(ToJson(run), 2));
}

}  // namespace perfgate
