#include "evidence/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "evidence/rows.h"
#include "evidence/run_sort.h"

namespace perfgate {
namespace {

// Operators and calls by thread, of each thread in the order of the file: threads take turns in a
// file a thousand times, and each of them is nearly sorted.
std::vector<uint32_t> ByThread(const EventList& events) {
  const auto on_host = [&events](uint32_t i) {
    return events.Kind(i) == EventKind::kOperator || IsCall(events.Kind(i));
  };
  using Key = std::pair<uint32_t, uint32_t>;  // process and thread
  struct Turn {
    size_t* thread;  // its entry in `threads`
    size_t events;
  };
  std::map<Key, size_t> threads;  // how many events it has
  std::vector<Turn> turns;
  Key last;
  size_t count = 0;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (!on_host(i)) continue;
    const Key key(events[i].process, events[i].thread);
    if (turns.empty() || key != last) turns.push_back({&threads[last = key], 0});
    ++*turns.back().thread;
    ++turns.back().events;
    ++count;
  }
  size_t begin = 0;
  for (auto& [key, thread] : threads) begin += std::exchange(thread, begin);
  // From here on `threads` says where the thread's next event goes.
  std::vector<uint32_t> order(count);
  auto turn = turns.begin();
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (!on_host(i)) continue;
    if (turn->events == 0) ++turn;
    --turn->events;
    order[(*turn->thread)++] = i;
  }
  return order;
}

std::vector<uint32_t> HostOrder(const EventList& events) {
  std::vector<uint32_t> order = ByThread(events);
  SortRuns(order, [&events](uint32_t left, uint32_t right) {
    const TraceEvent& a = events[left];
    const TraceEvent& b = events[right];
    if (a.process != b.process) return a.process < b.process;
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.EndNs() != b.EndNs()) return a.EndNs() > b.EndNs();
    return a.kind < b.kind;  // operators before calls
  });
  return order;
}

}  // namespace

namespace {

constexpr int64_t kToleranceNs = 1000;

// Operators that call no others. In whole microseconds they are often over before they began.
bool CallsNothing(OperatorKind kind) {
  return kind == OperatorKind::kView || kind == OperatorKind::kAllocation ||
         kind == OperatorKind::kMetadata;
}

}  // namespace

bool EnclosesCut(const TraceEvent& outer, const TraceEvent& inner) {
  return outer.process == inner.process && outer.thread == inner.thread &&
         inner.start_ns <= outer.EndNs() && inner.EndNs() <= outer.EndNs() + kToleranceNs;
}

bool Encloses(const TraceEvent& outer, const TraceEvent& inner) {
  return outer.process == inner.process && outer.thread == inner.thread &&
         inner.start_ns < outer.EndNs() && inner.EndNs() <= outer.EndNs() + kToleranceNs;
}

void HostTree::Classify(uint32_t text) {
  const std::string_view name = trace->Text(text);
  kind_of_text[text] = ClassifyOperator(name);
  const bool generated = kind_of_text[text] == OperatorKind::kFused || name.starts_with("triton_");
  if (!generated && name.size() <= kLongestElement) return;
  const std::string element =
      PathElement(generated ? std::string_view(DecodeKernelName(name).canonical) : name);
  if (const std::optional<uint32_t> known = trace->texts.Find(element)) {
    renamed_[text] = *known;
  } else {
    renamed_[text] = static_cast<uint32_t>(kind_of_text.size()) + new_names_.Intern(element);
  }
}

HostTree BuildHostTree(const TraceData& trace) {
  HostTree host;
  host.trace = &trace;
  host.order = HostOrder(trace.events);
  host.parent.assign(trace.events.size(), kNoOperator);
  host.kind_of_text.assign(trace.texts.size(), OperatorKind::kOther);
  host.call_kind_of_text.reserve(trace.texts.size());
  for (uint32_t text = 0; text < trace.texts.size(); ++text) {
    host.call_kind_of_text.push_back(ClassifyCall(trace.Text(text)));
  }
  std::vector<bool> classified(trace.texts.size());
  std::vector<uint32_t> around;
  for (const uint32_t index : host.order) {
    const TraceEvent& event = trace.events[index];
    const auto encloses = [&](uint32_t above) {
      const TraceEvent& outer = trace.events[above];
      const bool cut = trace.whole_microseconds && !CallsNothing(host.KindOf(outer));
      return cut ? EnclosesCut(outer, event) : Encloses(outer, event);
    };
    while (!around.empty() && !encloses(around.back())) around.pop_back();
    if (!around.empty()) host.parent[index] = static_cast<int32_t>(around.back());
    if (event.kind != EventKind::kOperator) continue;
    if (!classified[event.name]) {
      host.Classify(event.name);
      classified[event.name] = true;
    }
    if (host.KindOf(event) != OperatorKind::kCompiler) around.push_back(index);
  }
  return host;
}

bool MayCopyNothing(std::string_view name) {
  return name == "aten::to" || name == "aten::contiguous" || name == "aten::reshape";
}

OperatorOf::OperatorOf(const TraceData& trace, const HostTree& host) : trace_(trace), host_(host) {
  int64_t calls = 0, repeating = 0;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (!IsCall(trace.events.Kind(i))) continue;
    const TraceEvent& event = trace.events[i];
    if (event.external_id == kAbsent) continue;
    ++calls;
    repeating += event.external_id == event.correlation;
  }
  // Decided from the data, never from a date: both old and recent captures repeat it.
  if (calls == 0 || repeating * 100 >= calls * 95) return;
  // Only ids that a call without an operator around it asks for.
  std::vector<int64_t> asked;
  for (const uint32_t index : host.order) {
    if (!IsCall(trace.events.Kind(index)) || host.parent[index] != kNoOperator) continue;
    const int64_t id = trace.events[index].external_id;
    if (id > 0) asked.push_back(id);
  }
  if (asked.empty()) return;
  std::sort(asked.begin(), asked.end());
  for (const uint32_t index : host.order) {
    const TraceEvent& event = trace.events[index];
    if (event.kind == EventKind::kOperator && host.KindOf(event) != OperatorKind::kCompiler &&
        std::binary_search(asked.begin(), asked.end(), event.external_id)) {
      by_external_id_.emplace_back(event.external_id, index);
    }
  }
  std::sort(by_external_id_.begin(), by_external_id_.end());
}

int32_t OperatorOf::operator()(uint32_t call) const {
  const int32_t nested = host_.parent[call];
  if (nested != kNoOperator) return nested;
  const int64_t id = trace_.events[call].external_id;
  if (id <= 0) return kNoOperator;
  const auto [first, last] = std::equal_range(
      by_external_id_.begin(), by_external_id_.end(), std::pair<int64_t, uint32_t>{id, 0},
      [](const auto& a, const auto& b) { return a.first < b.first; });
  return last - first == 1 ? static_cast<int32_t>(first->second) : kNoOperator;
}

namespace {

// Counts of operators a step and the rows of their names.
class OperatorCounts {
 public:
  OperatorCounts(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence)
      : trace_(trace), host_(host), evidence_(evidence) {
    CountCopiesBelow();
    for (const uint32_t index : host.order) {
      if (trace.events.Kind(index) == EventKind::kOperator) Count(index);
    }
    Finish();
  }

 private:
  void CountCopiesBelow() {
    copies_below_.assign(trace_.events.size(), false);
    for (const uint32_t index : host_.order) {
      const TraceEvent& event = trace_.events[index];
      if (event.kind != EventKind::kOperator || host_.KindOf(event) != OperatorKind::kCopy)
        continue;
      for (int32_t op = host_.parent[index]; op != kNoOperator;
           op = host_.parent[static_cast<size_t>(op)]) {
        if (copies_below_[static_cast<size_t>(op)]) break;
        copies_below_[static_cast<size_t>(op)] = true;
      }
    }
  }

  bool IsCopy(uint32_t index) const {
    const TraceEvent& event = trace_.events[index];
    return host_.KindOf(event) == OperatorKind::kCopy && !copies_below_[index] &&
           !MayCopyNothing(trace_.Text(event.name));
  }

  void Count(uint32_t index) {
    const TraceEvent& event = trace_.events[index];
    const int step = step_.At(event.start_ns);
    if (step < 0) {
      ++outside_;
      return;
    }
    const auto at = static_cast<size_t>(step);
    const OperatorKind kind = host_.KindOf(event);
    const std::string_view name = trace_.Text(event.name);
    if (kind == OperatorKind::kCompiler) {
      ++compiler_rows_;
      regions_[at] += name.starts_with("Torch-Compiled Region");
    } else {
      host_ops_[at] += 1;
      root_ops_[at] += host_.parent[index] == kNoOperator;
      view_ops_[at] += kind == OperatorKind::kView;
      copy_ops_[at] += IsCopy(index);
    }
    CountRow(event, at, kind);
  }

  void CountRow(const TraceEvent& event, size_t step, OperatorKind kind) {
    const auto [found, added] = rows_.try_emplace(event.name, Row{event.start_ns, {}});
    Row& row = found->second;
    if (added) {
      if (rows_.size() * evidence_.window.steps.size() > kMostCells) {
        rows_.erase(found);
        overflowed_ = true;
        return;
      }
      row.operators.name = trace_.Text(event.name);
      row.operators.kind = kind;
      row.operators.count_per_step.resize(evidence_.window.steps.size());
    }
    if (added || event.start_ns < row.first_ns) {
      row.first_ns = event.start_ns;
      row.operators.input_dims = trace_.InputDims(event);
    }
    ++row.operators.count_per_step[step];
  }

  void Finish() {
    std::vector<Row> rows;
    for (auto& [name, row] : rows_) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.first_ns < b.first_ns; });
    for (Row& row : rows) evidence_.operators.push_back(std::move(row.operators));
    if (overflowed_)
      evidence_.incomplete.push_back("more operator names and steps than can be kept");
    if (compiler_rows_ > 0) {
      evidence_.explain.push_back(
          Plural(compiler_rows_, "row") +
          " of the compiler (Torch-Compiled Region and the like): what runs "
          "inside is counted, they are no operator calls");
    }
    if (outside_ > 0) {
      evidence_.explain.push_back(Plural(outside_, "operator call") +
                                  " outside the marked steps: not counted");
    }
  }

  struct Row {
    int64_t first_ns = 0;
    OperatorRow operators;
  };

  const TraceData& trace_;
  const HostTree& host_;
  ProcessEvidence& evidence_;
  StepCursor step_{evidence_.window};
  std::vector<double>& host_ops_ = evidence_.Steps(MetricId::kHostOps);
  std::vector<double>& root_ops_ = evidence_.Steps(MetricId::kRootOps);
  std::vector<double>& view_ops_ = evidence_.Steps(MetricId::kViewOps);
  std::vector<double>& copy_ops_ = evidence_.Steps(MetricId::kCopyOps);
  std::vector<double>& regions_ = evidence_.Steps(MetricId::kCompiledRegions);
  std::vector<bool> copies_below_;
  std::map<uint32_t, Row> rows_;
  int64_t outside_ = 0, compiler_rows_ = 0;
  bool overflowed_ = false;
};

constexpr MetricId kHostMetrics[] = {MetricId::kHostOps, MetricId::kRootOps, MetricId::kViewOps,
                                     MetricId::kCopyOps, MetricId::kCompiledRegions};

}  // namespace

void ExtractHost(const TraceData& trace, const HostTree& host, ProcessEvidence& evidence) {
  const bool any = std::any_of(host.order.begin(), host.order.end(), [&trace](uint32_t index) {
    return trace.events.Kind(index) == EventKind::kOperator;
  });
  if (any || trace.profiler != "cupti") {
    OperatorCounts(trace, host, evidence);
    return;
  }
  for (const MetricId id : kHostMetrics) {
    evidence.unavailable[id] = "the collector does not record operators";
  }
}

}  // namespace perfgate
