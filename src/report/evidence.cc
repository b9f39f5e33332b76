// What a trace proves, for a person: `perfgate inspect`.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/communication.h"
#include "report/evidence_words.h"
#include "report/layout.h"
#include "report/markdown.h"
#include "report/numerics.h"
#include "report/report.h"

namespace perfgate {
namespace {

std::string FirstLine(const Evidence& evidence) {
  std::vector<std::string> parts = {StepsText(evidence)};
  if (!evidence.device_name.empty()) parts.push_back(Safe(evidence.device_name));
  for (const char* name : {"torch", "cuda"}) {
    const auto field = evidence.key.fields.find(name);
    if (field != evidence.key.fields.end())
      parts.push_back(std::string(name) + " " + Safe(field->second));
  }
  return fmt::format("{}  {}      {}", evidence.Complete() ? "COMPLETE" : "INCOMPLETE",
                     Safe(evidence.case_name), Join(parts, " · "));
}

// What the table has no room for, under its row.
std::string Details(const KernelRow& row) {
  const std::string margin(29, ' ');
  std::string text = margin + Safe(row.name) + "\n";
  const auto add = [&](std::string_view label, const std::string& what) {
    if (!what.empty()) text += fmt::format("{}{}: {}\n", margin, label, Safe(what));
  };
  if (row.op_path != row.Operator()) add("called through", row.op_path);
  add("called with", Inputs(row));
  add("under the annotation", PlaceText(row.annotations));
  return text;
}

std::string TextTable(const Evidence& evidence, const std::vector<KernelRow>& rows,
                      std::string_view title, bool names) {
  if (rows.empty()) return "";
  double sum = 0;
  const std::vector<TimedRow> table = ByTime(evidence, rows);
  for (const TimedRow& item : table) sum += item.time_ns;
  std::string text = fmt::format("\n{}, a step\n{:>9}  {:>9}  {:>5}  {}\n", title, "count", "time",
                                 "share", "name, what it is, called by");
  for (const TimedRow& item : table) {
    const std::string share = sum > 0 ? fmt::format("{:.0f} %", 100 * item.time_ns / sum) : "";
    text += fmt::format(
        "{:>9}  {:>9}  {:>5}  {}", item.count, FormatValue(item.time_ns, Unit::kNanoseconds), share,
        Shorten(
            Safe(item.row->info.short_name.empty() ? item.row->name : item.row->info.short_name),
            60));
    text += "   [" + Decoded(item.row->info) + "]";
    if (const std::string caller = Caller(*item.row); !caller.empty()) text += "   " + Safe(caller);
    text += "\n";
    if (names) text += Details(*item.row);
  }
  return text;
}

std::string TextMetrics(const Evidence& evidence) {
  std::string text = "\nmetrics\n";
  for (const Metric& metric : Metrics()) {
    const MetricValue value = Summarise(evidence, metric.id);
    if (!value.value && value.per_step.empty()) continue;
    text +=
        fmt::format("  {:<21} {:>11}   {}\n", metric.name, MetricText(value, metric), metric.help);
  }
  return text;
}

std::string TextTimes(const Evidence& evidence, size_t width) {
  if (evidence.timed_series.empty()) return "";
  std::string text = "\ntimes of the processes, with 95 % intervals\n";
  for (const TimedSeries& series : evidence.timed_series) {
    text += fmt::format("  {:<20} {}\n", SeriesName(series, evidence),
                        Wrap(SeriesText(series), width, 23));
  }
  return text;
}

void AppendList(std::string_view label, const std::vector<std::string>& lines, size_t width,
                std::string* text) {
  for (const std::string& line : lines) {
    *text += fmt::format("  {:<12} {}\n", label, Wrap(Safe(line), width, 15));
  }
}

}  // namespace

std::string EvidenceAsText(const Evidence& evidence, const TextStyle& style, bool explain) {
  const auto width = static_cast<size_t>(std::max(style.width, 40));
  std::string text = FirstLine(evidence) + "\n";
  AppendList("incomplete", evidence.incomplete_because, width, &text);
  if (!evidence.plant.empty()) AppendList("planted", {evidence.plant}, width, &text);
  for (const Fallback& fallback : evidence.fallback) {
    AppendList("fallback", {fallback.what + ": " + fallback.why}, width, &text);
  }
  AppendList("note", evidence.notes, width, &text);
  AppendList("note", evidence.notes_on_times, width, &text);
  text += TextMetrics(evidence);
  text += TextTimes(evidence, width);
  text += NumericsAsText(evidence);
  text += CommunicationAsText(evidence);
  text += TextTable(evidence, evidence.kernels, "kernels", explain);
  text += TextTable(evidence, evidence.transfers, "copies and fills", explain);
  text += TextTable(evidence, evidence.syncs, "synchronising calls", explain);
  if (evidence.pre_window > 0) {
    text += fmt::format("\n{} launched before the window, not counted\n",
                        Plural(evidence.pre_window, "GPU activity", "GPU activities"));
  }
  if (explain) {
    text += "\nnot available\n";
    for (const auto& [reason, metrics] : Unavailable(evidence)) {
      text += "  " + Wrap(Safe(metrics + ": " + reason), width, 6) + "\n";
    }
    text += "\nleft out, and why\n";
    if (evidence.explain.empty()) text += "  nothing\n";
    for (const std::string& line : evidence.explain)
      text += "  " + Wrap(Safe(line), width, 6) + "\n";
  } else if (!evidence.unavailable.empty()) {
    text += fmt::format(
        "\n{} not available: --explain says why\n",
        Plural(static_cast<int64_t>(evidence.unavailable.size()), "metric is", "metrics are"));
  }
  return WithoutLogCommands(text);
}

namespace {

std::string MarkdownTable(const Evidence& evidence, const std::vector<KernelRow>& rows,
                          std::string_view title) {
  if (rows.empty()) return "";
  std::string text = fmt::format(
      "\n### {}, a step\n\n| count | time | kernel | what it is | called by |\n"
      "| ---: | ---: | --- | --- | --- |\n",
      title);
  for (const TimedRow& item : ByTime(evidence, rows)) {
    const std::string& name =
        item.row->info.short_name.empty() ? item.row->name : item.row->info.short_name;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", item.count,
                        FormatValue(item.time_ns, Unit::kNanoseconds),
                        markdown::Code(Shorten(name, 80)), markdown::Prose(Decoded(item.row->info)),
                        markdown::Prose(Caller(*item.row)));
  }
  return text;
}

std::string MarkdownTimes(const Evidence& evidence) {
  if (evidence.timed_series.empty()) return "";
  std::string text = "\n### Times of the processes, with 95 % intervals\n\n";
  for (const TimedSeries& series : evidence.timed_series) {
    text += fmt::format("- {}: {}\n", markdown::Prose(SeriesName(series, evidence)),
                        markdown::Prose(SeriesText(series)));
  }
  return text;
}

}  // namespace

std::string EvidenceAsMarkdown(const Evidence& evidence, bool explain) {
  std::string text = "## " + markdown::Prose(FirstLine(evidence)) + "\n\n";
  for (const std::string& reason : evidence.incomplete_because) {
    text += "- **incomplete**: " + markdown::Prose(reason) + "\n";
  }
  if (!evidence.plant.empty())
    text += "- **planted defect**: " + markdown::Code(evidence.plant) + "\n";
  for (const Fallback& fallback : evidence.fallback) {
    text += "- **fallback**: " + markdown::Prose(fallback.what + ": " + fallback.why) + "\n";
  }
  for (const auto* notes : {&evidence.notes, &evidence.notes_on_times}) {
    for (const std::string& note : *notes) text += "- note: " + markdown::Prose(note) + "\n";
  }
  text += "\n| metric | a step |\n| --- | ---: |\n";
  for (const Metric& metric : Metrics()) {
    const MetricValue value = Summarise(evidence, metric.id);
    if (!value.value && value.per_step.empty()) continue;
    text += fmt::format("| {} | {} |\n", markdown::Code(metric.name),
                        markdown::Prose(MetricText(value, metric)));
  }
  text += MarkdownTimes(evidence);
  text += NumericsAsMarkdown(evidence);
  text += CommunicationAsMarkdown(evidence);
  text += MarkdownTable(evidence, evidence.kernels, "Kernels");
  text += MarkdownTable(evidence, evidence.transfers, "Copies and fills");
  text += MarkdownTable(evidence, evidence.syncs, "Synchronising calls");
  if (explain) {
    text += "\n### Not available, left out\n\n";
    for (const auto& [reason, metrics] : Unavailable(evidence)) {
      text += fmt::format("- {}: {}\n", markdown::Prose(metrics), markdown::Prose(reason));
    }
    for (const std::string& line : evidence.explain) text += "- " + markdown::Prose(line) + "\n";
  }
  return WithoutLogCommands(text);
}

}  // namespace perfgate
