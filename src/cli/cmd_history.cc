#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/judging.h"
#include "cli/select.h"
#include "cli/trends.h"
#include "report/report.h"

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

// Throws Error(kUsage) for a glob that no stored case matches.
std::vector<HistoryPoint> PointsOf(const HistoryArgs& args, std::optional<MetricId> metric,
                                   const Store& store) {
  std::vector<HistoryPoint> points;
  const std::vector<std::string> globs =
      args.cases.empty() ? std::vector<std::string>{"*"} : args.cases;
  for (const std::string& glob : globs) {
    const std::vector<HistoryPoint> some = store.History(glob, metric);
    if (some.empty()) {
      throw Error(Fault::kUsage,
                  fmt::format("--case '{}': no stored case has a value{}", Printable(glob),
                              metric ? fmt::format(" of {}", Info(*metric).name) : ""));
    }
    points.insert(points.end(), some.begin(), some.end());
  }
  return points;
}

}  // namespace

int History(const HistoryArgs& args, World& world) {
  const std::filesystem::path database = DatabaseHere(args.database);
  if (!std::filesystem::exists(database)) {
    throw Error(Fault::kInput,
                fmt::format("{}: there is no such database: name it with --db", database.string()));
  }
  const Store store(database);
  if (args.metric.empty() && args.format != Format::kHtml) {
    return ListRuns(store, args.format, world);
  }
  const std::optional<MetricId> metric =
      args.metric.empty() ? std::nullopt : std::optional(MetricOf(args.metric));
  const std::vector<Trend> trends = TrendsOf(PointsOf(args, metric, store));
  switch (args.format) {
    case Format::kJson:
      world.Out() << WriteJson(TrendsAsJson(trends), 3);
      break;
    case Format::kHtml:
      world.Out() << TrendsAsHtml(trends);
      break;
    default:
      world.Out() << TrendsAsText(trends);
  }
  return 0;
}

}  // namespace perfgate::cli
