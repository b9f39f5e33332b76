// Copies and fills that came and went, and waits of the host.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

struct Steps {
  double base, head;
};

// What one operator asks for, over all steps.
struct Asked {
  double base = 0, head = 0;
  const KernelRow* row = nullptr;  // of the head where it has one
};

// Rows of one name and one operator that asks for copies. A copy under another path is the same
// copy unless another operator asked for it.
struct Counted {
  int64_t base_count = 0, head_count = 0;  // all steps
  int64_t base_bytes = 0, head_bytes = 0;
  int64_t base_ns = 0, head_ns = 0;
  TransferDelta delta;          // a step, rounded
  bool one_size_a_step = true;  // on each side as many bytes in every step
  std::map<std::string, Asked> by_operator;

  // Head minus base, a step.
  double Rise(Steps steps) const {
    return static_cast<double>(head_count) / steps.head -
           static_cast<double>(base_count) / steps.base;
  }
  double RiseOfBytes(Steps steps) const {
    return static_cast<double>(head_bytes) / steps.head -
           static_cast<double>(base_bytes) / steps.base;
  }
};

using CountedRows = std::map<std::string, Counted>;

std::string AskerOrOutermost(std::string_view op_path) {
  const std::string asker = Asker(op_path);
  return asker.empty() ? std::string(OutermostOperator(op_path)) : asker;
}

void Add(const std::vector<KernelRow>& rows, bool head, CountedRows* counted) {
  const int64_t most = MostOfARow(rows.size());
  const auto add = [most](int64_t* sum, int64_t more) {
    *sum += std::clamp<int64_t>(more, 0, most);
  };
  for (const KernelRow& row : rows) {
    Counted& entry = (*counted)[row.name + "\n" + Asker(row.op_path)];
    add(head ? &entry.head_count : &entry.base_count, row.Count());
    add(head ? &entry.head_bytes : &entry.base_bytes, SaturatingSum(row.bytes_per_step));
    const std::vector<int64_t>& bytes = row.bytes_per_step;
    entry.one_size_a_step &= std::equal(bytes.begin() + !bytes.empty(), bytes.end(), bytes.begin());
    add(head ? &entry.head_ns : &entry.base_ns, row.TimeNs());
    Asked& asked = entry.by_operator[AskerOrOutermost(row.op_path)];
    (head ? asked.head : asked.base) += static_cast<double>(row.Count());
    if (asked.row == nullptr || head) asked.row = &row;
  }
}

// Whether the trace shows a kernel for the copy ("memcpy128"), without its bytes.
bool IsKernel(std::string_view name) { return MemoryKernelOf(name) == MemoryKernel::kCopy; }

bool IsFill(std::string_view name) {
  return name.find("Memset") != std::string_view::npos ||
         MemoryKernelOf(name) == MemoryKernel::kFill;
}

// "HtoD", "DtoH", "DtoD", "Memset"; the name itself of any other.
std::string_view DirectionOf(std::string_view name) {
  if (IsFill(name)) return "Memset";
  switch (DirectionOfCopy(name)) {
    case CopyDirection::kHostToDevice:
      return "HtoD";
    case CopyDirection::kDeviceToHost:
      return "DtoH";
    case CopyDirection::kDeviceToDevice:
      return "DtoD";
    case CopyDirection::kOther:
    case CopyDirection::kUnknown:
      return name;
  }
  return name;
}

// The rounded entries of one direction add up to its rounded sum.
void Round(Steps steps, CountedRows* rows) {
  struct Side {
    explicit Side(double steps) : count(Each(steps)), bytes(Each(steps)), time_ns(Each(steps)) {}
    static CumulativeRounding Each(double steps) {
      return CumulativeRounding(static_cast<int64_t>(steps));
    }
    CumulativeRounding count, bytes, time_ns;
  };
  std::map<std::string, std::pair<Side, Side>, std::less<>> directions;
  for (auto& [key, entry] : *rows) {
    const std::string_view direction = DirectionOf(std::string_view(key).substr(0, key.find('\n')));
    auto& [base, head] =
        directions.try_emplace(std::string(direction), Side(steps.base), Side(steps.head))
            .first->second;
    entry.delta = {head.count.Next(entry.head_count) - base.count.Next(entry.base_count),
                   head.bytes.Next(entry.head_bytes) - base.bytes.Next(entry.base_bytes),
                   head.time_ns.Next(entry.head_ns) - base.time_ns.Next(entry.base_ns)};
  }
}

// A row of one name that came or went, with who asked for it.
struct Transfer {
  const Counted* counted = nullptr;
  double rise = 0;                     // a step
  const KernelRow* row = nullptr;      // one of those that came or went
  std::vector<std::string> operators;  // none where some ask for more and others for fewer
};

Transfer TransferOf(const Counted& counted, Steps steps) {
  Transfer transfer{&counted, counted.Rise(steps), nullptr, {}};
  double most = 0;
  bool both_ways = false;
  for (const auto& [op, asked] : counted.by_operator) {
    const double rise =
        (asked.head / steps.head - asked.base / steps.base) * (transfer.rise < 0 ? -1 : 1);
    both_ways = both_ways || rise < 0;
    if (transfer.row == nullptr || rise > most) transfer.row = asked.row;
    most = std::max(most, rise);
    if (rise > 0 && !op.empty()) transfer.operators.push_back(op);
  }
  if (both_ways) transfer.operators.clear();
  return transfer;
}

// As many as before, of another size: not where sizes depend on the data.
bool IsOfAnotherSize(const Counted& counted, Steps steps) {
  if (counted.Rise(steps) != 0 || !counted.one_size_a_step) return false;
  if (counted.base_bytes == 0 || counted.head_bytes == 0) return false;
  return std::abs(counted.RiseOfBytes(steps)) >= 1;
}

std::vector<Transfer> TransfersOf(const CountedRows& rows, Steps steps) {
  std::vector<Transfer> transfers;
  for (const auto& [key, counted] : rows) {
    if (counted.Rise(steps) != 0 || IsOfAnotherSize(counted, steps)) {
      transfers.push_back(TransferOf(counted, steps));
    }
  }
  return transfers;
}

std::string PerStep(double a_step) {
  return fmt::format("{:.{}f}", a_step, a_step == std::floor(a_step) ? 0 : 1);
}

std::string FromTo(int64_t base, int64_t head, Steps steps, Unit unit) {
  return FormatValue(static_cast<double>(base) / steps.base, unit) + " -> " +
         FormatValue(static_cast<double>(head) / steps.head, unit);
}

std::string CountText(const Counted& counted, Steps steps) {
  std::string text =
      fmt::format("{} -> {} a step", PerStep(static_cast<double>(counted.base_count) / steps.base),
                  PerStep(static_cast<double>(counted.head_count) / steps.head));
  if (counted.base_bytes != 0 || counted.head_bytes != 0) {
    text += ", " + FromTo(counted.base_bytes, counted.head_bytes, steps, Unit::kBytes);
  }
  return text;
}

// The same with the time that they take.
std::string CopiesText(const Counted& counted, Steps steps) {
  return CountText(counted, steps) + ", " +
         FromTo(counted.base_ns, counted.head_ns, steps, Unit::kNanoseconds);
}

Change ChangeOf(const Transfer& transfer, ChangeKind more) {
  Change change = OfKind(transfer.rise > 0 ? more : ChangeKind::kRemoved);
  (transfer.rise > 0 ? change.head : change.base).push_back(Named(*transfer.row));
  change.ops = transfer.row->info.ops;
  change.operators = transfer.operators;
  return change;
}

Change TransferChange(const Transfer& transfer, ChangeKind more) {
  Change change = ChangeOf(transfer, more);
  change.transfers = transfer.counted->delta;
  return change;
}

void Record(Change change, std::string text, Diff* diff) {
  change.text = std::move(text);
  Finish(&change);
  diff->changes.push_back(std::move(change));
}

std::string AskedBy(std::string_view how, const Transfer& transfer) {
  if (transfer.operators.empty()) return "";
  return fmt::format(", {} {}", how, OperatorsText(transfer.operators));
}

// Copies that came and went as often, in one direction, with as many bytes and for the same
// operators, are the same copies from or to another kind of memory. Rounded, since thirds do not
// subtract exactly. "" of what is no such copy.
std::string CopyKey(const Transfer& transfer, Steps steps) {
  const std::string_view direction = DirectionOf(transfer.row->name);
  if (direction != "HtoD" && direction != "DtoH") return "";
  return fmt::format("{} {:.6f} {:.0f} {}", direction, std::abs(transfer.rise),
                     std::abs(transfer.counted->RiseOfBytes(steps)),
                     Join(transfer.operators, "\n"));
}

void RecordOtherMemory(const Transfer& went, const Transfer& came, Steps steps, Diff* diff) {
  Change change = OfKind(ChangeKind::kSubstituted);
  change.base.push_back(Named(*went.row));
  change.head.push_back(Named(*came.row));
  change.ops = came.row->info.ops;
  change.operators = came.operators;
  change.transfers = went.counted->delta + came.counted->delta;
  const auto in = [](const Transfer& transfer, std::string_view what) {
    return transfer.row->name.find(what) != std::string::npos;
  };
  const bool lost = in(went, "Pinned") && in(came, "Pageable");
  Record(
      std::move(change),
      fmt::format("{} is {} now: {} a step, {}, {}{}{}", Printable(went.row->name),
                  Printable(came.row->name), PerStep(came.rise),
                  FormatValue(came.counted->RiseOfBytes(steps), Unit::kBytes),
                  FromTo(went.counted->base_ns + came.counted->base_ns,
                         went.counted->head_ns + came.counted->head_ns, steps, Unit::kNanoseconds),
                  AskedBy("asked for by", came),
                  lost ? "; copies of pageable memory are slower and not asynchronous" : ""),
      diff);
}

// What a CUDA graph's copies and fills are called by their launches one by one: no memory is named
// there, and no operator. Copies from and to the host tell what memory they are of.
std::string_view KindOf(const Transfer& transfer) {
  const std::string_view direction = DirectionOf(transfer.row->name);
  return direction == "DtoD" || direction == "Memset" ? direction : transfer.row->name;
}

// Copies, or fills, of one kind that came and went.
struct CameAndWent {
  double rise = 0, rise_of_bytes = 0;
  bool bytes_known = true;
  bool came_in_graph = true, went_in_graph = true;  // all of them

  // As many on both sides, and one side is a CUDA graph.
  bool AreOfAGraph() const {
    const bool same = std::abs(rise) < 1e-6 && (!bytes_known || std::abs(rise_of_bytes) < 0.5);
    return same && came_in_graph != went_in_graph;
  }
};

// What a graph copies and fills is no change.
void MatchGraphs(Steps steps, std::vector<Transfer>* transfers) {
  std::map<std::string_view, CameAndWent> kinds;
  for (const Transfer& transfer : *transfers) {
    CameAndWent& kind = kinds[KindOf(transfer)];
    kind.rise += transfer.rise;
    kind.rise_of_bytes += transfer.counted->RiseOfBytes(steps);
    kind.bytes_known &= !IsKernel(transfer.row->name);
    (transfer.rise > 0 ? kind.came_in_graph : kind.went_in_graph) &= transfer.row->in_graph;
  }
  std::erase_if(*transfers,
                [&](const Transfer& transfer) { return kinds.at(KindOf(transfer)).AreOfAGraph(); });
}

void RecordOtherSize(const Transfer& transfer, Steps steps, Diff* diff) {
  Change change = OfKind(ChangeKind::kSubstituted);
  change.base = change.head = {Named(*transfer.row)};
  change.ops = transfer.row->info.ops;
  change.transfers = transfer.counted->delta;
  Record(std::move(change),
         fmt::format("{} of another size: {}", Printable(transfer.row->name),
                     CopiesText(*transfer.counted, steps)),
         diff);
}

void RecordTransfer(const Transfer& transfer, Steps steps, Diff* diff) {
  if (transfer.counted->Rise(steps) == 0) return RecordOtherSize(transfer, steps, diff);
  const std::string& name = transfer.row->name;
  const bool on_device = DirectionOf(name) == "DtoD";
  const bool hidden = on_device && !CopyAsker(transfer.row->op_path).empty();
  Record(TransferChange(transfer, hidden ? ChangeKind::kHiddenCopy : ChangeKind::kAdded),
         fmt::format("{}: {}{}", Printable(name), CopiesText(*transfer.counted, steps),
                     AskedBy(IsFill(name) ? "under" : "asked for by", transfer)),
         diff);
}

// A wait under no operator that is the last call of the steps of one side only is the same wait,
// and nothing came or went: false if no row rose, or fell, against the loops. Which call it was is
// not kept.
bool AddLoopWaits(const LoopWaits& loops, Steps steps, CountedRows* rows) {
  for (auto& [key, counted] : *rows) {
    const auto at = counted.by_operator.find("");
    if (at == counted.by_operator.end()) continue;
    Asked& asked = at->second;
    const double rise = asked.head / steps.head - asked.base / steps.base;
    if (rise * (loops.head - loops.base) >= 0) continue;
    asked.base += loops.base * steps.base;
    asked.head += loops.head * steps.head;
    counted.base_count += std::llround(loops.base * steps.base);
    counted.head_count += std::llround(loops.head * steps.head);
    return true;
  }
  return false;
}

Steps StepsOf(const Evidence& base, const Evidence& head) {
  return {static_cast<double>(std::max(1, base.TotalSteps())),
          static_cast<double>(std::max(1, head.TotalSteps()))};
}

}  // namespace

void CompareTransfers(const Evidence& base, const Evidence& head, Diff* diff) {
  CountedRows rows;
  Add(base.transfers, false, &rows);
  Add(head.transfers, true, &rows);
  const Steps steps = StepsOf(base, head);
  Round(steps, &rows);
  for (const auto& [key, counted] : rows) diff->transfers = diff->transfers + counted.delta;
  std::vector<Transfer> transfers = TransfersOf(rows, steps);
  MatchGraphs(steps, &transfers);
  std::unordered_map<std::string, std::vector<Transfer*>> came;
  for (Transfer& transfer : transfers) {
    if (transfer.rise > 0) came[CopyKey(transfer, steps)].push_back(&transfer);
  }
  came.erase("");
  for (Transfer& went : transfers) {
    const auto others = went.rise < 0 ? came.find(CopyKey(went, steps)) : came.end();
    if (others == came.end()) continue;
    const auto other = std::find_if(
        others->second.begin(), others->second.end(),
        [&](const Transfer* copy) { return copy->counted && copy->row->name != went.row->name; });
    if (other == others->second.end()) continue;
    RecordOtherMemory(went, **other, steps, diff);
    went.counted = (*other)->counted = nullptr;
  }
  for (const Transfer& transfer : transfers) {
    if (transfer.counted != nullptr) RecordTransfer(transfer, steps, diff);
  }
  diff->unchanged_transfers = diff->transfers;
  for (const Change& change : diff->changes) {
    diff->unchanged_transfers = diff->unchanged_transfers - change.transfers;
  }
}

LoopWaits WaitsOfOneLoop(const Evidence& base, const Evidence& head) {
  const auto before = Summarise(base, MetricId::kHarnessSyncs).value;
  const auto now = Summarise(head, MetricId::kHarnessSyncs).value;
  if (!before || !now) return {};
  return {std::max(0.0, *before - *now), std::max(0.0, *now - *before)};
}

void CompareSyncs(const Evidence& base, const Evidence& head, Diff* diff) {
  CountedRows rows;
  Add(base.syncs, false, &rows);
  Add(head.syncs, true, &rows);
  const Steps steps = StepsOf(base, head);
  const LoopWaits loops = WaitsOfOneLoop(base, head);
  const double rise = loops.head - loops.base;
  const bool found = rise != 0 && AddLoopWaits(loops, steps, &rows);
  for (const Transfer& wait : TransfersOf(rows, steps)) {
    Record(ChangeOf(wait, ChangeKind::kSyncAdded),
           fmt::format("the host waits for the GPU: {} {}{}", Printable(wait.row->name),
                       CountText(*wait.counted, steps), AskedBy("under", wait)),
           diff);
  }
  if (rise == 0 || found) return;
  Record(OfKind(rise > 0 ? ChangeKind::kSyncAdded : ChangeKind::kRemoved),
         fmt::format("the host waits for the GPU: the last call of every step, under no operator, "
                     "{:+g} a step",
                     rise),
         diff);
}

}  // namespace perfgate
