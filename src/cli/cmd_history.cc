#include <fmt/format.h>

#include <filesystem>
#include <ostream>

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

void PrintPoints(const std::vector<HistoryPoint>& points, const Metric& metric, World& world) {
  std::string heading;
  for (const HistoryPoint& point : points) {
    const std::string here =
        fmt::format("{}  (key {})", Printable(point.case_name), point.key.substr(0, 8));
    if (here != heading) world.Out() << here << "\n";
    heading = here;
    world.Out() << fmt::format("  {}  {:<8}  {:>12}\n", Printable(point.started),
                               ShortCommit(point.commit, false), ShownValue(point, metric));
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
