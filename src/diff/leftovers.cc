// What came and went without a counterpart, and copies, fills and synchronisations.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// Operators that copy although a reader of the model's code may think they do not.
bool AsksForCopy(std::string_view element) {
  static constexpr std::array<std::string_view, 8> kAskers = {
      "aten::contiguous", "aten::clone",   "aten::to",      "aten::_to_copy",
      "aten::reshape",    "aten::flatten", "aten::type_as", "aten::reshape_as"};
  return std::find(kAskers.begin(), kAskers.end(), element) != kAskers.end();
}

// The outermost operator of the path that asked for a copy; "" if none did.
std::string Asker(std::string_view op_path) {
  for (std::string_view element : PathElements(op_path)) {
    if (AsksForCopy(element)) return std::string(element);
  }
  return "";
}

// What the model called: the outermost operator, aten::item over aten::_local_scalar_dense.
std::string_view Outermost(std::string_view op_path) {
  for (std::string_view element : PathElements(op_path)) {
    if (element.find("::") != std::string_view::npos && !element.starts_with("autograd::")) {
      return element;
    }
  }
  return "";
}

// Who is to blame for a copy on the device: an operator that asks for copies, or one that is there
// to compute (a convolution that turns its input round). "" where the model itself says `copy_`.
std::string CopyAsker(std::string_view op_path) {
  const std::string asker = Asker(op_path);
  if (!asker.empty()) return asker;
  const std::string_view first = Outermost(op_path);
  return first == "aten::copy_" || first == "aten::_foreach_copy_" ? "" : std::string(first);
}

bool IsCopyKernel(const KernelInfo& info) {
  return info.ops.size() == 1 && info.ops[0] == "copy" && info.family != Family::kMemory;
}

// Rows of copies, fills or syncs, summed by name and asking operator.
struct Counted {
  const KernelRow* row = nullptr;
  int64_t base_count = 0, head_count = 0;  // all steps
  int64_t base_bytes = 0, head_bytes = 0;
};

using CountedRows = std::map<std::string, Counted>;

void Add(const std::vector<KernelRow>& rows, bool head, CountedRows* counted) {
  for (const KernelRow& row : rows) {
    // A copy under another path is the same copy unless another operator asked for it.
    Counted& entry = (*counted)[row.name + "\n" + Asker(row.op_path)];
    if (entry.row == nullptr || head) entry.row = &row;
    int64_t& count = head ? entry.head_count : entry.base_count;
    int64_t& bytes = head ? entry.head_bytes : entry.base_bytes;
    count = SaturatingAdd(count, row.Count());
    bytes = SaturatingAdd(bytes, SaturatingSum(row.bytes_per_step));
  }
}

std::string PerStep(int64_t total, int steps) {
  if (total % steps == 0) return fmt::format("{}", total / steps);
  return fmt::format("{:.1f}", static_cast<double>(total) / steps);
}

ChangedKernel Shown(const KernelRow& row) {
  ChangedKernel shown;
  shown.name = row.name;
  shown.canonical = row.info.canonical;
  shown.short_name = row.info.short_name.empty() ? row.name : row.info.short_name;
  shown.op_path = row.op_path;
  shown.place = PlaceText(row.modules.empty() ? row.annotations : row.modules);
  shown.backward_of = row.backward_of;
  shown.device = row.device;
  shown.ops = row.info.ops;
  return shown;  // count and time stay 0: it is no kernel
}

struct Steps {
  int base, head;
};

std::string CountText(const Counted& entry, Steps steps) {
  std::string text = fmt::format("{} -> {} a step", PerStep(entry.base_count, steps.base),
                                 PerStep(entry.head_count, steps.head));
  if (entry.base_bytes != 0 || entry.head_bytes != 0) {
    text += fmt::format(
        ", {} -> {}", FormatValue(static_cast<double>(entry.base_bytes) / steps.base, Unit::kBytes),
        FormatValue(static_cast<double>(entry.head_bytes) / steps.head, Unit::kBytes));
  }
  return text;
}

// Compares counts a step without rounding: a/base_steps against b/head_steps.
int Direction(const Counted& entry, Steps steps) {
  double base = static_cast<double>(entry.base_count) / steps.base;
  double head = static_cast<double>(entry.head_count) / steps.head;
  return head > base ? 1 : head < base ? -1 : 0;
}

Change ChangeOf(const Counted& entry, int direction, ChangeKind more) {
  Change change;
  change.kind = direction > 0 ? more : ChangeKind::kRemoved;
  (direction > 0 ? change.head : change.base).push_back(Shown(*entry.row));
  change.ops = entry.row->info.ops;
  return change;
}

}  // namespace

void ListLeftovers(Work* work) {
  for (Launches& head : work->head) {
    if (head.count == 0 && head.time_ns == 0) continue;
    Change change = OfKind(ChangeKind::kAdded);
    if (IsCopyKernel(head.row->info)) {
      std::string asker = CopyAsker(head.row->op_path);
      if (!asker.empty()) {
        change.kind = ChangeKind::kHiddenCopy;
        change.operators = {std::move(asker)};
      }
    }
    change.head.push_back(Take(&head, head.count));
    Finish(&change);
    work->diff->changes.push_back(std::move(change));
  }
  for (Launches& base : work->base) {
    if (base.count == 0 && base.time_ns == 0) continue;
    Change change = OfKind(ChangeKind::kRemoved);
    change.base.push_back(Take(&base, base.count));
    Finish(&change);
    work->diff->changes.push_back(std::move(change));
  }
}

void CompareTransfers(const Evidence& base, const Evidence& head, Diff* diff) {
  CountedRows rows;
  Add(base.transfers, false, &rows);
  Add(head.transfers, true, &rows);
  Steps steps{std::max(1, base.TotalSteps()), std::max(1, head.TotalSteps())};
  for (const auto& [key, entry] : rows) {
    int direction = Direction(entry, steps);
    if (direction == 0) continue;
    const bool on_device = entry.row->name.find("DtoD") != std::string::npos;
    const std::string asker = on_device ? CopyAsker(entry.row->op_path) : Asker(entry.row->op_path);
    bool hidden = on_device && !asker.empty();
    Change change =
        ChangeOf(entry, direction, hidden ? ChangeKind::kHiddenCopy : ChangeKind::kAdded);
    if (!asker.empty()) change.operators = {asker};
    Finish(&change);
    change.text = fmt::format("{}: {}{}", Printable(entry.row->name), CountText(entry, steps),
                              asker.empty() ? "" : ", asked for by " + Printable(asker));
    diff->changes.push_back(std::move(change));
  }
}

void CompareSyncs(const Evidence& base, const Evidence& head, Diff* diff) {
  CountedRows rows;
  Add(base.syncs, false, &rows);
  Add(head.syncs, true, &rows);
  Steps steps{std::max(1, base.TotalSteps()), std::max(1, head.TotalSteps())};
  for (const auto& [key, entry] : rows) {
    int direction = Direction(entry, steps);
    if (direction == 0) continue;
    Change change = ChangeOf(entry, direction, ChangeKind::kSyncAdded);
    std::string under = Asker(entry.row->op_path);
    if (under.empty()) under = Outermost(entry.row->op_path);
    if (!under.empty()) change.operators = {under};
    Finish(&change);
    change.text =
        fmt::format("the host waits for the GPU: {} {}{}", Printable(entry.row->name),
                    CountText(entry, steps), under.empty() ? "" : ", under " + Printable(under));
    diff->changes.push_back(std::move(change));
  }
}

}  // namespace perfgate
