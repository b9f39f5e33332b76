// Limits on what the workload computed: errors against the reference, NaN and infinities.
#include <fmt/format.h>

#include <cmath>
#include <limits>

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

std::optional<double> BoundOf(const LimitCheck& check, const OutputRow& row) {
  if (check.by_dtype.empty()) return check.at_most;
  for (const DtypeBound& bound : check.by_dtype) {
    if (bound.dtype == row.dtype) return bound.at_most;
  }
  return std::nullopt;
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
