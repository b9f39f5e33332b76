// Kernels that came and went without a counterpart.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
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

// Operators that any other may be made of: which one called them says more.
bool SaysLittle(std::string_view op) {
  static constexpr std::array<std::string_view, 4> kMeans = {"aten::copy_", "aten::fill_",
                                                             "aten::zero_", "aten::_to_copy"};
  return std::find(kMeans.begin(), kMeans.end(), op) != kMeans.end();
}

// Joins rows of one kind that a reader would be told of in the same words but for the kernels.
class Leftovers {
 public:
  Leftovers(ChangeKind kind, std::vector<Change>* changes) : kind_(kind), changes_(changes) {}

  void Add(Launches* launches, bool head) {
    const KernelRow& row = *launches->row;
    const std::string asker =
        head && IsCopyKernel(row.info) ? CopyAsker(row.op_path) : std::string();
    const std::string_view innermost = row.Operator(), outermost = OutermostOperator(row.op_path);
    const bool hidden = !asker.empty();
    const std::string op(hidden ? asker : SaysLittle(innermost) ? outermost : innermost);
    // A row that nothing asked for, as far as the trace says, is told by its name.
    const std::string key = fmt::format("{} {}\n{}\n{}\n{}", hidden, OnGpu(row), op,
                                        hidden ? outermost : "", op.empty() ? row.name : "");
    const auto [at, first] = places_.try_emplace(key, found_.size());
    if (first) found_.push_back(OfKind(hidden ? ChangeKind::kHiddenCopy : kind_));
    Change& change = found_[at->second];
    (head ? change.head : change.base).push_back(Take(launches, launches->count));
    if (first && !op.empty()) change.operators = {op};
  }

  void Finish() {
    for (Change& change : found_) {
      perfgate::Finish(&change);
      changes_->push_back(std::move(change));
    }
  }

 private:
  ChangeKind kind_;
  std::vector<Change>* changes_;
  std::vector<Change> found_;
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace

std::string Asker(std::string_view op_path) {
  for (std::string_view element : PathElements(op_path)) {
    if (AsksForCopy(element)) return std::string(element);
  }
  return "";
}

std::string CopyAsker(std::string_view op_path) {
  const std::string asker = Asker(op_path);
  if (!asker.empty()) return asker;
  const std::string_view first = OutermostOperator(op_path);
  return first == "aten::copy_" || first == "aten::_foreach_copy_" ? "" : std::string(first);
}

void ListLeftovers(Work* work) {
  Leftovers added(ChangeKind::kAdded, &work->diff->changes);
  for (Launches& head : work->head) {
    if (head.count != 0 || head.time_ns != 0) added.Add(&head, true);
  }
  added.Finish();
  Leftovers removed(ChangeKind::kRemoved, &work->diff->changes);
  for (Launches& base : work->base) {
    if (base.count != 0 || base.time_ns != 0) removed.Add(&base, false);
  }
  removed.Finish();
}

}  // namespace perfgate
