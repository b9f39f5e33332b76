#include "evidence/timed_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "evidence/merge.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

// The median of all iterations is that of the warm-up, not of the steady level behind it.
bool IsMostlyWarmUp(std::span<const int64_t> samples, const SteadyLevel& level) {
  constexpr double kTolerance = 0.05;
  if (level.warmup_iterations == 0) return false;
  const auto steady = samples.subspan(static_cast<size_t>(level.warmup_iterations));
  const auto all = static_cast<double>(LowerMedian({samples.begin(), samples.end()}));
  const auto rest = static_cast<double>(LowerMedian({steady.begin(), steady.end()}));
  return std::abs(all - rest) > kTolerance * rest;
}

TimedSeries Describe(const Attempt& attempt, std::string_view name,
                     const std::vector<int64_t>& samples) {
  TimedSeries series;
  series.side = attempt.side;
  series.pair = attempt.pair;
  series.process = attempt.process;
  series.name = name;
  series.samples = static_cast<int64_t>(samples.size());
  if (const std::optional<SteadyLevel> level = FindSteadyState(samples)) {
    series.steady = ToString(level->steadiness);
    series.warmup_iterations = level->warmup_iterations;
    series.drift = level->drift;
    if (level->steadiness == Steadiness::kSteady && IsMostlyWarmUp(samples, *level)) {
      series.steady = ToString(Steadiness::kNotSteady);
    }
  }
  const Outliers outliers = CountOutliers(samples);
  series.outliers = outliers.beyond;
  series.far_outliers = outliers.far_beyond;
  for (const double p : {0.50, 0.95, 0.99}) {
    SeriesPercentile percentile;
    percentile.p = p;
    percentile.value = Percentile(samples, p);
    percentile.needs = MinimumSamples(p);
    percentile.interval_needs = MinimumSamplesOfInterval(p);
    if (const auto interval = IntervalOfPercentile(samples, p)) {
      percentile.low = interval->low;
      percentile.high = interval->high;
    }
    series.percentiles.push_back(percentile);
  }
  return series;
}

std::string HowItMoves(const TimedSeries& series) {
  if (series.steady == ToString(Steadiness::kBimodal)) return "go between two levels";
  if (series.steady == ToString(Steadiness::kDrifting)) {
    return fmt::format("drift by {:+.1f} %", 100 * series.drift);
  }
  if (series.warmup_iterations < series.samples) {
    return fmt::format("are still warming up for {} of {}", series.warmup_iterations,
                       Plural(series.samples, "iteration"));
  }
  return "change their level late or again and again";
}

// Why a series of this name proves nothing, as of most processes; else "", and a note if it is so
// of some: a disturbance of one process is none of the workload.
std::string WhyNotSteady(std::string_view name, std::string_view what, Evidence& evidence) {
  int judged = 0, restless = 0;
  std::vector<std::string> ways;
  for (const TimedSeries& series : evidence.timed_series) {
    if (series.name != name || series.steady.empty()) continue;
    ++judged;
    if (series.steady == ToString(Steadiness::kSteady)) continue;
    ++restless;
    AddUnique(ways, HowItMoves(series));
  }
  if (restless == 0) return "";
  const std::string where =
      judged == 1 ? "" : fmt::format(" in {} of {} processes", restless, judged);
  std::string text =
      fmt::format("{} are not steady{}: they {}", what, where, Join(ways, ", they "));
  if (2 * restless > judged) return text;
  AddUnique(evidence.notes, std::move(text));
  return "";
}

Json Number(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); }

std::optional<int64_t> NumberAt(const Json& json, std::string_view key) {
  const Json& value = json.At(key);
  if (value.IsNull()) return std::nullopt;
  return AsCount(value, key);
}

int SmallNumberAt(const Json& json, std::string_view key) {
  return static_cast<int>(AsCount(json.At(key), key, std::numeric_limits<int>::max()));
}

}  // namespace

int AppendTimedSeries(const AttemptData& data, Evidence& evidence) {
  int warmup_iterations = 0;
  const Samples& samples = *data.samples;
  const std::pair<std::string_view, const std::vector<int64_t>*> series[] = {
      {"latency", &samples.latency_ns},
      {"dispatch", &samples.dispatch_ns},
      {"device_latency", &samples.device_latency_ns}};
  for (const auto& [name, values] : series) {
    if (values->empty()) continue;
    evidence.timed_series.push_back(Describe(data.attempt, name, *values));
    if (values == &samples.latency_ns) {
      warmup_iterations = evidence.timed_series.back().warmup_iterations;
    }
  }
  return warmup_iterations;
}

void CheckSteadiness(Evidence& evidence) {
  const std::string latency = WhyNotSteady("latency", "latencies", evidence);
  const std::string dispatch = WhyNotSteady("dispatch", "dispatch times", evidence);
  if (evidence.not_steady.empty()) evidence.not_steady = latency;
  if (evidence.dispatch_not_steady.empty()) evidence.dispatch_not_steady = dispatch;
  for (const std::string& reason : {evidence.not_steady, evidence.dispatch_not_steady}) {
    if (!reason.empty()) AddUnique(evidence.notes, reason);
  }
}

Json TimedSeriesToJson(const std::vector<TimedSeries>& series) {
  Json::Array array;
  for (const TimedSeries& item : series) {
    Json::Array percentiles;
    for (const SeriesPercentile& percentile : item.percentiles) {
      Json entry{Json::Object{}};
      entry.Append("p", percentile.p);
      entry.Append("value", Number(percentile.value));
      entry.Append("needs", percentile.needs);
      entry.Append("low", Number(percentile.low));
      entry.Append("high", Number(percentile.high));
      entry.Append("interval_needs", percentile.interval_needs);
      percentiles.push_back(std::move(entry));
    }
    Json entry{Json::Object{}};
    entry.Append("series", item.name);
    entry.Append("side", ToString(item.side));
    entry.Append("pair", item.pair);
    entry.Append("process", item.process);
    entry.Append("samples", item.samples);
    entry.Append("steady", item.steady.empty() ? Json() : Json(item.steady));
    entry.Append("warmup_iterations", item.warmup_iterations);
    entry.Append("drift", item.drift);
    entry.Append("outliers", item.outliers);
    entry.Append("far_outliers", item.far_outliers);
    entry.Append("percentiles", Json(std::move(percentiles)));
    array.push_back(std::move(entry));
  }
  return Json(std::move(array));
}

std::vector<TimedSeries> TimedSeriesFromJson(const Json& json) {
  std::vector<TimedSeries> list;
  for (const Json& item : json.AsArray()) {
    TimedSeries series;
    series.name = item.At("series").AsString();
    series.side = item.At("side").AsString() == ToString(Side::kBase) ? Side::kBase : Side::kHead;
    series.pair = SmallNumberAt(item, "pair");
    series.process = SmallNumberAt(item, "process");
    series.samples = AsCount(item.At("samples"), "samples");
    if (!item.At("steady").IsNull()) series.steady = item.At("steady").AsString();
    series.warmup_iterations = SmallNumberAt(item, "warmup_iterations");
    series.drift = item.At("drift").AsNumber();
    series.outliers = SmallNumberAt(item, "outliers");
    series.far_outliers = SmallNumberAt(item, "far_outliers");
    for (const Json& entry : item.At("percentiles").AsArray()) {
      series.percentiles.push_back({entry.At("p").AsNumber(), NumberAt(entry, "value"),
                                    SmallNumberAt(entry, "needs"), NumberAt(entry, "low"),
                                    NumberAt(entry, "high"),
                                    SmallNumberAt(entry, "interval_needs")});
    }
    list.push_back(std::move(series));
  }
  return list;
}

}  // namespace perfgate
