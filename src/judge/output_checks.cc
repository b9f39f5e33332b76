// Limits on what the workload computed: errors against the reference, NaN and infinities.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "judge/checks.h"
#include "judge/next_step.h"

namespace perfgate {
namespace {

std::string Element(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.6g}", value);
}

std::string Bracketed(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const int64_t number : numbers) texts.push_back(fmt::format("{}", number));
  return fmt::format("[{}]", Join(texts, ", "));
}

// "at [3, 17] of [64, 768]"
std::string Place(const std::vector<int64_t>& index, const OutputRow& row) {
  if (row.shape.empty()) return "in its only element";
  return fmt::format("at {} of {}", Bracketed(index), Bracketed(row.shape));
}

std::string Named(const OutputRow& row) { return fmt::format("{} ({})", row.name, row.dtype); }

double ErrorOf(const OutputRow& row, MetricId id) {
  return id == MetricId::kRelativeError ? row.error->relative : row.error->largest;
}

// Where an output and the reference are furthest apart.
std::string Furthest(const OutputRow& row, const std::string& reference) {
  const OutputError& error = *row.error;
  std::string text;
  if (error.unlike > 0) {
    text = fmt::format("{} NaN or infinite on one side only, the first {}",
                       Plural(error.unlike, "element is", "elements are"), Place(error.index, row));
  } else {
    text = fmt::format("furthest apart {}", Place(error.index, row));
    if (std::isinf(error.relative)) text = "the reference has zeros only, " + text;
  }
  return fmt::format("{}: {} where {} ({}) has {}", text, Element(error.value), reference,
                     error.reference_dtype, Element(error.reference));
}

// An output with the bound that it is held against.
struct Held {
  const OutputRow* row = nullptr;
  double value = 0, bound = 0;

  // How much of its bound it takes.
  double Share() const { return value == 0 ? 0 : value / bound; }
};

bool IsInteger(std::string_view dtype) {
  return dtype == "bool" || dtype.starts_with("int") || dtype.starts_with("uint");
}

std::optional<double> BoundOf(const LimitCheck& check, const OutputRow& row) {
  if (check.by_dtype.empty()) return check.at_most;
  std::optional<double> of_integers;
  for (const DtypeBound& bound : check.by_dtype) {
    if (bound.dtype == row.dtype) return bound.at_most;
    if (bound.dtype == "integer" && IsInteger(row.dtype)) of_integers = bound.at_most;
  }
  // What is a number on one side only is within no bound, named or not.
  if (!of_integers && row.error->unlike > 0) return std::numeric_limits<double>::max();
  return of_integers;
}

bool Bounds(const Rule& rule, const OutputRow& row) {
  if (std::none_of(rule.metrics.begin(), rule.metrics.end(), IsOutputError)) return false;
  const auto* limit = std::get_if<LimitCheck>(&rule.check);
  if (limit == nullptr) return std::holds_alternative<ChangeCheck>(rule.check);
  // Unless it is optional, a rule without a bound for the type is an error, which says so itself.
  return BoundOf(*limit, row) || (!limit->by_dtype.empty() && !rule.optional);
}

// What a base says of its outputs is no fault of head: it may have saved none yet, or others, or
// have been compared with something else.
std::string WhyNotInBase(const CaseFacts& facts, MetricId id) {
  const bool error = IsOutputError(id);
  if (!error && id != MetricId::kNanCount && id != MetricId::kInfCount) return "";
  const std::string& unavailable = facts.Base(id).unavailable;
  const std::string &then = facts.pair().base->reference, &now = facts.pair().head.reference;
  if (!unavailable.empty() || !error || then.empty() || then == now) return unavailable;
  return fmt::format("it was compared with the reference {}, this run with {}", Printable(then),
                     Printable(now));
}

Finding Unbounded(const LimitCheck& check, const Rule& rule, const OutputRow& row,
                  Finding finding) {
  const std::string message = fmt::format("{} has no bound for {}: {} has that element type",
                                          check.text, row.dtype, row.name);
  if (rule.optional) return With(std::move(finding), Status::kSkipped, message + " (optional)");
  return With(std::move(finding), Status::kError, message,
              EditRule(rule, fmt::format("a bound for {}", row.dtype)));
}

Finding Judged(const LimitCheck& check, const Rule& rule, const Held& worst,
               const std::string& reference, Finding finding) {
  const MetricId id = *finding.metric;
  finding.head = worst.value;
  finding.output = *worst.row;
  const std::string value =
      std::isinf(worst.value) ? "infinite" : FormatValue(worst.value, Info(id).unit);
  std::string message =
      fmt::format("{} of {} is {} ({})", Info(id).name, Named(*worst.row), value, check.text);
  const bool above = worst.value > worst.bound;
  const bool below = check.at_least && worst.value < *check.at_least;
  if (!above && !below) return With(std::move(finding), Status::kPass, std::move(message));
  finding.delta = worst.value - (above ? worst.bound : *check.at_least);
  return With(std::move(finding), Status::kFail, message + ": " + Furthest(*worst.row, reference),
              EditRule(rule, "another bound or a waiver"));
}

}  // namespace

bool IsOutputError(MetricId id) {
  return id == MetricId::kRelativeError || id == MetricId::kMaxAbsError;
}

Finding CheckOutputErrors(const LimitCheck& check, const Rule& rule, const CaseFacts& facts,
                          Finding finding) {
  const Evidence& head = facts.pair().head;
  finding.limit = check.text;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Held worst;
  const OutputRow* unbounded = nullptr;
  for (const OutputRow& row : head.outputs) {
    if (!row.error) continue;
    const std::optional<double> bound = BoundOf(check, row);
    if (!bound && !check.by_dtype.empty()) {
      if (unbounded == nullptr) unbounded = &row;
      continue;
    }
    const Held held{&row, ErrorOf(row, *finding.metric), bound.value_or(kInfinity)};
    // Without a bound from above the largest error is the one to tell of.
    const bool worse = bound ? held.Share() > worst.Share() : held.value > worst.value;
    if (worst.row == nullptr || worse) worst = held;
  }
  const bool skips = unbounded != nullptr && (!rule.optional || worst.row == nullptr);
  if (skips) return Unbounded(check, rule, *unbounded, std::move(finding));
  if (worst.row == nullptr) {
    return Unavailable(rule, facts, std::move(finding), "no output was compared");
  }
  return Judged(check, rule, worst, head.reference, std::move(finding));
}

std::optional<Finding> OutputsNotInBase(const Rule& rule, const CaseFacts& facts,
                                        const Finding& blank) {
  const std::string why = WhyNotInBase(facts, *blank.metric);
  if (why.empty()) return std::nullopt;
  const std::string message =
      fmt::format("{} of the base is unavailable: {}", Info(*blank.metric).name, why);
  if (rule.optional) return With(blank, Status::kSkipped, message + " (optional)");
  if (facts.policy().bare_diff) return With(blank, Status::kSkipped, message);
  return With(blank, Status::kMissing, message, AcceptFirst(blank.case_name));
}

void NoteUnjudgedOutputs(std::span<const Rule> rules, const CasePair& pair,
                         std::vector<std::string>& notes) {
  std::map<std::string, std::set<std::string>> outputs_of_dtype;
  for (const OutputRow& row : pair.head.outputs) {
    if (!row.error) continue;
    const bool held = std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
      return Bounds(rule, row) && NotForThisCase(rule, pair).empty();
    });
    if (!held) outputs_of_dtype[row.dtype].insert(row.name);
  }
  for (const auto& [dtype, names] : outputs_of_dtype) {
    const size_t more = names.size() - 1;
    notes.push_back(fmt::format("no rule has a bound for {}: {}{} compared with {} and not judged",
                                Printable(dtype), Printable(*names.begin()),
                                more == 0 ? " was" : fmt::format(" and {} more were", more),
                                Printable(pair.head.reference)));
  }
}

void PointAtNotFinite(const Evidence& evidence, Finding& finding) {
  const bool nan = finding.metric == MetricId::kNanCount;
  if (!nan && finding.metric != MetricId::kInfCount) return;
  for (const OutputRow& row : evidence.outputs) {
    const int64_t count = nan ? row.nan_count : row.inf_count;
    if (count <= 0) continue;
    const auto& first = nan ? row.first_nan : row.first_inf;
    finding.output = row;
    finding.message += fmt::format(": {} has {}", Named(row), count);
    if (first) finding.message += ", the first " + Place(*first, row);
    return;
  }
}

}  // namespace perfgate
