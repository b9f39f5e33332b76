#include <fmt/format.h>

#include <cmath>

#include "declare/rule.h"

namespace perfgate {
namespace {

std::string_view Needed(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "a whole number without a unit, as 3";
    case Unit::kNanoseconds:
      return "a duration with its unit, as 200us or 5ms";
    case Unit::kBytes:
      return "a size with its unit, as 64MiB";
    case Unit::kRatio:
      return "a plain number or a percentage, as 0.01 or 1%";
  }
  return "a number";
}

// Zero is the same in every unit.
bool Fits(const Quantity& quantity, Unit unit) {
  if (quantity.value == 0 && !quantity.percent) return true;
  switch (unit) {
    case Unit::kCount:
      return quantity.unit == Unit::kCount && quantity.value == std::floor(quantity.value) &&
             std::abs(quantity.value) < 1e15;
    case Unit::kRatio:
      return quantity.unit == Unit::kCount || quantity.unit == Unit::kRatio;
    case Unit::kNanoseconds:
    case Unit::kBytes:
      return quantity.unit == unit;
  }
  return false;
}

void RefuseExact(const Reader& check, const std::vector<MetricId>& metrics) {
  for (const MetricId id : metrics) {
    const Metric& metric = Info(id);
    const bool exact = metric.exactness == Exactness::kExact;
    const bool count = metric.exactness == Exactness::kNearExact && metric.unit == Unit::kCount;
    if (!exact && !count) continue;
    check.Fail(fmt::format("metric {} is {} and needs no statistics; write change: {{at_most: {}}}",
                           metric.name, exact ? "exact" : "a count that hardly varies",
                           exact ? "+0" : "+0.5%"));
  }
}

// As a fraction; its absence is said already.
std::optional<double> ReadTolerance(const Reader& check) {
  const auto tolerance = check.Find("tolerance");
  if (!tolerance) return std::nullopt;
  constexpr std::string_view kExpected = "a percentage above 0 and at most 1000%, as 5%";
  const auto quantity = tolerance->Number(kExpected);
  if (!quantity) return std::nullopt;
  if (!quantity->percent || quantity->value <= 0 || quantity->value > 10) {
    tolerance->FailExpected(kExpected);
    return std::nullopt;
  }
  return quantity->value;
}

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsCommit(std::string_view text) {
  return text.size() >= 7 && text.size() <= 64 && IsHex(text);
}

// "20270131T101500Z-1a2b3c"
bool IsRunId(std::string_view text) {
  return text.size() == 23 && text[8] == 'T' && text[15] == 'Z' && text[16] == '-' &&
         IsHex(text.substr(17));
}

std::optional<double> ReadBound(const Reader& bound, const std::vector<MetricId>& metrics) {
  const std::string first(metrics.empty() ? "a number" : Needed(Info(metrics.front()).unit));
  const auto quantity = bound.Number(first);
  if (!quantity) return std::nullopt;
  if (quantity->value < 0) {
    bound.FailExpected("0 or more");
    return std::nullopt;
  }
  for (const MetricId id : metrics) {
    const Metric& metric = Info(id);
    if (Fits(*quantity, metric.unit)) continue;
    bound.FailExpected(fmt::format("{}: metric {} is in {}", Needed(metric.unit), metric.name,
                                   ToString(metric.unit)));
    return std::nullopt;
  }
  return quantity->value;
}

std::vector<Allowance> ReadAllowances(const Reader& change, std::string_view key, char sign,
                                      const std::vector<MetricId>& metrics) {
  std::vector<Allowance> allowances;
  const auto list = change.Find(key);
  if (!list) return allowances;
  for (const Reader& item : list->ItemsOrOne()) {
    if (const auto allowance = ReadAllowance(item, metrics, sign)) allowances.push_back(*allowance);
  }
  return allowances;
}

// `at_most: {fp32: 1e-5, bf16: 1%}`: a bound for each element type of outputs.
std::vector<DtypeBound> ReadDtypeBounds(const Reader& bounds,
                                        const std::vector<MetricId>& metrics) {
  std::vector<DtypeBound> by_dtype;
  for (const MetricId id : metrics) {
    if (id == MetricId::kRelativeError || id == MetricId::kMaxAbsError) continue;
    bounds.Fail(
        fmt::format("bounds by element type are for relative_error and max_abs_error; {} "
                    "has one bound",
                    Info(id).name));
    return by_dtype;
  }
  if (!bounds.Map(kDtypeKeys)) return by_dtype;
  if (bounds.value().members.empty()) bounds.Fail("the mapping is empty");
  for (const auto& [dtype, bound] : bounds.Members()) {
    if (const auto most = ReadBound(bound, metrics)) by_dtype.push_back({dtype, *most});
  }
  return by_dtype;
}

std::string BoundText(const Reader& bound) {
  if (bound.IsScalar()) return bound.value().text;
  std::vector<std::string> parts;
  for (const auto& [dtype, each] : bound.Members()) {
    parts.push_back(fmt::format("{} {}", dtype, each.value().text));
  }
  return fmt::format("{}", fmt::join(parts, " / "));
}

}  // namespace

std::optional<Allowance> ReadAllowance(const Reader& allowance,
                                       const std::vector<MetricId>& metrics, char sign) {
  const std::string example = fmt::format(
      "a step with its sign, as {0}3%, {0}0 or, in the metric's unit, {0}2us or {0}1", sign);
  const auto quantity = allowance.Number(example);
  if (!quantity) return std::nullopt;
  const std::string& text = allowance.value().text;
  if (text[text.find_first_not_of(" \t")] != sign && quantity->value != 0) {
    allowance.FailExpected(example);
    return std::nullopt;
  }
  for (const MetricId id : metrics) {
    const Metric& metric = Info(id);
    if (quantity->percent || Fits(*quantity, metric.unit)) continue;
    allowance.FailExpected(fmt::format("a percentage or {}: metric {} is in {}",
                                       Needed(metric.unit), metric.name, ToString(metric.unit)));
    return std::nullopt;
  }
  return Allowance{quantity->value, quantity->percent, text};
}

std::optional<LimitCheck> ReadLimit(const Reader& limit, const std::vector<MetricId>& metrics) {
  if (!limit.Map(kLimitKeys)) return std::nullopt;
  LimitCheck check;
  std::vector<std::string> parts;
  for (const bool most : {false, true}) {
    const auto bound = limit.Find(most ? "at_most" : "at_least");
    if (!bound) continue;
    if (most && bound->IsMap()) {
      check.by_dtype = ReadDtypeBounds(*bound, metrics);
    } else {
      (most ? check.at_most : check.at_least) = ReadBound(*bound, metrics);
    }
    parts.push_back(fmt::format("{} {}", most ? "at most" : "at least", BoundText(*bound)));
  }
  if (!limit.Has("at_most") && !limit.Has("at_least")) {
    limit.Fail("needs 'at_most' or 'at_least'");
  }
  if (check.at_most && check.at_least && *check.at_least > *check.at_most) {
    limit.Fail("can never hold: 'at_least' is above 'at_most'");
  }
  check.text = fmt::format("{}", fmt::join(parts, ", "));
  return check;
}

std::optional<ChangeCheck> ReadChange(const Reader& change, const std::vector<MetricId>& metrics) {
  if (!change.Map(kChangeKeys)) return std::nullopt;
  for (const MetricId id : metrics) {
    const Metric& metric = Info(id);
    if (metric.exactness != Exactness::kNoisy) continue;
    change.Fail(
        fmt::format("metric {} is noisy: one run against a stored one says nothing; write "
                    "regression: {{tolerance: 5%}}",
                    metric.name));
  }
  if (!change.Has("at_most") && !change.Has("at_least")) {
    change.Fail("needs 'at_most' or 'at_least'");
  }
  return ChangeCheck{ReadAllowances(change, "at_most", '+', metrics),
                     ReadAllowances(change, "at_least", '-', metrics)};
}

std::optional<RegressionCheck> ReadRegression(const Reader& regression,
                                              const std::vector<MetricId>& metrics) {
  if (!regression.Map(kRegressionKeys)) return std::nullopt;
  RefuseExact(regression, metrics);
  const auto tolerance = ReadTolerance(regression);
  return tolerance ? std::optional(RegressionCheck{*tolerance}) : std::nullopt;
}

std::optional<HistoryCheck> ReadHistory(const Reader& history,
                                        const std::vector<MetricId>& metrics) {
  if (!history.Map(kHistoryKeys)) return std::nullopt;
  RefuseExact(history, metrics);
  HistoryCheck check;
  // The error rates of docs/history.md are those of 20 and more.
  constexpr int64_t kLeast = 20, kMost = 1000;
  if (const auto sessions = history.Find("sessions")) {
    check.sessions = static_cast<int>(sessions->Int(kLeast, kMost).value_or(kLeast));
  }
  if (const auto branch = history.Find("branch")) check.branch = branch->Text().value_or("main");
  if (const auto since = history.Find("since")) {
    check.since = since->Text().value_or("");
    if (!check.since.empty() && !IsCommit(check.since) && !IsRunId(check.since)) {
      since->FailExpected(
          "a commit, with 7 of its hex digits or more, or a run, as 20270131T101500Z-1a2b3c");
    }
  }
  const auto tolerance = ReadTolerance(history);
  if (!tolerance) return std::nullopt;
  check.tolerance = *tolerance;
  return check;
}

}  // namespace perfgate
