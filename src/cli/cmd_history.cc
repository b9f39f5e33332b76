#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <ostream>
#include <span>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "store/store.h"

namespace perfgate::cli {
namespace {

MetricId MetricOf(const std::string& name) {
  if (const std::optional<MetricId> id = FindMetric(name)) return *id;
  std::vector<std::string> names;
  for (const Metric& metric : Metrics()) names.emplace_back(metric.name);
  const std::optional<std::string> nearest = Nearest(name, names);
  throw Error(Fault::kUsage, fmt::format("--metric {}: there is no such metric{}", Printable(name),
                                         nearest ? ": did you mean `" + *nearest + "`?"
                                                 : "; there are: " + Join(names, ", ")));
}

int ListRuns(const Store& store, Format format, World& world) {
  Json rows{Json::Array{}};
  for (const RunRow& run : store.ListRuns()) {
    if (format == Format::kJson) {
      rows.Push(Json(Json::Object{{"run", Json(run.id)},
                                  {"suite", Json(run.suite)},
                                  {"started", Json(run.started)},
                                  {"commit", Json(run.commit)},
                                  {"status", Json(run.status)},
                                  {"cases", Json(run.cases)}}));
      continue;
    }
    world.Out() << fmt::format("{}  {:<11}  {:>8}  {:<8}  {}\n", Printable(run.id), run.status,
                               Plural(run.cases, "case"), ShortCommit(run.commit, false),
                               Printable(run.suite));
  }
  if (format == Format::kJson) world.Out() << WriteJson(rows, 1);
  return 0;
}

std::string ShownValue(const HistoryPoint& point, const Metric& metric) {
  if (point.value) return FormatValue(*point.value, metric.unit);
  return point.unavailable.empty() ? "varies" : "n/a";
}

// The last values, one character each from the lowest to the highest; a blank where there is none.
std::string Sparkline(std::span<const HistoryPoint> points) {
  constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kMostPoints = 60;
  if (points.size() > kMostPoints) points = points.last(kMostPoints);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const HistoryPoint& point : points) {
    if (!point.value) continue;
    low = std::min(low, *point.value);
    high = std::max(high, *point.value);
  }
  std::string line;
  for (const HistoryPoint& point : points) {
    const double part = point.value && high > low ? (*point.value - low) / (high - low) : 0;
    line += point.value ? kLevels[static_cast<size_t>(std::lround(part * 7))] : " ";
  }
  return line;
}

// Only what repeats exactly changes from one run to the next for a reason.
std::string Change(const HistoryPoint& before, const HistoryPoint& now, const Metric& metric) {
  if (metric.exactness != Exactness::kExact || !before.value || !now.value ||
      *before.value == *now.value) {
    return "";
  }
  return "  <- was " + ShownValue(before, metric);
}

// Points of one case and key.
void PrintSeries(std::span<const HistoryPoint> points, const Metric& metric, World& world) {
  world.Out() << fmt::format("{}  (key {})", Printable(points[0].case_name),
                             points[0].key.substr(0, 8))
              << (points.size() > 1 ? "  " + Sparkline(points) : "") << "\n";
  for (size_t i = 0; i < points.size(); ++i) {
    world.Out() << fmt::format("  {}  {:<8}  {:>12}{}\n", Printable(points[i].started),
                               ShortCommit(points[i].commit, false), ShownValue(points[i], metric),
                               i == 0 ? "" : Change(points[i - 1], points[i], metric));
  }
}

void PrintPoints(std::span<const HistoryPoint> points, const Metric& metric, World& world) {
  while (!points.empty()) {
    size_t size = 1;
    while (size < points.size() && points[size].case_name == points[0].case_name &&
           points[size].key == points[0].key) {
      ++size;
    }
    PrintSeries(points.first(size), metric, world);
    points = points.subspan(size);
  }
}

}  // namespace

int History(const HistoryArgs& args, World& world) {
  const std::filesystem::path database = DatabaseHere(args.database);
  if (!std::filesystem::exists(database)) {
    throw Error(Fault::kInput,
                fmt::format("{}: there is no such database: name it with --db", database.string()));
  }
  const Store store(database);
  if (args.metric.empty()) return ListRuns(store, args.format, world);
  const Metric& metric = Info(MetricOf(args.metric));
  std::vector<HistoryPoint> points;
  const std::vector<std::string> globs =
      args.cases.empty() ? std::vector<std::string>{"*"} : args.cases;
  for (const std::string& glob : globs) {
    const std::vector<HistoryPoint> some = store.History(glob, metric.id);
    if (some.empty()) {
      throw Error(Fault::kUsage, fmt::format("--case '{}': no stored case has a value of {}",
                                             Printable(glob), metric.name));
    }
    points.insert(points.end(), some.begin(), some.end());
  }
  if (args.format != Format::kJson) {
    PrintPoints(points, metric, world);
    return 0;
  }
  Json rows{Json::Array{}};
  for (const HistoryPoint& point : points) {
    rows.Push(Json(Json::Object{
        {"case", Json(point.case_name)},
        {"run", Json(point.run_id)},
        {"started", Json(point.started)},
        {"commit", Json(point.commit)},
        {"key", Json(point.key)},
        {"metric", Json(metric.name)},
        {"unit", Json(ToString(metric.unit))},
        {"value", point.value ? Json(*point.value) : Json()},
        {"unavailable", point.unavailable.empty() ? Json() : Json(point.unavailable)}}));
  }
  world.Out() << WriteJson(rows, 1);
  return 0;
}

}  // namespace perfgate::cli
