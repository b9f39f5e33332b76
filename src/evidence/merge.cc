#include "evidence/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "evidence/ranks.h"
#include "evidence/rows.h"
#include "kernel/kernel.h"

namespace perfgate {
namespace {

size_t StepsSoFar(const Evidence& evidence) {
  size_t steps = 0;
  for (const int count : evidence.steps) steps += static_cast<size_t>(std::max(count, 1));
  return steps;
}

void Append(std::vector<int64_t>& into, const std::vector<int64_t>& from, size_t before,
            size_t added) {
  into.resize(before);
  into.insert(into.end(), from.begin(), from.end());
  into.resize(before + added);
}

void AppendCounts(KernelRow& into, const KernelRow& from, size_t before, size_t added) {
  Append(into.count_per_step, from.count_per_step, before, added);
  Append(into.time_ns_per_step, from.time_ns_per_step, before, added);
  if (!into.bytes_per_step.empty() || !from.bytes_per_step.empty()) {
    Append(into.bytes_per_step, from.bytes_per_step, before, added);
  }
  std::vector<int64_t> streams;
  std::set_union(into.streams.begin(), into.streams.end(), from.streams.begin(), from.streams.end(),
                 std::back_inserter(streams));
  into.streams = std::move(streams);
  for (const ShapeUse& use : from.shapes) AddShape(into, use);
  for (const PlaceUse& use : from.modules) AddPlace(into.modules, use);
  for (const PlaceUse& use : from.annotations) AddPlace(into.annotations, use);
}

void AppendCounts(OperatorRow& into, const OperatorRow& from, size_t before, size_t added) {
  Append(into.count_per_step, from.count_per_step, before, added);
}

void AppendIdle(IdleTimes& into, const IdleTimes& from, size_t before, size_t added) {
  if (into.empty() && from.empty()) return;
  Append(into.launch_ns, from.launch_ns, before, added);
  Append(into.sync_ns, from.sync_ns, before, added);
  Append(into.queued_ns, from.queued_ns, before, added);
  into.queue_depth.resize(before);
  into.queue_depth.insert(into.queue_depth.end(), from.queue_depth.begin(), from.queue_depth.end());
  into.queue_depth.resize(before + added);
}

void AppendCounts(CollectiveRow& into, const CollectiveRow& from, size_t before, size_t added) {
  Append(into.count_per_step, from.count_per_step, before, added);
  Append(into.time_ns_per_step, from.time_ns_per_step, before, added);
}

using RowKey = std::tuple<std::string, std::string, std::string, int64_t>;
RowKey KeyOf(const KernelRow& row) { return {row.device, row.name, row.op_path, 0}; }
RowKey KeyOf(const OperatorRow& row) { return {row.name, "", "", 0}; }
RowKey KeyOf(const CollectiveRow& row) {
  return {row.name, row.dtype, fmt::format("{}", row.group_size), row.bytes.value_or(-1)};
}

// A row of generated code, whose number another process gives to another kernel.
struct Numbered {
  double a_step = 0;
  std::string name;
  KernelRow* row = nullptr;  // of the process that comes; of the first ones none
};

// What computes the same by its name, numbers left out.
struct Alike {
  std::vector<Numbered> first, here;
};

void AddNumbered(KernelRow* row, const KernelRow& of, size_t steps, bool first,
                 std::map<RowKey, Alike>& groups) {
  const KernelInfo info = DecodeKernelName(of.name);
  if (info.library != "inductor") return;
  Alike& alike = groups[{of.device, info.canonical, of.op_path, 0}];
  const double a_step = static_cast<double>(of.Count()) / static_cast<double>(steps);
  (first ? alike.first : alike.here).push_back({a_step, of.name, row});
}

// The rows that run equally often are each other's, in order of their appearance; then the rest.
// What the first ones have no name for keeps one of its process.
void Rename(Alike alike) {
  const auto by_count = [](const Numbered& a, const Numbered& b) { return a.a_step < b.a_step; };
  std::stable_sort(alike.first.begin(), alike.first.end(), by_count);
  std::stable_sort(alike.here.begin(), alike.here.end(), by_count);
  std::set<std::string> given;
  std::deque<std::string> names;
  std::vector<KernelRow*> rows;
  auto first = alike.first.begin();
  for (const Numbered& here : alike.here) {
    for (; first != alike.first.end() && by_count(*first, here); ++first) {
      names.push_back(first->name);
    }
    if (first == alike.first.end() || by_count(here, *first)) {
      rows.push_back(here.row);
    } else {
      given.insert(here.row->name = (first++)->name);
    }
  }
  for (; first != alike.first.end(); ++first) names.push_back(first->name);
  given.insert(names.begin(), names.end());
  for (const Numbered& here : alike.here) {
    if (!given.contains(here.name)) names.push_back(here.name);
  }
  for (KernelRow* row : rows) {
    row->name = std::move(names.front());
    names.pop_front();
  }
}

bool HaveTheSameRows(const std::vector<KernelRow>& first, size_t before,
                     const std::vector<KernelRow>& rows, size_t added) {
  std::map<RowKey, int64_t> counts;
  for (const KernelRow& row : first) counts[KeyOf(row)] = row.Count();
  return std::all_of(rows.begin(), rows.end(), [&](const KernelRow& row) {
    const auto same = counts.find(KeyOf(row));
    if (same == counts.end()) return false;
    return static_cast<double>(same->second) * static_cast<double>(added) ==
           static_cast<double>(row.Count()) * static_cast<double>(before);
  });
}

// Each process numbers the code that it generates: what runs here takes the names that the first
// process gave.
void TakeFirstNames(const std::vector<KernelRow>& first, size_t before,
                    std::vector<KernelRow>& rows, size_t added) {
  if (before == 0 || added == 0 || HaveTheSameRows(first, before, rows, added)) return;
  std::map<RowKey, Alike> groups;
  for (const KernelRow& row : first) AddNumbered(nullptr, row, before, true, groups);
  for (KernelRow& row : rows) AddNumbered(&row, row, added, false, groups);
  for (auto& [key, alike] : groups) Rename(std::move(alike));
}

// Rows of both get the steps of both; a row that one side lacks has zeros there.
template <typename Row>
void AppendRows(std::vector<Row>& into, std::vector<Row> from, size_t before, size_t added) {
  if (before > 0 && (into.size() + from.size()) > 0) {
    std::map<RowKey, size_t> index;
    for (size_t i = 0; i < into.size(); ++i) index.emplace(KeyOf(into[i]), i);
    for (Row& row : from) {
      const auto [found, fresh] = index.try_emplace(KeyOf(row), into.size());
      if (fresh) {
        Row empty = row;
        empty.count_per_step.clear();
        if constexpr (!std::is_same_v<Row, OperatorRow>) empty.time_ns_per_step.clear();
        if constexpr (std::is_same_v<Row, KernelRow>) {
          empty.bytes_per_step.clear();
          empty.shapes.clear();
          empty.modules.clear();
          empty.annotations.clear();
        }
        into.push_back(std::move(empty));
      }
      AppendCounts(into[found->second], row, before, added);
    }
    for (Row& row : into) {
      if (row.count_per_step.size() < before + added) AppendCounts(row, Row{}, before, added);
    }
    return;
  }
  into = std::move(from);
}

void AppendLines(std::vector<std::string>& into, const std::vector<std::string>& from,
                 const std::string& label) {
  for (const std::string& line : from) {
    AddUnique(into, label.empty() ? line : fmt::format("{}: {}", label, line));
  }
}

// Counts of a process by name, to say in words how two processes differ, and which ranks.
void NoteDisagreement(const Evidence& evidence, MetricId id, std::string& text) {
  std::map<std::string, std::set<int>> seen;  // the ranks that have the value
  for (const Observation& observation : evidence.values) {
    if (observation.metric != id || observation.per_step.empty()) continue;
    const auto [least, most] =
        std::minmax_element(observation.per_step.begin(), observation.per_step.end());
    const std::string value =
        *least == *most ? fmt::format("{}", *least) : fmt::format("{}..{}", *least, *most);
    seen[value].insert(observation.rank);
  }
  if (seen.size() < 2) return;
  std::vector<std::string> values;
  for (const auto& [value, ranks] : seen) {
    values.push_back(evidence.ranks.empty() ? value
                                            : fmt::format("{} ({})", value, RanksText(ranks)));
  }
  if (!text.empty()) text += ", ";
  text += fmt::format("{} {}", Info(id).name, Join(values, " / "));
}

}  // namespace

void AddUnique(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

void AppendProcess(ProcessEvidence process, const Attempt& attempt, const std::optional<Rank>& rank,
                   const std::string& label, Evidence& evidence) {
  const size_t before = StepsSoFar(evidence);
  const size_t added = process.window.steps.size();
  evidence.steps.push_back(process.window.marked ? process.window.Count() : 0);
  TakeFirstNames(evidence.kernels, before, process.kernels, added);
  AppendRows(evidence.kernels, std::move(process.kernels), before, added);
  AppendRows(evidence.transfers, std::move(process.transfers), before, added);
  AppendRows(evidence.syncs, std::move(process.syncs), before, added);
  AppendRows(evidence.operators, std::move(process.operators), before, added);
  AppendRows(evidence.collectives, std::move(process.collectives), before, added);
  AppendIdle(evidence.idle, process.idle, before, added);
  if (before == 0) evidence.time_line = std::move(process.time_line);
  if (rank) evidence.ranks.push_back(*rank);
  for (auto& [metric, values] : process.values) {
    evidence.values.push_back({metric, attempt.side, attempt.pair, attempt.process,
                               std::move(values), rank ? rank->rank : 0});
  }
  for (auto& [metric, reason] : process.unavailable) evidence.unavailable.emplace(metric, reason);
  evidence.pre_window += process.pre_window;
  AppendLines(evidence.incomplete_because, process.incomplete, label);
  AppendLines(evidence.notes, process.notes, label);
  AppendLines(evidence.explain, process.explain, label);
}

void CompleteMetrics(const Case& declared, Evidence& evidence) {
  const bool gpu = evidence.device_kind == "cuda";
  const bool traced = !evidence.steps.empty();
  for (const auto& [metric, reason] : evidence.unavailable) {
    std::erase_if(evidence.values, [id = metric](const Observation& o) { return o.metric == id; });
  }
  std::set<MetricId> known;
  for (const Observation& observation : evidence.values) known.insert(observation.metric);
  for (const Metric& metric : Metrics()) {
    if (known.contains(metric.id)) continue;
    std::string reason = fmt::format("needs {}", metric.needs);
    if (metric.device == MetricDevice::kGpu && !gpu) reason = "not a GPU case";
    if (metric.device == MetricDevice::kCpu && gpu) reason = "not a CPU case";
    if (metric.id == MetricId::kRelativeError || metric.id == MetricId::kMaxAbsError) {
      if (declared.reference.empty()) reason = "the case declares no reference";
    } else if (!traced && metric.needs.starts_with("a trace")) {
      reason = "no trace could be read";
    }
    evidence.unavailable.emplace(metric.id, std::move(reason));
  }
  std::stable_sort(evidence.values.begin(), evidence.values.end(),
                   [](const Observation& a, const Observation& b) { return a.metric < b.metric; });
  if (evidence.steps.size() < 2) return;
  std::string differing;
  for (const Metric& metric : Metrics()) {
    // The same sums in another order end in other bits: what counts is the worst process.
    if (metric.exactness == Exactness::kExact && !metric.worst_process) {
      NoteDisagreement(evidence, metric.id, differing);
    }
  }
  NoteUnevenRanks(evidence);
  if (!differing.empty()) {
    evidence.notes.push_back(fmt::format(
        "the traced {} disagree: {}", evidence.ranks.empty() ? "processes" : "ranks", differing));
  }
}

}  // namespace perfgate
