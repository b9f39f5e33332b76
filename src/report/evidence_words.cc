#include "report/evidence_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/communication.h"
#include "report/layout.h"

namespace perfgate {

std::vector<TimedRow> ByTime(const Evidence& evidence, const std::vector<KernelRow>& rows) {
  const double steps = std::max(1, evidence.TotalSteps());
  std::vector<TimedRow> table;
  for (const KernelRow& row : rows) {
    table.push_back(
        {&row, CountText(row.count_per_step), static_cast<double>(row.TimeNs()) / steps});
  }
  std::stable_sort(table.begin(), table.end(), [](const TimedRow& a, const TimedRow& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.row->name < b.row->name;
  });
  return table;
}

std::string MetricText(const MetricValue& value, const Metric& metric) {
  if (value.value) return FormatValue(*value.value, metric.unit);
  const auto [least, most] = std::minmax_element(value.per_step.begin(), value.per_step.end());
  return fmt::format("varies: {} to {}", FormatValue(*least, metric.unit),
                     FormatValue(*most, metric.unit));
}

std::string StepsText(const Evidence& evidence) {
  if (evidence.steps.empty()) return "no trace";
  const bool unmarked = std::all_of(evidence.steps.begin(), evidence.steps.end(),
                                    [](int steps) { return steps == 0; });
  if (unmarked) return "no steps marked: the whole window is one step";
  const std::string steps = Plural(evidence.TotalSteps(), "step");
  if (evidence.steps.size() == 1) {
    if (evidence.ranks.size() != 1) return steps;
    const Rank& only = evidence.ranks.front();
    const std::string of = only.world_size == 0 ? "" : fmt::format(" of {}", only.world_size);
    return fmt::format("{} of rank {}{}", steps, only.rank, of);
  }
  std::string text = steps + " in " + Plural(evidence.steps.size(), "process", "processes");
  std::set<int> ranks;
  for (const Rank& rank : evidence.ranks) ranks.insert(rank.rank);
  if (!ranks.empty()) text += ", " + Plural(static_cast<int64_t>(ranks.size()), "rank");
  return text;
}

std::vector<std::pair<std::string, std::string>> Unavailable(const Evidence& evidence) {
  std::vector<std::pair<std::string, std::string>> grouped;
  for (const Metric& metric : Metrics()) {
    const auto found = evidence.unavailable.find(metric.id);
    if (found == evidence.unavailable.end()) continue;
    auto group = std::find_if(grouped.begin(), grouped.end(),
                              [&](const auto& item) { return item.first == found->second; });
    if (group == grouped.end()) group = grouped.insert(group, {found->second, ""});
    if (!group->second.empty()) group->second += ", ";
    group->second += metric.name;
  }
  return grouped;
}

std::string Decoded(const KernelInfo& info) {
  std::vector<std::string> parts = {std::string(ToString(info.family))};
  if (info.tensor_core == TensorCore::kYes) parts.push_back("tensor core");
  if (info.tensor_core == TensorCore::kNo) parts.push_back("no tensor core");
  if (!info.epilogue.empty() && info.epilogue != "none")
    parts.push_back("epilogue " + info.epilogue);
  if (info.ops.size() > 1) parts.push_back("fuses " + Join(info.ops, " "));
  return Safe(Join(parts, ", "));
}

std::string Caller(const KernelRow& row) {
  std::vector<std::string> parts;
  const std::vector<std::string_view> path = PathElements(row.op_path);
  if (!path.empty()) parts.push_back(Shorten(path.back(), 50));
  if (path.size() > 1 && row.info.family == Family::kCopy && row.backward_of.empty()) {
    parts.back() += " for " + Shorten(path.front(), 50);
  }
  if (!row.backward_of.empty()) parts.push_back("backward of " + row.backward_of);
  if (!row.modules.empty()) parts.push_back("in " + PlaceText(row.modules));
  return Join(parts, ", ");
}

std::string Inputs(const KernelRow& row) {
  std::string text(row.FirstDims());
  if (text.empty()) return row.input_types;
  if (!row.input_types.empty()) text += " of " + row.input_types;
  const auto others = static_cast<int64_t>(row.shapes.size()) - 1;
  if (others > 0) text += ", and " + Plural(others, "other shape");
  return text;
}

std::string SeriesName(const TimedSeries& series, const Evidence& evidence) {
  const bool several = std::any_of(
      evidence.timed_series.begin(), evidence.timed_series.end(),
      [&](const TimedSeries& other) { return other.process != evidence.timed_series[0].process; });
  const std::string name = series.name == "device_latency" ? "device latency" : series.name;
  return Safe(several ? fmt::format("{}, process {}", name, series.process) : name);
}

std::string SeriesText(const TimedSeries& series) {
  const auto time = [](int64_t ns) {
    return FormatValue(static_cast<double>(ns), Unit::kNanoseconds);
  };
  std::vector<std::string> parts;
  for (const SeriesPercentile& percentile : series.percentiles) {
    std::string part = fmt::format("p{:.0f} ", 100 * percentile.p);
    if (!percentile.value) {
      part += fmt::format("n/a ({} < {})", series.samples, percentile.needs);
    } else if (percentile.low && percentile.high) {
      part += fmt::format("{} ({} to {})", time(*percentile.value), time(*percentile.low),
                          time(*percentile.high));
    } else {
      part += fmt::format("{} (interval n/a: {} < {})", time(*percentile.value), series.samples,
                          percentile.interval_needs);
    }
    parts.push_back(std::move(part));
  }
  std::string steady = "steady: " + (series.steady.empty() ? "too few iterations" : series.steady);
  if (series.steady == "yes" && series.warmup_iterations > 0) {
    steady += fmt::format(", after {} of {}", series.warmup_iterations, series.samples);
  }
  if (series.steady == "drifting") steady += fmt::format(", {:+.1f} %", 100 * series.drift);
  parts.push_back(std::move(steady));
  if (series.outliers > 0) {
    parts.push_back(
        fmt::format("{}, {} of them far", Plural(series.outliers, "outlier"), series.far_outliers));
  }
  return Safe(Join(parts, "; "));
}

}  // namespace perfgate
