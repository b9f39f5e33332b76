// What both sides hold, row by row: kernels, metrics, environment, what was left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/units.h"
#include "report/communication.h"
#include "report/evidence_words.h"
#include "report/html.h"
#include "report/html_sections.h"
#include "report/numerics.h"

namespace perfgate::html {
namespace {

// Rows with the longest time; a table of more is no help, and a page has its limit.
constexpr size_t kMostRows = 400;
constexpr size_t kLongestName = 300;

// The rows of both sides that are the same work: of one name that survives renumbering.
struct RowPair {
  const KernelRow* base = nullptr;
  const KernelRow* head = nullptr;
  double base_ns = 0, head_ns = 0;  // a step

  const KernelRow& Any() const { return head != nullptr ? *head : *base; }
  double Longest() const { return std::max(base_ns, head_ns); }
};

using Rows = std::vector<KernelRow> Evidence::*;
// Gives heads of `head` to the pairs of base that are alone and of the same name, in order of time.
void Match(std::vector<const TimedRow*>* head, bool with_path, std::vector<RowPair>* pairs) {
  using Name = std::tuple<std::string_view, std::string_view, std::string_view>;
  const auto name_of = [&](const KernelRow& row) {
    return Name{row.device, row.info.canonical.empty() ? row.name : row.info.canonical,
                with_path ? std::string_view(row.op_path) : std::string_view()};
  };
  std::multimap<Name, RowPair*> alone;
  for (RowPair& pair : *pairs) {
    if (pair.head == nullptr) alone.emplace(name_of(*pair.base), &pair);
  }
  std::erase_if(*head, [&](const TimedRow* item) {
    const auto same = alone.find(name_of(*item->row));
    if (same == alone.end()) return false;
    same->second->head = item->row;
    same->second->head_ns = item->time_ns;
    alone.erase(same);
    return true;
  });
}

std::vector<RowPair> PairRows(const Sides& sides, Rows rows) {
  std::vector<RowPair> pairs;
  std::vector<TimedRow> head_rows;
  if (sides.base != nullptr) {
    for (const TimedRow& item : ByTime(*sides.base, sides.base->*rows)) {
      pairs.push_back({item.row, nullptr, item.time_ns, 0});
    }
  }
  if (sides.head != nullptr) head_rows = ByTime(*sides.head, sides.head->*rows);
  std::vector<const TimedRow*> head;
  for (const TimedRow& item : head_rows) head.push_back(&item);
  Match(&head, true, &pairs);
  Match(&head, false, &pairs);
  for (const TimedRow* item : head) pairs.push_back({nullptr, item->row, 0, item->time_ns});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const RowPair& a, const RowPair& b) { return a.Longest() > b.Longest(); });
  return pairs;
}

// Kinds of change by (exact name, operator path) of the kernels that they speak of.
class ChangedRows {
 public:
  explicit ChangedRows(const Diff* diff) {
    if (diff == nullptr) return;
    for (const Change& change : diff->changes) {
      for (const auto* side : {&change.base, &change.head}) {
        for (const ChangedKernel& kernel : *side) {
          kinds_[{kernel.name, kernel.op_path}].insert(ToString(change.kind));
        }
      }
    }
  }
  std::string Of(const RowPair& pair) const {
    std::set<std::string_view> kinds;
    for (const KernelRow* row : {pair.base, pair.head}) {
      if (row == nullptr) continue;
      const auto found = kinds_.find({row->name, row->op_path});
      if (found != kinds_.end()) kinds.insert(found->second.begin(), found->second.end());
    }
    std::string text;
    for (const std::string_view kind : kinds) text += (text.empty() ? "" : ", ") + Text(kind);
    return text;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::set<std::string_view>> kinds_;
};

std::string NameCell(const KernelRow& row) {
  const std::string& name = row.info.short_name.empty() ? row.name : row.info.short_name;
  std::string text = Code(Shorten(name, 80));
  if (name != row.name) {
    text += "<br><span class=\"exact\">" + Text(Shorten(row.name, kLongestName)) + "</span>";
  }
  return text;
}

std::string CallerCell(const KernelRow& row) {
  std::string text = Text(Caller(row));
  if (const std::string inputs = Inputs(row); !inputs.empty()) {
    text += "<br><span class=\"exact\">" + Text(Shorten(inputs, kLongestName)) + "</span>";
  }
  return text;
}

void AddSide(const KernelRow* row, double time_ns, std::vector<Cell>* cells) {
  if (row == nullptr) {
    cells->insert(cells->end(), {{"–", 0}, {"–", 0}});
    return;
  }
  cells->push_back({CountText(row->count_per_step), static_cast<double>(row->Count())});
  cells->push_back({Time(time_ns), time_ns});
}

// "+12.3 us"
std::string Signed(double rise, Unit unit) {
  return Text((rise < 0 ? "-" : "+") + FormatValue(std::abs(rise), unit));
}

std::vector<Column> RowColumns(const Sides& sides) {
  std::vector<Column> columns = {{"kernel"}, {"what it is"}, {"called by, with"}};
  const bool both = sides.base != nullptr && sides.head != nullptr;
  if (sides.base != nullptr) {
    columns.insert(columns.end(), {{"base: launches", true}, {"base: time", true}});
  }
  if (sides.head != nullptr) {
    columns.insert(columns.end(), {{both ? "head: launches" : "launches", true},
                                   {both ? "head: time" : "time", true}});
  }
  if (both) columns.insert(columns.end(), {{"difference", true}, {"change"}});
  return columns;
}

std::string RowTableOf(const Sides& sides, Rows rows, std::string_view title,
                       const ChangedRows& changed) {
  const std::vector<RowPair> pairs = PairRows(sides, rows);
  Table table(std::string(title) + ", a step", RowColumns(sides), true);
  const bool both = sides.base != nullptr && sides.head != nullptr;
  for (size_t i = 0; i < pairs.size() && i < kMostRows; ++i) {
    const RowPair& pair = pairs[i];
    std::vector<Cell> cells = {
        {NameCell(pair.Any())}, {Text(Decoded(pair.Any().info))}, {CallerCell(pair.Any())}};
    if (sides.base != nullptr) AddSide(pair.base, pair.base_ns, &cells);
    if (sides.head != nullptr) AddSide(pair.head, pair.head_ns, &cells);
    const std::string change = both ? changed.Of(pair) : "";
    if (both) {
      const double rise = pair.head_ns - pair.base_ns;
      cells.push_back({Signed(rise, Unit::kNanoseconds), rise});
      cells.push_back({change});
    }
    table.Add(cells, change.empty() ? "" : "look");
  }
  std::string text = table.Take();
  if (pairs.size() > kMostRows) {
    text += fmt::format(
        "<p>The {} rows with the longest times; {} more are left out here: the JSON form of "
        "<code>perfgate inspect</code> has them.</p>\n",
        kMostRows, pairs.size() - kMostRows);
  }
  return text;
}

std::string MetricCell(const Evidence* evidence, const Metric& metric, MetricValue* value) {
  if (evidence == nullptr) return "";
  *value = Summarise(*evidence, metric.id);
  if (!value->value && value->per_step.empty()) return "–";
  return Text(MetricText(*value, metric));
}

std::string Difference(const MetricValue& base, const MetricValue& head, Unit unit) {
  if (!base.value || !head.value) return "";
  const double rise = *head.value - *base.value;
  if (rise == 0) return "0";
  std::string text = Signed(rise, unit);
  if (*base.value != 0) text += fmt::format(" ({:+.1f} %)", 100 * rise / *base.value);
  return text;
}

using Fields = std::map<std::string, std::string>;

// The number of fields that differ.
int64_t AddFields(const Fields* base, const Fields* head, std::string_view kind, Table* table) {
  int64_t differing = 0;
  std::set<std::string> names;
  for (const Fields* fields : {base, head}) {
    if (fields == nullptr) continue;
    for (const auto& [name, value] : *fields) names.insert(name);
  }
  const auto value = [](const Fields* fields, const std::string& name) {
    const auto found = fields->find(name);
    return found == fields->end() ? std::string() : found->second;
  };
  for (const std::string& name : names) {
    std::vector<Cell> cells = {{Text(name)}, {std::string(kind)}};
    for (const Fields* fields : {base, head}) {
      if (fields != nullptr) cells.push_back({Text(value(fields, name))});
    }
    const bool differ =
        base != nullptr && head != nullptr && value(base, name) != value(head, name);
    if (base != nullptr && head != nullptr) cells.push_back({differ ? "differs" : ""});
    table->Add(cells, differ ? "look" : "");
    differing += differ;
  }
  return differing;
}

std::vector<Column> SideColumns(const Sides& sides, std::vector<Column> columns, bool numbers) {
  const bool both = sides.base != nullptr && sides.head != nullptr;
  if (sides.base != nullptr) columns.push_back({"base", numbers});
  if (sides.head != nullptr) columns.push_back({both ? "head" : "value", numbers});
  if (both) columns.push_back({"difference", numbers});
  return columns;
}

}  // namespace

std::string Kernels(const Sides& sides, const Diff* diff) {
  const ChangedRows changed(diff);
  const std::string text = RowTableOf(sides, &Evidence::kernels, "Kernels", changed) +
                           RowTableOf(sides, &Evidence::transfers, "Copies and fills", changed) +
                           RowTableOf(sides, &Evidence::syncs, "Synchronising calls", changed);
  return text.empty() ? "" : "<h3>Kernels</h3>\n" + text;
}

std::string Communication(const Sides& sides) {
  const bool both = sides.base != nullptr && sides.head != nullptr;
  std::string text;
  if (sides.base != nullptr) text += CommunicationAsHtml(*sides.base, both ? "base" : "");
  if (sides.head != nullptr) text += CommunicationAsHtml(*sides.head, both ? "head" : "");
  return text.empty() ? "" : "<h3>Ranks and collectives</h3>\n" + text;
}

std::string Numerics(const Sides& sides) {
  const std::string text = sides.head == nullptr ? "" : NumericsAsHtml(*sides.head);
  return text.empty() ? "" : "<h3>Outputs</h3>\n" + text;
}

std::string MetricsOf(const Sides& sides) {
  std::vector<Column> columns = SideColumns(sides, {{"metric"}}, true);
  columns.push_back({"what it is"});
  Table table("Metrics, a step", columns);
  for (const Metric& metric : Metrics()) {
    MetricValue base, head;
    const std::string base_cell = MetricCell(sides.base, metric, &base);
    const std::string head_cell = MetricCell(sides.head, metric, &head);
    if (base.per_step.empty() && head.per_step.empty()) continue;
    std::vector<Cell> cells = {{Code(metric.name)}};
    if (sides.base != nullptr) cells.push_back({base_cell});
    if (sides.head != nullptr) cells.push_back({head_cell});
    const bool both = sides.base != nullptr && sides.head != nullptr;
    if (both) cells.push_back({Difference(base, head, metric.unit)});
    cells.push_back({Text(metric.help)});
    table.Add(cells);
  }
  return Folded("Metrics", table.Take());
}

std::string Environment(const Sides& sides) {
  Table table("Environment", SideColumns(sides, {{"field"}, {"kind"}}, false));
  const Key* base = sides.base == nullptr ? nullptr : &sides.base->key;
  const Key* head = sides.head == nullptr ? nullptr : &sides.head->key;
  const int64_t differing = AddFields(base ? &base->fields : nullptr,
                                      head ? &head->fields : nullptr, "must be equal", &table) +
                            AddFields(base ? &base->recorded : nullptr,
                                      head ? &head->recorded : nullptr, "recorded", &table);
  const bool differ = base != nullptr && head != nullptr && differing > 0;
  return Folded(differ ? "Environment: " + Plural(differing, "difference") : "Environment",
                table.Take());
}

std::string LeftOut(const Sides& sides) {
  std::string text;
  for (const Evidence* evidence : {sides.base, sides.head}) {
    if (evidence == nullptr) continue;
    std::string items;
    for (const auto& [reason, metrics] : Unavailable(*evidence)) {
      items += fmt::format("<li>not available: {}: {}</li>\n", Text(metrics), Text(reason));
    }
    for (const std::string& line : evidence->explain) items += "<li>" + Text(line) + "</li>\n";
    if (items.empty()) continue;
    if (sides.base != nullptr && sides.head != nullptr) {
      text += evidence == sides.base ? "<h4>base</h4>\n" : "<h4>head</h4>\n";
    }
    text += "<ul>\n" + items + "</ul>\n";
  }
  return Folded("What was left out, and why", text);
}

}  // namespace perfgate::html
