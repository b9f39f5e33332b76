// A tensor written anew in whole, where a part of it was written in place: a key-value cache that
// is concatenated. As many kernels, and far more bytes.
#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// What a launch reads and writes, as its shapes say; all empty if they are unknown.
struct Moved {
  Launches* launches = nullptr;
  std::vector<std::string_view> tensors;  // of a whole: what it is made of; else target and source
  int64_t elements = 0;                   // written by one launch

  double Total() const {
    return static_cast<double>(elements) * static_cast<double>(launches->count);
  }
};

std::string Word(const Launches& launches) {
  const std::vector<std::string>& ops = launches.row->info.ops;
  if (launches.count == 0 || ops.size() != 1) return "";
  const bool in_place = launches.row->in_graph || launches.row->Operator() == "aten::copy_";
  if (ops[0] == "copy" && !in_place) return "";
  // One kernel serves reading and writing at given places.
  return ops[0] == "scatter_gather" ? OperatorWord(launches.row->Operator()) : ops[0];
}

bool WritesInPlace(const Launches& launches) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "index_copy", "index_put", "scatter", "slice_scatter", "select_scatter", "copy"};
  return std::find(kWords.begin(), kWords.end(), Word(launches)) != kWords.end();
}

bool MakesAWhole(const Launches& launches) {
  static constexpr std::array<std::string_view, 3> kWords = {"cat", "where", "roll"};
  return std::find(kWords.begin(), kWords.end(), Word(launches)) != kWords.end();
}

// The result is what is joined, or as large as the largest tensor that is chosen from.
Moved Whole(Launches* launches) {
  Moved moved{launches, Tensors(launches->row->FirstDims()), 0};
  const bool joined = Word(*launches) == "cat" && !moved.tensors.empty();
  // "[[[8, 2047], [8, 1]], []]": a list of tensors is one argument.
  if (joined) moved.tensors = Tensors(moved.tensors[0], 1);
  for (const std::string_view tensor : moved.tensors) {
    const int64_t elements = ElementsOf(tensor);
    moved.elements =
        joined ? SaturatingAdd(moved.elements, elements) : std::max(moved.elements, elements);
  }
  return moved;
}

// The target is the first tensor of the call, what is written to it the last.
Moved Write(Launches* launches) {
  Moved moved{launches, Tensors(launches->row->FirstDims()), 0};
  std::erase(moved.tensors, "");
  if (moved.tensors.size() < 2) return {launches, {}, 0};
  moved.tensors = {moved.tensors.front(), moved.tensors.back()};
  moved.elements = ElementsOf(moved.tensors[1]);
  return moved;
}

// What was written is one of the tensors that the whole is made of, or the whole is the target; and
// all writes together were no more than a part.
bool IsPartOf(const Moved& write, const Moved& whole) {
  if (2 * write.Total() > whole.Total()) return false;
  if (ElementsOf(write.tensors[0]) == whole.elements) return true;
  return std::find(whole.tensors.begin(), whole.tensors.end(), write.tensors[1]) !=
         whole.tensors.end();
}

bool SamePlace(const KernelRow& a, const KernelRow& b) {
  if (!a.modules.empty() && !b.modules.empty()) return ShareAPlace(a.modules, b.modules);
  const auto around = [](std::string_view path) {
    const size_t end = path.rfind(kPathSeparator);
    return path.substr(0, end == std::string_view::npos ? 0 : end);
  };
  // Two operators of the top level have no place in common that says anything.
  return !around(a.op_path).empty() && around(a.op_path) == around(b.op_path);
}

// True if a launch takes longer than `percent` of one on the other side.
bool TakesLonger(const Launches& head, const Launches& base, double percent) {
  const auto each = [](const Launches& launches) {
    return static_cast<double>(launches.time_ns) / static_cast<double>(launches.count);
  };
  return 100 * each(head) > percent * each(base);
}

bool Rewrites(const Moved& whole, const Moved& write) {
  const Launches &head = *whole.launches, &base = *write.launches;
  if (OnGpu(*head.row) != OnGpu(*base.row)) return false;
  if (whole.elements > 0 && write.elements > 0) {
    return IsPartOf(write, whole) && TakesLonger(head, base, 100);
  }
  // Kernels that move as many bytes differ by less.
  const bool graphs = head.row->in_graph && base.row->in_graph;
  if (graphs) return head.count == base.count && TakesLonger(head, base, 150);
  return SamePlace(*head.row, *base.row) && TakesLonger(head, base, 150);
}

}  // namespace

void FindRewrites(Work* work) {
  std::vector<Moved> writes;
  for (Launches& base : work->base) {
    if (WritesInPlace(base)) writes.push_back(Write(&base));
  }
  int64_t looks_left = kMostLooks;
  for (Launches& head : work->head) {
    if (!MakesAWhole(head)) continue;
    const Moved whole = Whole(&head);
    const auto look = static_cast<int64_t>(1 + whole.tensors.size());
    for (const Moved& write : writes) {
      if (head.count == 0 || (looks_left -= look) < 0) break;
      Launches& base = *write.launches;
      if (base.count == 0 || !Rewrites(whole, write)) continue;
      const int64_t count = std::min(base.count, head.count);
      Change change = OfKind(ChangeKind::kHiddenCopy);
      change.base.push_back(Take(&base, count));
      change.head.push_back(Take(&head, count));
      Finish(&change);
      work->diff->changes.push_back(std::move(change));
    }
  }
}

}  // namespace perfgate
