#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "baseline/format.h"

namespace perfgate {
namespace {

constexpr std::string_view kSchemaPrefix = "perfgate.baseline/";
// Bounds what a hostile file can make the reader allocate: rows times steps.
constexpr int64_t kMostSteps = 100'000;
constexpr int64_t kMostCells = 50'000'000;
// Calls or launches of one row in a step: no machine does more, and sums over all rows stay exact.
constexpr int64_t kMostCount = 1'000'000'000;
// The largest whole number up to which every whole number is a double.
constexpr double kMostExact = 9'007'199'254'740'992;

std::map<std::string, std::string> ReadFields(const Json& json) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : json.AsObject()) fields[name] = value.AsString();
  return fields;
}

std::vector<int64_t> ReadPerStep(const Json& row, std::string_view key, int64_t steps,
                                 int64_t most = INT64_MAX) {
  const Json& json = row.At(key);
  if (!json.IsArray()) return std::vector<int64_t>(steps, AsCount(json, key, most));
  std::vector<int64_t> values;
  for (const Json& item : json.AsArray()) values.push_back(AsCount(item, key, most));
  if (static_cast<int64_t>(values.size()) != steps) {
    throw Error(Fault::kInput, fmt::format("{} of a row has {} where `steps` says {}", key,
                                           Plural(values.size(), "step"), steps));
  }
  return values;
}

std::array<int64_t, 3> ReadTriple(const Json& row, std::string_view key) {
  std::array<int64_t, 3> triple{};
  const Json* json = row.Find(key);
  if (json == nullptr) return triple;
  if (json->AsArray().size() != 3) {
    throw Error(Fault::kInput, fmt::format("{}: expected three numbers", key));
  }
  for (size_t i = 0; i < 3; ++i) triple[i] = AsCount(json->AsArray()[i], key);
  return triple;
}

std::string TextOr(const Json& json, std::string_view key, std::string fallback = "") {
  const Json* value = json.Find(key);
  return value == nullptr ? fallback : value->AsString();
}

void CheckSize(const Json& rows, int64_t steps) {
  if (static_cast<int64_t>(rows.AsArray().size()) * steps > kMostCells) {
    throw Error(Fault::kInput, "too many rows for a baseline");
  }
}

std::vector<KernelRow> ReadRows(const Json& json, int64_t steps) {
  CheckSize(json, steps);
  std::vector<KernelRow> rows;
  for (const Json& item : json.AsArray()) {
    KernelRow row;
    row.op_path = item.At("operator").AsString();
    row.name = item.At("name").AsString();
    row.device = item.At("device").AsString();
    row.count_per_step = ReadPerStep(item, "count", steps, kMostCount);
    row.time_ns_per_step = ReadPerStep(item, "time_ns", steps);
    if (item.Find("bytes") != nullptr) row.bytes_per_step = ReadPerStep(item, "bytes", steps);
    row.grid = ReadTriple(item, "grid");
    row.block = ReadTriple(item, "block");
    if (const Json* streams = item.Find("streams")) {
      for (const Json& stream : streams->AsArray()) row.streams.push_back(stream.AsInt());
    }
    if (const Json* shapes = item.Find("shapes")) row.shapes = ShapesFromJson(*shapes);
    row.input_types = TextOr(item, "input_types");
    if (const Json* in_graph = item.Find("in_graph")) row.in_graph = in_graph->AsBool();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<OperatorRow> ReadOperators(const Json& json, int64_t steps) {
  CheckSize(json, steps);
  std::vector<OperatorRow> rows;
  for (const Json& item : json.AsArray()) {
    OperatorRow row;
    row.name = item.At("name").AsString();
    row.kind = ClassifyOperator(row.name);
    row.count_per_step = ReadPerStep(item, "count", steps, kMostCount);
    row.input_dims = TextOr(item, "shapes");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CollectiveRow> ReadCollectives(const Json& json, int64_t steps) {
  CheckSize(json, steps);
  std::vector<CollectiveRow> rows;
  for (const Json& item : json.AsArray()) {
    CollectiveRow row;
    row.name = item.At("name").AsString();
    row.dtype = item.At("dtype").AsString();
    if (!item.At("bytes").IsNull()) row.bytes = AsCount(item.At("bytes"), "bytes");
    row.group_size = static_cast<int>(
        AsCount(item.At("group_size"), "group_size", std::numeric_limits<int>::max()));
    row.count_per_step = ReadPerStep(item, "count", steps, kMostCount);
    row.time_ns_per_step.resize(static_cast<size_t>(steps));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Counts and bytes are whole; times and errors may be fractions. None is below 0.
double ReadValue(const Json& json, const Metric& metric) {
  const double value = json.AsNumber();
  const bool whole = metric.exactness == Exactness::kExact && metric.unit != Unit::kRatio;
  if (!(value >= 0) || (whole && (value != std::trunc(value) || value > kMostExact))) {
    throw Error(Fault::kInput, fmt::format("metric {} is {}, which is no {}", metric.name, value,
                                           whole ? "count" : "number from 0 on"));
  }
  return value;
}

// Names that this perfgate does not know belong to a newer one and are left out.
void ReadMetrics(const Json& json, Evidence* evidence) {
  for (const auto& [name, value] : json.AsObject()) {
    const std::optional<MetricId> id = FindMetric(name);
    if (!id) continue;
    Observation observation{.metric = *id, .per_step = {}};
    if (value.IsArray()) {
      for (const Json& step : value.AsArray()) {
        observation.per_step.push_back(ReadValue(step, Info(*id)));
      }
    } else {
      observation.per_step.push_back(ReadValue(value, Info(*id)));
    }
    if (observation.per_step.empty()) throw Error(Fault::kInput, name + " has no value");
    evidence->values.push_back(std::move(observation));
  }
  for (const Metric& metric : Metrics()) {
    if (json.Find(metric.name) == nullptr) {
      evidence->unavailable[metric.id] =
          fmt::format("the baseline does not have it (it needs {})", metric.needs);
    }
  }
}

// The rows of one device kind must add up to the metric that counts them, step by step: a file that
// lost rows, by a bad merge or by hand, would make every comparison of kernels pass.
void CheckRowsAddUp(const Evidence& evidence, MetricId id, bool on_cpu) {
  const MetricValue counted = Summarise(evidence, id);
  if (!counted.unavailable.empty()) return;
  const auto steps = static_cast<size_t>(evidence.TotalSteps());
  if (counted.per_step.size() != 1 && counted.per_step.size() != steps) {
    throw Error(Fault::kInput, fmt::format("metric {} has {} where `steps` says {}", Info(id).name,
                                           Plural(counted.per_step.size(), "step"), steps));
  }
  std::vector<int64_t> sums(steps);
  for (const KernelRow& row : evidence.kernels) {
    if (row.device.starts_with("cpu") != on_cpu) continue;
    for (size_t step = 0; step < steps; ++step) {
      sums[step] = SaturatingAdd(sums[step], row.count_per_step[step]);
    }
  }
  for (size_t step = 0; step < steps; ++step) {
    const double says = counted.per_step.size() == 1 ? counted.per_step[0] : counted.per_step[step];
    if (static_cast<double>(sums[step]) == says) continue;
    throw Error(Fault::kInput,
                fmt::format("the rows of `kernels` add up to {} a step, but metric {} is {}: "
                            "restore the file, or accept the baseline again",
                            sums[step], Info(id).name, says));
  }
}

void CheckSchema(const Json& json) {
  const Json* schema = json.Find("schema");
  if (schema == nullptr || !schema->IsString() || !schema->AsString().starts_with(kSchemaPrefix)) {
    throw Error(Fault::kInput, "this is no baseline file: `schema` is not \"perfgate.baseline/1\"");
  }
  if (schema->AsString() != kBaselineSchema) {
    throw Error(Fault::kInput,
                fmt::format("schema \"{}\" is from a newer perfgate (this one reads \"{}\"): "
                            "update perfgate, or accept the baseline again",
                            Printable(schema->AsString()), kBaselineSchema));
  }
}

// What git leaves of a merge that it could not decide. No choice of lines is right: the counts of a
// file belong together, and neither side was measured on the merged code.
void RefuseConflict(const std::string& text, const std::filesystem::path& file) {
  if (!ParseConflict(text)) return;
  throw Error(Fault::kInput, file.string() +
                                 ": holds both sides of a merge, and is no baseline: perfgate "
                                 "baseline verify says what they are and mends it");
}

Baseline FromDocument(const Json& json) {
  CheckSchema(json);
  Baseline baseline;
  baseline.reason = json.At("reason").AsString();
  baseline.commit = json.At("commit").AsString();
  baseline.date = json.At("date").AsString();
  baseline.run = TextOr(json, "run");
  baseline.perfgate_version = TextOr(json, "perfgate");
  Evidence& evidence = baseline.evidence;
  evidence.case_name = json.At("case").AsString();
  evidence.extractor =
      static_cast<int>(AsCount(json.At("extractor"), "extractor", std::numeric_limits<int>::max()));
  evidence.device_kind = json.At("device").At("kind").AsString();
  evidence.device_name = json.At("device").At("name").AsString();
  evidence.key.fields = ReadFields(json.At("key"));
  evidence.key.recorded = ReadFields(json.At("recorded"));
  const int64_t steps = json.At("steps").AsInt();
  // Where instructions are counted nothing is traced, and no row needs to add up.
  const Json& metrics = json.At("metrics");
  const bool traced = metrics.Find("kernels") != nullptr || metrics.Find("cpu_kernels") != nullptr;
  const int64_t least = traced || metrics.Find("instructions") == nullptr ? 1 : 0;
  if (steps < least || steps > kMostSteps) {
    throw Error(Fault::kInput,
                fmt::format("`steps` is {}, not between {} and {}", steps, least, kMostSteps));
  }
  const Json* marked = json.Find("steps_marked");
  if (marked == nullptr || marked->AsBool()) {
    evidence.steps = {static_cast<int>(steps)};
  } else {
    evidence.steps.assign(static_cast<size_t>(steps), 0);
  }
  if (const Json* fallback = json.Find("fallback")) {
    for (const Json& item : fallback->AsArray()) {
      evidence.fallback.push_back({item.At("what").AsString(), item.At("why").AsString()});
    }
  }
  evidence.reference = TextOr(json, "reference");
  ReadMetrics(json.At("metrics"), &evidence);
  evidence.kernels = ReadRows(json.At("kernels"), steps);
  evidence.transfers = ReadRows(json.At("transfers"), steps);
  evidence.syncs = ReadRows(json.At("syncs"), steps);
  evidence.operators = ReadOperators(json.At("operators"), steps);
  if (const Json* rows = json.Find("collectives")) {
    evidence.collectives = ReadCollectives(*rows, steps);
  }
  CheckRowsAddUp(evidence, MetricId::kKernels, false);
  CheckRowsAddUp(evidence, MetricId::kCpuKernels, true);
  DecodeRows(evidence);
  return baseline;
}

}  // namespace

Baseline ParseBaseline(std::string_view text, const std::string& name) {
  return FromDocument(ParseJson(text, name));
}

Baseline ReadBaseline(const std::filesystem::path& file, const std::filesystem::path& folder) {
  // A baselines folder may come from someone else's pull request: a pipe would block the reader.
  if (const std::string wrong = WhyNotInside(file, folder); !wrong.empty()) {
    throw Error(Fault::kConfig,
                fmt::format("{}: {}: a baseline is a regular file inside of the baselines folder",
                            Printable(file.string()), wrong));
  }
  try {
    const std::string text = ReadFile(file, kMostBaselineBytes);
    RefuseConflict(text, file);
    Baseline baseline = ParseBaseline(text, file.string());
    baseline.file = file;
    return baseline;
  } catch (const Error& error) {
    // A baseline is a file that people review and mend: a configuration error, with its name.
    const std::string message = error.what();
    const bool named = message.find(file.string()) != std::string::npos;
    throw Error(Fault::kConfig, named ? message : file.string() + ": " + message);
  }
}

}  // namespace perfgate
