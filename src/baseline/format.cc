#include "baseline/format.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "base/json.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

bool AllEqual(const std::vector<int64_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

// One number if every step has it, else one a step.
Json PerStep(const std::vector<int64_t>& values) {
  if (!values.empty() && AllEqual(values)) return Json(values.front());
  return Json::ArrayOf(values);
}

Json FieldsJson(const std::map<std::string, std::string>& fields) {
  Json json{Json::Object{}};
  for (const auto& [name, value] : fields) json.Append(name, value);
  return json;
}

Json RowJson(const KernelRow& row) {
  Json json{Json::Object{}};
  json.Append("operator", row.op_path);
  json.Append("name", row.name);
  json.Append("device", row.device);
  json.Append("count", PerStep(row.count_per_step));
  const bool stable = AllEqual(row.count_per_step);
  json.Append("time_ns",
              stable ? Json(LowerMedian(row.time_ns_per_step)) : PerStep(row.time_ns_per_step));
  if (!row.bytes_per_step.empty()) json.Append("bytes", PerStep(row.bytes_per_step));
  if (row.grid != std::array<int64_t, 3>{}) json.Append("grid", Json::ArrayOf(row.grid));
  if (row.block != std::array<int64_t, 3>{}) json.Append("block", Json::ArrayOf(row.block));
  if (!row.streams.empty()) json.Append("streams", Json::ArrayOf(row.streams));
  if (!row.shapes.empty()) json.Append("shapes", ShapesToJson(row.shapes));
  if (!row.input_types.empty()) json.Append("input_types", row.input_types);
  if (row.in_graph) json.Append("in_graph", true);
  return json;
}

Json RowsJson(std::vector<KernelRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return std::tie(a.device, a.op_path, a.name) < std::tie(b.device, b.op_path, b.name);
  });
  Json json{Json::Array{}};
  for (const KernelRow& row : rows) json.Push(RowJson(row));
  return json;
}

// In the order of first appearance: that is how the shapes of two pieces of evidence are compared.
Json OperatorsJson(const std::vector<OperatorRow>& rows) {
  Json json{Json::Array{}};
  for (const OperatorRow& row : rows) {
    Json item{Json::Object{}};
    item.Append("name", row.name);
    item.Append("count", PerStep(row.count_per_step));
    if (!row.input_dims.empty()) item.Append("shapes", row.input_dims);
    json.Push(std::move(item));
  }
  return json;
}

Json CollectivesJson(const std::vector<CollectiveRow>& rows) {
  Json json{Json::Array{}};
  for (const CollectiveRow& row : rows) {
    Json item{Json::Object{}};
    item.Append("name", row.name);
    item.Append("dtype", row.dtype);
    item.Append("bytes", row.bytes ? Json(*row.bytes) : Json());
    item.Append("group_size", row.group_size);
    item.Append("count", PerStep(row.count_per_step));
    json.Push(std::move(item));
  }
  return json;
}

// False: each traced window is taken as one step.
bool HasSteps(const Evidence& evidence) {
  return std::any_of(evidence.steps.begin(), evidence.steps.end(),
                     [](int steps) { return steps > 0; });
}

// A metric that was unavailable is left out: absence says so. So is an infinite error: nothing can
// be compared with it.
Json MetricsJson(const Evidence& evidence) {
  Json json{Json::Object{}};
  for (const Metric& metric : Metrics()) {
    const MetricValue value = Summarise(evidence, metric.id);
    if (value.value && std::isinf(*value.value)) continue;
    if (value.value) {
      // Times are whole nanoseconds: half a nanosecond of a median is no information.
      const bool whole = metric.unit == Unit::kNanoseconds;
      json.Append(std::string(metric.name),
                  Json::Number(whole ? std::trunc(*value.value) : *value.value));
    } else if (value.unavailable.empty() && !value.per_step.empty()) {
      Json steps{Json::Array{}};
      for (const double step : value.per_step) steps.Push(Json::Number(step));
      json.Append(std::string(metric.name), std::move(steps));
    }
  }
  return json;
}

Json DocumentOf(const Baseline& baseline) {
  const Evidence& evidence = baseline.evidence;
  Json json{Json::Object{}};
  json.Append("schema", kBaselineSchema);
  json.Append("case", evidence.case_name);
  json.Append("reason", baseline.reason);
  json.Append("commit", baseline.commit);
  json.Append("date", baseline.date);
  if (!baseline.run.empty()) json.Append("run", baseline.run);
  json.Append("perfgate", baseline.perfgate_version);
  json.Append("extractor", evidence.extractor);
  json.Append("device", Json(Json::Object{{"kind", Json(evidence.device_kind)},
                                          {"name", Json(evidence.device_name)}}));
  json.Append("key", FieldsJson(evidence.key.fields));
  std::map<std::string, std::string> recorded = evidence.key.recorded;
  recorded.erase("host");  // differs on every CI machine and is nobody's business in a repository
  json.Append("recorded", FieldsJson(recorded));
  json.Append("steps", evidence.TotalSteps());
  if (!HasSteps(evidence)) json.Append("steps_marked", false);
  if (!evidence.fallback.empty()) {
    Json fallback{Json::Array{}};
    for (const Fallback& item : evidence.fallback) {
      fallback.Push(Json(Json::Object{{"what", Json(item.what)}, {"why", Json(item.why)}}));
    }
    json.Append("fallback", std::move(fallback));
  }
  if (!evidence.reference.empty()) json.Append("reference", evidence.reference);
  json.Append("metrics", MetricsJson(evidence));
  json.Append("kernels", RowsJson(evidence.kernels));
  json.Append("transfers", RowsJson(evidence.transfers));
  json.Append("syncs", RowsJson(evidence.syncs));
  if (!evidence.collectives.empty()) {
    json.Append("collectives", CollectivesJson(evidence.collectives));
  }
  json.Append("operators", OperatorsJson(evidence.operators));
  return json;
}

}  // namespace

std::string BaselineText(const Baseline& baseline) { return WriteJson(DocumentOf(baseline), 2); }

}  // namespace perfgate
