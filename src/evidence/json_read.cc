// The one JSON form of evidence, read. What is computed from names and observations is not read but
// computed again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "evidence/evidence.h"
#include "evidence/outputs.h"
#include "evidence/schema.h"
#include "evidence/timed_series.h"

namespace perfgate {
namespace {

// Of all processes: far above what is ever traced, and no sum over them overflows.
constexpr size_t kMostSteps = 100'000'000;

[[noreturn]] void Refuse(const std::string& what) {
  throw Error(Fault::kInput, "evidence: " + what);
}

int AsInt(const Json& json) {
  const int64_t value = json.AsInt();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    Refuse(fmt::format("{} is out of range", value));
  }
  return static_cast<int>(value);
}

int64_t CountAt(const Json& json, std::string_view key) { return AsCount(json.At(key), key); }

int SmallCountAt(const Json& json, std::string_view key) {
  return static_cast<int>(AsCount(json.At(key), key, std::numeric_limits<int>::max()));
}

std::vector<int64_t> CountsAt(const Json& json, std::string_view key) {
  std::vector<int64_t> values;
  for (const Json& item : json.At(key).AsArray()) values.push_back(AsCount(item, key));
  return values;
}

// Numbers that need not be whole, none below 0.
std::vector<double> NumbersAt(const Json& json, std::string_view key) {
  std::vector<double> values;
  for (const Json& item : json.At(key).AsArray()) {
    const double value = item.AsNumber();
    if (value < 0) Refuse(fmt::format("{}: expected a number from 0 on, found {}", key, value));
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> Texts(const Json& json) {
  std::vector<std::string> values;
  for (const Json& item : json.AsArray()) values.push_back(item.AsString());
  return values;
}

std::map<std::string, std::string> TextMap(const Json& json) {
  std::map<std::string, std::string> map;
  for (const auto& [name, value] : json.AsObject()) map[name] = value.AsString();
  return map;
}

std::array<int64_t, 3> ThreeAt(const Json& json, std::string_view key) {
  const std::vector<int64_t> values = CountsAt(json, key);
  if (values.size() != 3) Refuse(fmt::format("{} is not three numbers", key));
  return {values[0], values[1], values[2]};
}

template <typename T>
T OneOf(const std::string& text, std::initializer_list<T> values, std::string_view what) {
  for (const T value : values) {
    if (ToString(value) == text) return value;
  }
  Refuse(fmt::format("{} '{}' is not known", what, Printable(text)));
}

Side SideOf(const Json& json) {
  return OneOf(json.At("side").AsString(), {Side::kHead, Side::kBase}, "side");
}

// All steps of all processes, as the per-step lists must have.
std::vector<int64_t> PerStep(const Json& json, std::string_view key, size_t steps) {
  std::vector<int64_t> values = CountsAt(json, key);
  if (values.size() != steps) {
    Refuse(fmt::format("{} has {} numbers for {} steps", key, values.size(), steps));
  }
  return values;
}

template <typename Use>
std::vector<Use> UsesFromJson(const Json& json, std::string_view key) {
  std::vector<Use> uses;
  for (const Json& item : json.AsArray()) {
    uses.push_back({item.At(key).AsString(), CountAt(item, "count"), CountAt(item, "time_ns")});
  }
  return uses;
}

std::vector<PlaceUse> PlacesFromJson(const Json& json) {
  return UsesFromJson<PlaceUse>(json, "place");
}

KernelRow ReadRow(const Json& json, size_t steps) {
  KernelRow row;
  row.name = json.At("name").AsString();
  row.op_path = json.At("op_path").AsString();
  row.device = json.At("device").AsString();
  row.count_per_step = PerStep(json, "count_per_step", steps);
  row.time_ns_per_step = PerStep(json, "time_ns_per_step", steps);
  if (json.Find("bytes_per_step") != nullptr) {
    row.bytes_per_step = PerStep(json, "bytes_per_step", steps);
  }
  row.grid = ThreeAt(json, "grid");
  row.block = ThreeAt(json, "block");
  // -1: the trace does not say it.
  for (const Json& stream : json.At("streams").AsArray()) row.streams.push_back(stream.AsInt());
  // Absent where the trace does not say, and from what an earlier perfgate stored.
  if (const Json* shapes = json.Find("shapes")) row.shapes = ShapesFromJson(*shapes);
  if (const Json* types = json.Find("input_types")) row.input_types = types->AsString();
  if (const Json* modules = json.Find("modules")) row.modules = PlacesFromJson(*modules);
  if (const Json* annotations = json.Find("annotations")) {
    row.annotations = PlacesFromJson(*annotations);
  }
  if (const Json* forward = json.Find("backward_of")) row.backward_of = forward->AsString();
  row.in_graph = json.At("in_graph").AsBool();
  return row;
}

std::vector<KernelRow> ReadRows(const Json& json, size_t steps) {
  std::vector<KernelRow> rows;
  for (const Json& item : json.AsArray()) rows.push_back(ReadRow(item, steps));
  return rows;
}

// An error against a reference may be infinite, and JSON has no word for that but null.
std::vector<double> ValuesAt(const Json& json, MetricId metric) {
  const Json::Array& values = json.At("per_step").AsArray();
  const bool infinite = Info(metric).worst_process && values.size() == 1 && values[0].IsNull();
  if (infinite) return {std::numeric_limits<double>::infinity()};
  return NumbersAt(json, "per_step");
}

void ReadObservations(const Json& json, Evidence& evidence) {
  for (const Json& item : json.AsArray()) {
    // A metric of a newer perfgate is no fault of this evidence.
    const std::optional<MetricId> metric = FindMetric(item.At("metric").AsString());
    if (!metric) continue;
    const int rank = item.Find("rank") == nullptr ? 0 : SmallCountAt(item, "rank");
    evidence.values.push_back({*metric, SideOf(item), SmallCountAt(item, "pair"),
                               SmallCountAt(item, "process"), ValuesAt(item, *metric), rank});
  }
}

void ReadUnavailable(const Json& json, Evidence& evidence) {
  for (const auto& [name, entry] : json.AsObject()) {
    const std::optional<MetricId> metric = FindMetric(name);
    const Json& reason = entry.At("unavailable");
    if (metric && !reason.IsNull()) evidence.unavailable[*metric] = reason.AsString();
  }
}

void ReadOperators(const Json& json, size_t steps, Evidence& evidence) {
  for (const Json& item : json.AsArray()) {
    OperatorRow row;
    row.name = item.At("name").AsString();
    row.kind = ClassifyOperator(row.name);
    row.count_per_step = PerStep(item, "count_per_step", steps);
    row.input_dims = item.At("input_dims").AsString();
    evidence.operators.push_back(std::move(row));
  }
}

void ReadRanks(const Json& json, Evidence& evidence) {
  for (const Json& item : json.AsArray()) {
    Rank rank;
    rank.process = SmallCountAt(item, "process");
    rank.rank = SmallCountAt(item, "rank");
    rank.world_size = SmallCountAt(item, "world_size");
    rank.device = item.At("device").AsString();
    rank.gpu = item.At("gpu").AsString();
    rank.gpu_uuid = item.At("gpu_uuid").AsString();
    evidence.ranks.push_back(std::move(rank));
  }
}

void ReadIdle(const Json& json, size_t steps, Evidence& evidence) {
  evidence.idle.launch_ns = PerStep(json, "launch_ns", steps);
  evidence.idle.sync_ns = PerStep(json, "sync_ns", steps);
  evidence.idle.queued_ns = PerStep(json, "queued_ns", steps);
  evidence.idle.queue_depth = NumbersAt(json, "queue_depth");
  if (evidence.idle.queue_depth.size() != steps) Refuse("queue_depth has not one number a step");
}

void ReadAttempts(const Json& json, Evidence& evidence) {
  for (const Json& item : json.AsArray()) {
    AttemptSummary summary;
    summary.attempt.case_name = evidence.case_name;
    summary.attempt.side = SideOf(item);
    summary.attempt.pair = SmallCountAt(item, "pair");
    summary.attempt.process = SmallCountAt(item, "process");
    summary.attempt.phase =
        OneOf(item.At("phase").AsString(), {Phase::kTimed, Phase::kTraced}, "phase");
    summary.attempt.dir = item.At("dir").AsString();
    summary.result.outcome = OneOf(item.At("outcome").AsString(),
                                   {Outcome::kExited, Outcome::kSignalled, Outcome::kTimedOut,
                                    Outcome::kNotStarted, Outcome::kInterrupted},
                                   "outcome");
    summary.result.exit_code = AsInt(item.At("exit_code"));
    summary.result.signal = AsInt(item.At("signal"));
    summary.result.wall_ns = CountAt(item, "wall_ns");
    summary.result.peak_rss_bytes = CountAt(item, "peak_rss_bytes");
    summary.result.stderr_tail = item.At("stderr_tail").AsString();
    summary.result.fault = item.At("fault").AsString();
    summary.trace_files = Texts(item.At("trace_files"));
    evidence.attempts.push_back(std::move(summary));
  }
}

size_t ReadSteps(const Json& json, Evidence& evidence) {
  size_t steps = 0;
  for (const int64_t count : CountsAt(json, "steps_by_process")) {
    steps += static_cast<size_t>(std::max<int64_t>(count, 1));
    if (steps > kMostSteps) Refuse(fmt::format("more than {} steps", kMostSteps));
    evidence.steps.push_back(static_cast<int>(count));
  }
  return steps;
}

}  // namespace

std::vector<CollectiveRow> CollectivesFromJson(const Json& json, size_t steps) {
  std::vector<CollectiveRow> rows;
  for (const Json& item : json.AsArray()) {
    CollectiveRow row;
    row.name = item.At("name").AsString();
    row.dtype = item.At("dtype").AsString();
    if (!item.At("bytes").IsNull()) row.bytes = CountAt(item, "bytes");
    row.group_size = SmallCountAt(item, "group_size");
    row.count_per_step = PerStep(item, "count_per_step", steps);
    row.time_ns_per_step = PerStep(item, "time_ns_per_step", steps);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ShapeUse> ShapesFromJson(const Json& json) {
  return UsesFromJson<ShapeUse>(json, "input_dims");
}

Evidence EvidenceFromJson(const Json& json) {
  if (const std::string& schema = json.At("schema").AsString(); schema != kEvidenceSchema) {
    Refuse(fmt::format("schema is '{}', this perfgate reads '{}'", Printable(schema),
                       kEvidenceSchema));
  }
  Evidence evidence;
  evidence.extractor = AsInt(json.At("extractor"));
  evidence.case_name = json.At("case").AsString();
  evidence.device_kind = json.At("device").At("kind").AsString();
  evidence.device_name = json.At("device").At("name").AsString();
  evidence.incomplete_because = Texts(json.At("incomplete_because"));
  evidence.key.fields = TextMap(json.At("key"));
  evidence.key.recorded = TextMap(json.At("recorded"));
  const size_t steps = ReadSteps(json, evidence);
  ReadObservations(json.At("observations"), evidence);
  ReadUnavailable(json.At("metrics"), evidence);
  evidence.kernels = ReadRows(json.At("kernels"), steps);
  evidence.transfers = ReadRows(json.At("transfers"), steps);
  evidence.syncs = ReadRows(json.At("syncs"), steps);
  ReadOperators(json.At("operators"), steps, evidence);
  // Absent from what an earlier perfgate stored.
  if (const Json* ranks = json.Find("ranks")) ReadRanks(*ranks, evidence);
  if (const Json* rows = json.Find("collectives")) {
    evidence.collectives = CollectivesFromJson(*rows, steps);
  }
  if (const Json* idle = json.Find("idle"); idle != nullptr && !idle->IsNull()) {
    ReadIdle(*idle, steps, evidence);
  }
  evidence.pre_window = CountAt(json, "pre_window");
  evidence.notes = Texts(json.At("notes"));
  evidence.explain = Texts(json.At("explain"));
  ReadAttempts(json.At("attempts"), evidence);
  for (const Json& item : json.At("fallback").AsArray()) {
    evidence.fallback.push_back({item.At("what").AsString(), item.At("why").AsString()});
  }
  // Absent from what an earlier perfgate stored.
  if (const Json* reference = json.Find("reference")) evidence.reference = reference->AsString();
  if (const Json* outputs = json.Find("outputs")) evidence.outputs = OutputsFromJson(*outputs);
  if (const Json* not_steady = json.Find("not_steady"))
    evidence.not_steady = not_steady->AsString();
  if (const Json* not_steady = json.Find("dispatch_not_steady"))
    evidence.dispatch_not_steady = not_steady->AsString();
  if (const Json* notes = json.Find("notes_on_times")) evidence.notes_on_times = Texts(*notes);
  if (const Json* series = json.Find("timed_series"))
    evidence.timed_series = TimedSeriesFromJson(*series);
  evidence.plant = json.At("plant").AsString();
  if (const Json* base = json.Find("base_side")) {
    evidence.base_side = std::make_shared<const Evidence>(EvidenceFromJson(*base));
  }
  DecodeRows(evidence);
  return evidence;
}

}  // namespace perfgate
