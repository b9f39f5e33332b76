// The one JSON form of evidence, written.
#include <string>
#include <utility>

#include "evidence/evidence.h"
#include "evidence/outputs.h"
#include "evidence/schema.h"
#include "evidence/timed_series.h"

namespace perfgate {
namespace {

Json Numbers(const std::vector<double>& values) {
  Json::Array array;
  for (const double value : values) array.push_back(Json::Number(value));
  return Json(std::move(array));
}

Json Texts(const std::map<std::string, std::string>& map) {
  Json object{Json::Object{}};
  for (const auto& [name, value] : map) object.Append(name, value);
  return object;
}

Json ToJson(TensorCore tensor_core) {
  if (tensor_core == TensorCore::kUnknown) return Json();
  return Json(tensor_core == TensorCore::kYes);
}

Json ByRank(const std::map<int, double>& values) {
  Json object{Json::Object{}};
  for (const auto& [rank, value] : values) {
    object.Append(std::to_string(rank), Json::Number(value));
  }
  return object;
}

Json MetricsJson(const Evidence& evidence) {
  Json object{Json::Object{}};
  for (const Metric& metric : Metrics()) {
    const MetricValue summary = Summarise(evidence, metric.id);
    Json entry{Json::Object{}};
    entry.Append("value", summary.value ? Json::Number(*summary.value) : Json());
    entry.Append("per_step", Numbers(summary.per_step));
    if (summary.by_rank.size() > 1) entry.Append("by_rank", ByRank(summary.by_rank));
    entry.Append("stable", summary.stable);
    entry.Append("unit", ToString(metric.unit));
    entry.Append("unavailable", summary.unavailable.empty() ? Json() : Json(summary.unavailable));
    object.Append(std::string(metric.name), std::move(entry));
  }
  return object;
}

Json Observations(const Evidence& evidence) {
  Json::Array array;
  for (const Observation& observation : evidence.values) {
    Json entry{Json::Object{}};
    entry.Append("metric", Info(observation.metric).name);
    entry.Append("side", ToString(observation.side));
    entry.Append("pair", observation.pair);
    entry.Append("process", observation.process);
    if (!evidence.ranks.empty()) entry.Append("rank", observation.rank);
    entry.Append("per_step", Numbers(observation.per_step));
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

template <typename Use>
Json UsesToJson(const std::vector<Use>& uses, const char* key, std::string Use::*text) {
  Json::Array array;
  for (const Use& use : uses) {
    Json entry{Json::Object{}};
    entry.Append(key, use.*text);
    entry.Append("count", use.count);
    entry.Append("time_ns", use.time_ns);
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

Json PlacesToJson(const std::vector<PlaceUse>& places) {
  return UsesToJson(places, "place", &PlaceUse::place);
}

Json Row(const KernelRow& row) {
  Json entry{Json::Object{}};
  entry.Append("name", row.name);
  entry.Append("canonical", row.info.canonical);
  entry.Append("family", ToString(row.info.family));
  entry.Append("ops", Json::ArrayOf(row.info.ops));
  entry.Append("tensor_core", ToJson(row.info.tensor_core));
  entry.Append("device", row.device);
  entry.Append("operator", row.Operator());
  entry.Append("op_path", row.op_path);
  entry.Append("count", row.Count());
  entry.Append("count_per_step", Json::ArrayOf(row.count_per_step));
  entry.Append("time_ns_per_step", Json::ArrayOf(row.time_ns_per_step));
  if (!row.bytes_per_step.empty()) {
    entry.Append("bytes_per_step", Json::ArrayOf(row.bytes_per_step));
  }
  entry.Append("grid", Json::ArrayOf(row.grid));
  entry.Append("block", Json::ArrayOf(row.block));
  entry.Append("streams", Json::ArrayOf(row.streams));
  if (!row.shapes.empty()) entry.Append("shapes", ShapesToJson(row.shapes));
  if (!row.input_types.empty()) entry.Append("input_types", row.input_types);
  if (!row.modules.empty()) entry.Append("modules", PlacesToJson(row.modules));
  if (!row.annotations.empty()) entry.Append("annotations", PlacesToJson(row.annotations));
  if (!row.backward_of.empty()) entry.Append("backward_of", row.backward_of);
  entry.Append("in_graph", row.in_graph);
  return entry;
}

Json Rows(const std::vector<KernelRow>& rows) {
  Json::Array array;
  for (const KernelRow& row : rows) array.push_back(Row(row));
  return Json(std::move(array));
}

Json IdleJson(const IdleTimes& idle) {
  Json json{Json::Object{}};
  json.Append("launch_ns", Json::ArrayOf(idle.launch_ns));
  json.Append("sync_ns", Json::ArrayOf(idle.sync_ns));
  json.Append("queued_ns", Json::ArrayOf(idle.queued_ns));
  json.Append("queue_depth", Numbers(idle.queue_depth));
  return json;
}

Json Operators(const Evidence& evidence) {
  Json::Array array;
  for (const OperatorRow& row : evidence.operators) {
    Json entry{Json::Object{}};
    entry.Append("name", row.name);
    entry.Append("count_per_step", Json::ArrayOf(row.count_per_step));
    entry.Append("input_dims", row.input_dims);
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

Json Ranks(const Evidence& evidence) {
  Json::Array array;
  for (const Rank& rank : evidence.ranks) {
    Json entry{Json::Object{}};
    entry.Append("process", rank.process);
    entry.Append("rank", rank.rank);
    entry.Append("world_size", rank.world_size);
    entry.Append("device", rank.device);
    entry.Append("gpu", rank.gpu);
    entry.Append("gpu_uuid", rank.gpu_uuid);
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

Json Attempts(const Evidence& evidence) {
  Json::Array array;
  for (const AttemptSummary& summary : evidence.attempts) {
    Json entry{Json::Object{}};
    entry.Append("side", ToString(summary.attempt.side));
    entry.Append("pair", summary.attempt.pair);
    entry.Append("process", summary.attempt.process);
    entry.Append("phase", ToString(summary.attempt.phase));
    entry.Append("dir", summary.attempt.dir.generic_string());
    entry.Append("outcome", ToString(summary.result.outcome));
    entry.Append("exit_code", summary.result.exit_code);
    entry.Append("signal", summary.result.signal);
    entry.Append("wall_ns", summary.result.wall_ns);
    entry.Append("peak_rss_bytes", summary.result.peak_rss_bytes);
    entry.Append("stderr_tail", summary.result.stderr_tail);
    entry.Append("fault", summary.result.fault);
    entry.Append("trace_files", Json::ArrayOf(summary.trace_files));
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

Json Fallbacks(const Evidence& evidence) {
  Json::Array array;
  for (const Fallback& fallback : evidence.fallback) {
    Json entry{Json::Object{}};
    entry.Append("what", fallback.what);
    entry.Append("why", fallback.why);
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

}  // namespace

Json CollectivesToJson(const std::vector<CollectiveRow>& rows) {
  Json::Array array;
  for (const CollectiveRow& row : rows) {
    Json entry{Json::Object{}};
    entry.Append("name", row.name);
    entry.Append("dtype", row.dtype);
    entry.Append("bytes", row.bytes ? Json(*row.bytes) : Json());
    entry.Append("group_size", row.group_size);
    entry.Append("count_per_step", Json::ArrayOf(row.count_per_step));
    entry.Append("time_ns_per_step", Json::ArrayOf(row.time_ns_per_step));
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

Json ShapesToJson(const std::vector<ShapeUse>& shapes) {
  return UsesToJson(shapes, "input_dims", &ShapeUse::input_dims);
}

Json ToJson(const Evidence& evidence) {
  int steps = 0;
  for (const int count : evidence.steps) steps += count;
  Json device{Json::Object{}};
  device.Append("kind", evidence.device_kind);
  device.Append("name", evidence.device_name);
  Json json{Json::Object{}};
  json.Append("schema", kEvidenceSchema);
  json.Append("extractor", evidence.extractor);
  json.Append("case", evidence.case_name);
  json.Append("complete", evidence.Complete());
  json.Append("incomplete_because", Json::ArrayOf(evidence.incomplete_because));
  json.Append("device", std::move(device));
  json.Append("steps", steps);
  json.Append("steps_by_process", Json::ArrayOf(evidence.steps));
  json.Append("ranks", Ranks(evidence));
  json.Append("key", Texts(evidence.key.fields));
  json.Append("recorded", Texts(evidence.key.recorded));
  json.Append("metrics", MetricsJson(evidence));
  json.Append("observations", Observations(evidence));
  json.Append("kernels", Rows(evidence.kernels));
  json.Append("transfers", Rows(evidence.transfers));
  json.Append("syncs", Rows(evidence.syncs));
  json.Append("collectives", CollectivesToJson(evidence.collectives));
  json.Append("operators", Operators(evidence));
  json.Append("idle", evidence.idle.empty() ? Json() : IdleJson(evidence.idle));
  json.Append("pre_window", evidence.pre_window);
  json.Append("notes", Json::ArrayOf(evidence.notes));
  json.Append("explain", Json::ArrayOf(evidence.explain));
  json.Append("attempts", Attempts(evidence));
  json.Append("fallback", Fallbacks(evidence));
  json.Append("timed_series", TimedSeriesToJson(evidence.timed_series));
  json.Append("notes_on_times", Json::ArrayOf(evidence.notes_on_times));
  json.Append("reference", evidence.reference);
  json.Append("outputs", OutputsToJson(evidence.outputs));
  json.Append("not_steady", evidence.not_steady);
  json.Append("dispatch_not_steady", evidence.dispatch_not_steady);
  json.Append("plant", evidence.plant);
  if (evidence.base_side) json.Append("base_side", ToJson(*evidence.base_side));
  return json;
}

}  // namespace perfgate
