#include "declare/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace perfgate {
namespace {

constexpr std::array<std::string_view, 7> kChecks = {"limit",   "change", "regression", "history",
                                                     "kernels", "fusion", "changes"};

bool OnMetrics(std::string_view check) {
  return check == "limit" || check == "change" || check == "regression" || check == "history";
}

std::vector<MetricId> ReadMetrics(const Reader& metric) {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Metric& each : Metrics()) names.emplace_back(each.name);
    return names;
  }();
  std::vector<MetricId> ids;
  for (const Reader& item : metric.ItemsOrOne()) {
    const auto name = item.Choice(kNames);
    if (!name) continue;
    const MetricId id = *FindMetric(*name);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
      item.Fail(fmt::format("{} is there twice", Quoted(*name)));
    } else {
      ids.push_back(id);
    }
  }
  return ids;
}

bool IsDate(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  const int year = std::stoi(text.substr(0, 4));
  const int month = std::stoi(text.substr(5, 2));
  const int day = std::stoi(text.substr(8, 2));
  if (year < 2000 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day <= kDays[static_cast<size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

std::optional<Waiver> ReadWaiver(const Reader& waive, std::string_view check,
                                 const std::vector<MetricId>& metrics) {
  if (!waive.Map(kWaiveKeys)) return std::nullopt;
  Waiver waiver;
  if (const auto until = waive.Find("until")) {
    waiver.until = until->IsScalar() ? until->value().text : "";
    if (!IsDate(waiver.until)) until->FailExpected("a date, the last day it holds, as 2027-01-31");
  }
  if (const auto reason = waive.Find("reason")) waiver.reason = reason->Text().value_or("");
  if (const auto owner = waive.Find("owner")) waiver.owner = owner->Text().value_or("");
  if (const auto cases = waive.Find("cases")) waiver.cases = cases->Text().value_or("");
  if (const auto up_to = waive.Find("up_to")) {
    if (check == "limit" || check == "change") {
      waiver.up_to = ReadAllowance(*up_to, metrics, '+');
    } else {
      up_to->Fail("is for 'limit' and 'change' rules only");
    }
  }
  return waiver;
}

std::map<std::string, std::vector<std::string>> ReadCovers(const Reader& covers) {
  std::map<std::string, std::vector<std::string>> out;
  if (!covers.IsMap() || covers.value().members.empty()) {
    covers.FailExpected("a mapping from kernel names to operators, as {geglu_fwd: [gelu, mul]}");
    return out;
  }
  for (const auto& [glob, words] : covers.Members()) {
    if (glob.empty()) covers.FailAtKey(glob, "the name of a kernel is empty");
    out[glob] = ReadOperatorWords(words);
  }
  return out;
}

// Keys that mean nothing for the rule's check would be ignored in silence: refused instead.
void RefuseMeaningless(const Reader& rule, std::string_view check) {
  const auto refuse = [&](std::string_view key, bool allowed, std::string_view use) {
    const auto found = rule.Find(key);
    if (found && !allowed)
      found->Fail(fmt::format("has no meaning for '{}'; it is for {}", check, use));
  };
  refuse("metric", OnMetrics(check), "limit, change, regression and history");
  refuse("require_paired", check == "regression", "regression");
  refuse("require_history", check == "history", "history");
  refuse("aggregate", check != "regression" && check != "history", "values of the traced steps");
  refuse("covers", check == "fusion" || check == "kernels", "fusion and kernels");
}

std::string_view FindCheck(const Reader& rule) {
  std::vector<std::string> present;
  std::string_view found;
  for (const std::string_view check : kChecks) {
    if (!rule.Has(check)) continue;
    present.emplace_back(check);
    found = check;
  }
  if (present.size() == 1) return found;
  if (present.empty()) {
    rule.Fail(
        "has no check; needs one of limit, change, regression, history, kernels, fusion, changes");
  } else {
    rule.Fail(fmt::format("has several checks ({}); a rule has one", Join(present, ", ")));
  }
  return {};
}

template <typename T>
void Store(const std::optional<T>& check, Rule& rule) {
  if (check) rule.check = *check;
}

void ReadCheck(const Reader& reader, std::string_view check, Rule& rule) {
  const Reader body = *reader.Find(check);
  if (check == "limit") Store(ReadLimit(body, rule.metrics), rule);
  if (check == "change") Store(ReadChange(body, rule.metrics), rule);
  if (check == "regression") Store(ReadRegression(body, rule.metrics), rule);
  if (check == "history") Store(ReadHistory(body, rule.metrics), rule);
  if (check == "kernels") Store(ReadKernels(body), rule);
  if (check == "fusion") Store(ReadFusion(body), rule);
  if (check == "changes") Store(ReadChanges(body), rule);
}

void ReadScope(const Reader& reader, Rule& rule) {
  if (const auto why = reader.Find("why")) rule.why = why->Text().value_or("");
  if (const auto cases = reader.Find("cases")) rule.cases = cases->Text().value_or("*");
  if (const auto device = reader.Find("device")) {
    const std::string text = device->Choice({"any", "cpu", "cuda"}).value_or("any");
    rule.device = text == "cpu"    ? DeviceFilter::kCpu
                  : text == "cuda" ? DeviceFilter::kCuda
                                   : DeviceFilter::kAny;
  }
  if (const auto severity = reader.Find("severity")) {
    const std::string text = severity->Choice({"off", "warn", "error"}).value_or("error");
    rule.severity = text == "off"    ? Severity::kOff
                    : text == "warn" ? Severity::kWarn
                                     : Severity::kError;
  }
  if (const auto optional = reader.Find("optional"))
    rule.optional = optional->Bool().value_or(false);
  if (const auto aggregate = reader.Find("aggregate")) {
    rule.aggregate_max = aggregate->Choice({"max"}).has_value();
  }
  if (const auto paired = reader.Find("require_paired")) {
    rule.require_paired = paired->Bool().value_or(false);
  }
  if (const auto history = reader.Find("require_history")) {
    rule.require_history = history->Bool().value_or(false);
  }
}

}  // namespace

Rule ReadRule(const Reader& reader) {
  Rule rule;
  rule.where = reader.where();
  ReadScope(reader, rule);
  const std::string_view check = FindCheck(reader);
  if (const auto metric = reader.Find("metric")) rule.metrics = ReadMetrics(*metric);
  if (!check.empty()) {
    if (OnMetrics(check) && !reader.Has("metric")) {
      reader.Fail(fmt::format("key 'metric' is missing; '{}' is on metrics", check));
    }
    RefuseMeaningless(reader, check);
    ReadCheck(reader, check, rule);
  }
  if (const auto covers = reader.Find("covers")) rule.covers = ReadCovers(*covers);
  if (const auto waive = reader.Find("waive")) rule.waive = ReadWaiver(*waive, check, rule.metrics);
  return rule;
}

bool IsForDevice(const Rule& rule, std::string_view device_kind) {
  if (rule.device == DeviceFilter::kCpu) return device_kind != "cuda";
  return rule.device != DeviceFilter::kCuda || device_kind != "cpu";
}

bool Concerns(const Rule& rule, std::string_view case_name, std::string_view device_kind) {
  return rule.severity != Severity::kOff && MatchesGlob(rule.cases, case_name) &&
         IsForDevice(rule, device_kind);
}

}  // namespace perfgate
