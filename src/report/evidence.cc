// What a trace proves, for a person: `perfgate inspect`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/communication.h"
#include "report/layout.h"
#include "report/markdown.h"
#include "report/report.h"

namespace perfgate {
namespace {

// One row of the kernel table, everything a step.
struct TableRow {
  const KernelRow* row = nullptr;
  std::string count;
  double time_ns = 0;
};

// Longest time first, names decide between equals.
std::vector<TableRow> Table(const Evidence& evidence, const std::vector<KernelRow>& rows) {
  const double steps = std::max(1, evidence.TotalSteps());
  std::vector<TableRow> table;
  for (const KernelRow& row : rows) {
    table.push_back(
        {&row, CountText(row.count_per_step), static_cast<double>(row.TimeNs()) / steps});
  }
  std::stable_sort(table.begin(), table.end(), [](const TableRow& a, const TableRow& b) {
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

// Reasons with the metrics that they concern: most metrics share a few reasons.
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

// "aten::mm, backward of aten::addmm, in LlamaMLP_0 > Linear_4"; of a copy also who asked for it:
// "aten::copy_ for aten::contiguous".
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

// "[[512, 1024], []] of [c10::BFloat16, Scalar], and 2 other shapes"
std::string Inputs(const KernelRow& row) {
  std::string text(row.FirstDims());
  if (text.empty()) return row.input_types;
  if (!row.input_types.empty()) text += " of " + row.input_types;
  const auto others = static_cast<int64_t>(row.shapes.size()) - 1;
  if (others > 0) text += ", and " + Plural(others, "other shape");
  return text;
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
  const std::vector<TableRow> table = Table(evidence, rows);
  for (const TableRow& item : table) sum += item.time_ns;
  std::string text = fmt::format("\n{}, a step\n{:>9}  {:>9}  {:>5}  {}\n", title, "count", "time",
                                 "share", "name, what it is, called by");
  for (const TableRow& item : table) {
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
        fmt::format("  {:<20} {:>12}   {}\n", metric.name, MetricText(value, metric), metric.help);
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
  text += TextMetrics(evidence);
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
  for (const TableRow& item : Table(evidence, rows)) {
    const std::string& name =
        item.row->info.short_name.empty() ? item.row->name : item.row->info.short_name;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", item.count,
                        FormatValue(item.time_ns, Unit::kNanoseconds),
                        markdown::Code(Shorten(name, 80)), markdown::Prose(Decoded(item.row->info)),
                        markdown::Prose(Caller(*item.row)));
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
  for (const std::string& note : evidence.notes) text += "- note: " + markdown::Prose(note) + "\n";
  text += "\n| metric | a step |\n| --- | ---: |\n";
  for (const Metric& metric : Metrics()) {
    const MetricValue value = Summarise(evidence, metric.id);
    if (!value.value && value.per_step.empty()) continue;
    text += fmt::format("| {} | {} |\n", markdown::Code(metric.name),
                        markdown::Prose(MetricText(value, metric)));
  }
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
