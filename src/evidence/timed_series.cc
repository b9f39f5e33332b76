#include "evidence/timed_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "evidence/merge.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

bool IsSteady(const TimedSeries& series) { return series.steady == ToString(Steadiness::kSteady); }

// At most as many iterations of the warm-up are left out as leave enough for the percentile.
SeriesPercentile PercentileOf(std::span<const int64_t> samples, size_t warmup, double p) {
  SeriesPercentile percentile;
  percentile.p = p;
  percentile.needs = MinimumSamples(p);
  percentile.interval_needs = MinimumSamplesOfInterval(p);
  const auto needs = static_cast<size_t>(percentile.needs);
  const auto counted =
      samples.last(std::max(samples.size() - warmup, std::min(samples.size(), needs)));
  percentile.value = Percentile(counted, p);
  if (const auto interval = IntervalOfPercentile(counted, p)) {
    percentile.low = interval->low;
    percentile.high = interval->high;
  }
  return percentile;
}

std::string HowItMoves(const TimedSeries& series) {
  if (IsSteady(series) || series.steady.empty())
    return "their warm-up did not reach a steady state";
  if (series.steady == ToString(Steadiness::kBimodal)) return "they go between two levels";
  if (series.steady == ToString(Steadiness::kDrifting)) {
    return fmt::format("they drift by {:+.1f} %", 100 * series.drift);
  }
  return "they change their level late or again and again";
}

// Processes of which the series of a name is not steady.
struct Restless {
  std::string text;  // "are not steady in 1 of 2 processes: they drift by +7.1 %"; "": all are
  bool most = false;
};

Restless FindRestless(std::string_view name, const Evidence& evidence) {
  int judged = 0, restless = 0;
  std::vector<std::string> ways;
  for (const TimedSeries& series : evidence.timed_series) {
    if (series.name != name) continue;
    ++judged;
    if (series.warmup_steady && (IsSteady(series) || series.steady.empty())) continue;
    ++restless;
    AddUnique(ways, HowItMoves(series));
  }
  if (restless == 0) return {};
  const std::string where =
      judged == 1 ? "" : fmt::format(" in {} of {} processes", restless, judged);
  return {fmt::format("are not steady{}: {}", where, Join(ways, ", ")), 2 * restless > judged};
}

void NoteRestless(std::string_view what, const Restless& restless, Evidence& evidence) {
  if (restless.text.empty()) return;
  AddUnique(evidence.notes_on_times, fmt::format("{} {}", what, restless.text));
}

// "median latencies of 12 processes lie on two levels: 7 near 100 us, 5 near 110 us"
void NoteLevels(std::string_view name, std::string_view what, Evidence& evidence) {
  std::vector<double> medians;
  for (const TimedSeries& series : evidence.timed_series) {
    if (series.name != name || series.percentiles.empty() || !series.percentiles[0].value) continue;
    medians.push_back(static_cast<double>(*series.percentiles[0].value));
  }
  const std::optional<TwoLevels> levels = FindTwoLevels(medians);
  if (!levels) return;
  AddUnique(
      evidence.notes_on_times,
      fmt::format("median {} of {} processes lie on two levels: {} near {}, {} near {}", what,
                  medians.size(), levels->low_count, FormatValue(levels->low, Unit::kNanoseconds),
                  levels->high_count, FormatValue(levels->high, Unit::kNanoseconds)));
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

TimedSeries DescribeSeries(const AttemptData& data, std::string_view name,
                           const std::vector<int64_t>& samples) {
  TimedSeries series;
  series.side = data.attempt.side;
  series.pair = data.attempt.pair;
  series.process = data.attempt.process;
  series.name = name;
  series.samples = static_cast<int64_t>(samples.size());
  series.warmup_steady = data.samples->steady;
  if (const std::optional<SteadyLevel> level = FindSteadyState(samples)) {
    series.steady = ToString(level->steadiness);
    series.warmup_iterations = level->warmup_iterations;
    series.drift = level->drift;
  }
  const size_t warmup = IsSteady(series) ? static_cast<size_t>(series.warmup_iterations) : 0;
  const Outliers outliers = CountOutliers(std::span(samples).subspan(warmup));
  series.outliers = outliers.beyond;
  series.far_outliers = outliers.far_beyond;
  for (const double p : {0.50, 0.95, 0.99}) {
    series.percentiles.push_back(PercentileOf(samples, warmup, p));
  }
  return series;
}

void CheckSteadiness(Evidence& evidence) {
  const Restless latency = FindRestless("latency", evidence);
  const Restless dispatch = FindRestless("dispatch", evidence);
  if (latency.most) evidence.not_steady = "latencies " + latency.text;
  if (dispatch.most) evidence.dispatch_not_steady = "dispatch times " + dispatch.text;
  if (latency.text == dispatch.text) {
    NoteRestless("latencies and dispatch times", latency, evidence);
  } else {
    NoteRestless("latencies", latency, evidence);
    NoteRestless("dispatch times", dispatch, evidence);
  }
}

void NoteLevelsOfProcesses(Evidence& evidence) {
  NoteLevels("latency", "latencies", evidence);
  NoteLevels("dispatch", "dispatch times", evidence);
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
    entry.Append("warmup_steady", item.warmup_steady);
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
    if (const Json* said = item.Find("warmup_steady")) series.warmup_steady = said->AsBool();
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
