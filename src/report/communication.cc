#include "report/communication.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "report/html.h"
#include "report/layout.h"
#include "report/markdown.h"

namespace perfgate {
namespace {

// "all_reduce bf16, 8.39 MB, 2 ranks"
std::string Describe(const CollectiveRow& row) {
  std::vector<std::string> parts = {row.dtype.empty() ? row.name : row.name + " " + row.dtype};
  parts.push_back(row.bytes ? FormatValue(static_cast<double>(*row.bytes), Unit::kBytes)
                            : "bytes not said");
  if (row.group_size > 0) parts.push_back(Plural(row.group_size, "rank"));
  return Safe(Join(parts, ", "));
}

// One row of the table of collectives, a step.
struct CollectiveLine {
  std::string count, time, what;
};

std::vector<CollectiveLine> CollectiveLines(const Evidence& evidence) {
  const double steps = std::max(1, evidence.TotalSteps());
  std::vector<CollectiveLine> lines;
  for (const CollectiveRow& row : evidence.collectives) {
    const auto time = static_cast<double>(SaturatingSum(row.time_ns_per_step)) / steps;
    lines.push_back(
        {CountText(row.count_per_step), FormatValue(time, Unit::kNanoseconds), Describe(row)});
  }
  return lines;
}

// One row of the table of metrics in which ranks differ.
struct SpreadLine {
  std::string_view metric;
  std::string median, least, most, spread;
};

std::vector<SpreadLine> SpreadLines(const Evidence& evidence) {
  std::vector<SpreadLine> lines;
  for (const RankSpread& spread : SpreadOverRanks(evidence)) {
    const Metric& metric = Info(spread.metric);
    const auto of = [&metric](int rank, double value) {
      return fmt::format("{} (rank {})", FormatValue(value, metric.unit), rank);
    };
    const double above = 100 * (spread.most - spread.least) / spread.least;
    lines.push_back({metric.name, FormatValue(spread.median, metric.unit),
                     of(spread.least_rank, spread.least), of(spread.most_rank, spread.most),
                     spread.least > 0 ? fmt::format("{:+.1f} %", above) : ""});
  }
  return lines;
}

// "rank 1 on cuda:1, NVIDIA H200, GPU-6b0d…", once for all processes that ran there.
std::vector<std::string> RankLines(const Evidence& evidence) {
  std::vector<std::string> lines;
  for (const Rank& rank : evidence.ranks) {
    std::vector<std::string> where;
    for (const std::string& part : {rank.device, rank.gpu, rank.gpu_uuid}) {
      if (!part.empty()) where.push_back(part);
    }
    std::string line = fmt::format("rank {} on {}", rank.rank,
                                   where.empty() ? "an unknown device" : Join(where, ", "));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

std::string RanksAsText(const Evidence& evidence) {
  if (evidence.ranks.empty()) return "";
  std::string text = "\nranks\n";
  for (const std::string& line : RankLines(evidence)) text += "  " + Safe(line) + "\n";
  const std::vector<SpreadLine> lines = SpreadLines(evidence);
  if (lines.empty()) return text;
  text += fmt::format("\n  {:<20} {:>12}   {:<22} {:<22} {}\n", "where ranks differ", "median",
                      "least", "most", "spread");
  for (const SpreadLine& line : lines) {
    text += fmt::format("  {:<20} {:>12}   {:<22} {:<22} {}\n", line.metric, line.median,
                        line.least, line.most, line.spread);
  }
  return text;
}

}  // namespace

std::string CountText(const std::vector<int64_t>& per_step) {
  if (per_step.empty()) return "0";
  const auto [least, most] = std::minmax_element(per_step.begin(), per_step.end());
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{}..{}", *least, *most);
}

std::string CommunicationAsText(const Evidence& evidence) {
  std::string text = RanksAsText(evidence);
  const std::vector<CollectiveLine> lines = CollectiveLines(evidence);
  if (lines.empty()) return text;
  text += fmt::format("\ncollectives, a step\n{:>9}  {:>9}         {}\n", "count", "time",
                      "name, bytes, ranks that take part");
  for (const CollectiveLine& line : lines) {
    text += fmt::format("{:>9}  {:>9}         {}\n", line.count, line.time, line.what);
  }
  return text;
}

std::string CommunicationAsMarkdown(const Evidence& evidence) {
  std::string text;
  if (!evidence.ranks.empty()) text += "\n### Ranks\n\n";
  for (const std::string& line : RankLines(evidence)) text += "- " + markdown::Prose(line) + "\n";
  const std::vector<SpreadLine> spreads = SpreadLines(evidence);
  if (!spreads.empty()) {
    text +=
        "\n| where ranks differ | median | least | most | spread |\n"
        "| --- | ---: | ---: | ---: | ---: |\n";
  }
  for (const SpreadLine& line : spreads) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", markdown::Code(line.metric), line.median,
                        line.least, line.most, line.spread);
  }
  const std::vector<CollectiveLine> lines = CollectiveLines(evidence);
  if (!lines.empty()) {
    text += "\n### Collectives, a step\n\n| count | time | collective |\n| ---: | ---: | --- |\n";
  }
  for (const CollectiveLine& line : lines) {
    text += fmt::format("| {} | {} | {} |\n", line.count, line.time, markdown::Prose(line.what));
  }
  return text;
}

std::string CommunicationAsHtml(const Evidence& evidence, std::string_view side) {
  const std::string of = side.empty() ? "" : fmt::format(", {}", side);
  std::string text;
  for (const std::string& line : RankLines(evidence)) text += "<li>" + html::Text(line) + "</li>\n";
  if (!text.empty()) text = "<ul>\n" + text + "</ul>\n";
  html::Table ranks(
      "Metrics in which ranks differ" + of,
      {{"metric"}, {"median", true}, {"least", true}, {"most", true}, {"spread", true}});
  for (const SpreadLine& line : SpreadLines(evidence)) {
    ranks.Add({{html::Code(line.metric)},
               {html::Text(line.median)},
               {html::Text(line.least)},
               {html::Text(line.most)},
               {html::Text(line.spread)}});
  }
  html::Table collectives("Collectives, a step" + of,
                          {{"collective"}, {"count", true}, {"time", true}});
  for (const CollectiveLine& line : CollectiveLines(evidence)) {
    collectives.Add({{html::Text(line.what)}, {line.count}, {html::Text(line.time)}});
  }
  return text + ranks.Take() + collectives.Take();
}

}  // namespace perfgate
