#include "calibration/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr const char* kSchema = "perfgate.calibration/1";
// What of the machine's facts decides how times vary. Its name does not: that of a container is
// another one every time.
constexpr std::array kMachineFacts = {"cpu", "cpu_isa", "cores"};
constexpr std::array kStackFacts = {"gpu_uuid", "driver"};

Facts Chosen(std::span<const char* const> names, const Facts& from) {
  Facts chosen;
  for (const char* name : names) {
    if (const auto found = from.find(name); found != from.end()) chosen.insert(*found);
  }
  return chosen;
}

Facts StackOf(const Evidence& evidence) {
  Facts stack = evidence.key.fields;
  stack.merge(Chosen(kStackFacts, evidence.key.recorded));
  return stack;
}

Json FactsJson(const Facts& facts) {
  Json json{Json::Object{}};
  for (const auto& [name, value] : facts) json.Append(name, value);
  return json;
}

Facts FactsFrom(const Json& json) {
  Facts facts;
  for (const auto& [name, value] : json.AsObject()) facts[name] = value.AsString();
  return facts;
}

std::vector<double> NumbersFrom(const Json& json) {
  std::vector<double> numbers;
  for (const Json& item : json.AsArray()) numbers.push_back(item.AsNumber());
  return numbers;
}

bool IsTime(const Metric& metric) {
  return metric.unit == Unit::kNanoseconds && metric.exactness != Exactness::kExact;
}

std::string DoubtOf(const Evidence& evidence, MetricId id) {
  if (id == MetricId::kDispatch) return evidence.dispatch_not_steady;
  const bool latency = Info(id).name.starts_with("latency.");
  return latency ? evidence.not_steady : "";
}

bool IsPositive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::string Calibration::Fingerprint() const {
  return Hash16(WriteJson(Json(Json::Array{FactsJson(machine), FactsJson(stack)}), 0));
}

void SetNoise(Calibration& calibration) {
  std::vector<double> values = calibration.base;
  values.insert(values.end(), calibration.head.begin(), calibration.head.end());
  calibration.noise = ComparePairs(calibration.base, calibration.head).noise;
  calibration.levels = FindTwoLevels(values);
  calibration.median = Median(std::move(values));
}

std::vector<Calibration> Calibrate(const Evidence& evidence, const Facts& machine,
                                   const std::string& measured) {
  std::vector<Calibration> all;
  if (!evidence.Complete() || !evidence.base_side || !evidence.base_side->Complete()) return all;
  for (const Metric& metric : Metrics()) {
    if (!IsTime(metric)) continue;
    const auto base = ValuesByPair(*evidence.base_side, metric.id);
    const auto head = ValuesByPair(evidence, metric.id);
    Calibration one{.case_name = evidence.case_name,
                    .metric = metric.id,
                    .measured = measured,
                    .machine = Chosen(kMachineFacts, machine),
                    .stack = StackOf(evidence),
                    .base = {},
                    .head = {},
                    .doubt = DoubtOf(evidence, metric.id)};
    for (const auto& [pair, value] : base) {
      const auto other = head.find(pair);
      if (other == head.end() || !IsPositive(value) || !IsPositive(other->second)) continue;
      one.base.push_back(value);
      one.head.push_back(other->second);
    }
    if (one.Pairs() < kScreeningPairs) continue;
    if (one.doubt.empty()) one.doubt = DoubtOf(*evidence.base_side, metric.id);
    SetNoise(one);
    all.push_back(std::move(one));
  }
  return all;
}

Json ToJson(const Calibration& calibration) {
  return Json(Json::Object{{"schema", Json(kSchema)},
                           {"case", Json(calibration.case_name)},
                           {"metric", Json(Info(calibration.metric).name)},
                           {"measured", Json(calibration.measured)},
                           {"pairs", Json(calibration.Pairs())},
                           {"median", Json(calibration.median)},
                           {"noise", Json(calibration.noise)},
                           {"bimodal", Json(calibration.levels.has_value())},
                           {"doubt", Json(calibration.doubt)},
                           {"machine", FactsJson(calibration.machine)},
                           {"stack", FactsJson(calibration.stack)},
                           {"base", Json::ArrayOf(calibration.base)},
                           {"head", Json::ArrayOf(calibration.head)}});
}

std::optional<Calibration> CalibrationFromJson(const Json& json) {
  if (json.At("schema").AsString() != kSchema) {
    throw Error(Fault::kInput, fmt::format("schema {}: expected {}",
                                           Printable(json.At("schema").AsString()), kSchema));
  }
  const std::optional<MetricId> metric = FindMetric(json.At("metric").AsString());
  if (!metric) return std::nullopt;
  Calibration calibration{.case_name = json.At("case").AsString(),
                          .metric = *metric,
                          .measured = json.At("measured").AsString(),
                          .machine = FactsFrom(json.At("machine")),
                          .stack = FactsFrom(json.At("stack")),
                          .base = NumbersFrom(json.At("base")),
                          .head = NumbersFrom(json.At("head")),
                          .doubt = json.At("doubt").AsString()};
  if (calibration.base.size() != calibration.head.size()) {
    throw Error(Fault::kInput, "`base` and `head` hold different numbers of values");
  }
  SetNoise(calibration);
  return calibration;
}

std::vector<Calibration> CalibrationsOf(const Case& declared, const Facts& machine,
                                        const Evidence* measured,
                                        std::span<const Calibration> all) {
  std::map<MetricId, const Calibration*> newest;
  for (const Calibration& one : all) {
    if (one.case_name != declared.name || one.machine != Chosen(kMachineFacts, machine)) continue;
    const auto definition = one.stack.find("definition");
    const bool same = measured != nullptr
                          ? one.stack == StackOf(*measured)
                          : definition != one.stack.end() && definition->second == declared.digest;
    if (!same) continue;
    const Calibration*& found = newest[one.metric];
    if (found == nullptr || found->measured <= one.measured) found = &one;
  }
  std::vector<Calibration> chosen;
  for (const auto& [metric, calibration] : newest) chosen.push_back(*calibration);
  return chosen;
}

const Calibration* FindCalibration(std::span<const Calibration> calibrations, MetricId metric) {
  const auto found = std::find_if(calibrations.begin(), calibrations.end(),
                                  [&](const Calibration& one) { return one.metric == metric; });
  return found == calibrations.end() ? nullptr : &*found;
}

}  // namespace perfgate
