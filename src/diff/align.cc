// Rows that are the same on both sides, whatever their numbering, spelling or place.
#include <algorithm>
#include <functional>

#include "diff/launches.h"

namespace perfgate {
namespace {

using KeyOf = std::function<std::string(const Launches&)>;

std::string Device(const Launches& launches) { return OnGpu(*launches.row) ? "g" : "c"; }

bool HasType(const Launches& launches) { return !launches.row->info.in_dtype.empty(); }

// Which rows may be the same by their element types.
enum class Types { kEqual, kBaseUnknown, kHeadUnknown };

// Inductor's kernels of one category and operator set are the same work, whatever views its name
// also lists.
std::string FusedKey(const Launches& launches) {
  const KernelInfo& info = launches.row->info;
  if (info.library != "inductor" || info.ops.empty()) return "";
  std::string key(ToString(info.family));
  for (const std::string& word : info.ops) key += "+" + word;
  return key;
}

// Counts launches that left or entered a graph, and those that another operator launches now.
struct Moves {
  Change left_graph = OfKind(ChangeKind::kGraphLost);
  std::vector<Change> moved;
};

bool OtherOperator(const KernelRow& base, const KernelRow& head) {
  std::string_view from = Innermost(base.op_path);
  std::string_view to = Innermost(head.op_path);
  if (from.empty() || to.empty() || base.in_graph || head.in_graph) return false;
  if (from.find("::") == std::string_view::npos || to.find("::") == std::string_view::npos)
    return false;
  return GemmFolded(OperatorWord(from)) != GemmFolded(OperatorWord(to));
}

void Matched(Launches* base, Launches* head, int64_t count, Work* work, Moves* moves) {
  bool left_graph = base->row->in_graph && !head->row->in_graph;
  bool moved = OtherOperator(*base->row, *head->row);
  ChangedKernel from = Take(base, count);
  ChangedKernel to = Take(head, count);
  if (left_graph) {
    moves->left_graph.base.push_back(std::move(from));
    moves->left_graph.head.push_back(std::move(to));
  } else if (moved) {
    Change change = OfKind(ChangeKind::kMoved);
    change.base = {std::move(from)};
    change.head = {std::move(to)};
    moves->moved.push_back(std::move(change));
  } else {
    AddDrift(from, to, work->diff);
  }
}

void MatchBy(const KeyOf& key_of, Types types, Work* work, Moves* moves) {
  const auto full_key = [&](const Launches& launches) {
    std::string key = key_of(launches);
    if (key.empty()) return key;
    const std::string type = types == Types::kEqual ? launches.row->info.in_dtype : "";
    return Device(launches) + type + "\n" + key;
  };
  const auto takes_part = [types](const Launches& launches, Types without_type) {
    return launches.count > 0 && (types != without_type || !HasType(launches));
  };
  // Most passes find one side empty: all rows say their types, or all are matched.
  if (std::none_of(work->base.begin(), work->base.end(),
                   [&](const Launches& base) { return takes_part(base, Types::kBaseUnknown); })) {
    return;
  }
  Index index;
  for (size_t i = 0; i < work->head.size(); ++i) {
    if (!takes_part(work->head[i], Types::kHeadUnknown)) continue;
    std::string key = full_key(work->head[i]);
    if (!key.empty()) index[std::move(key)].push_back(i);
  }
  if (index.empty()) return;
  std::unordered_map<std::string, size_t> next;  // the first index of a key that may have launches
  for (Launches& base : work->base) {
    if (!takes_part(base, Types::kBaseUnknown)) continue;
    const std::string key = full_key(base);
    auto found = index.find(key);
    if (found == index.end()) continue;
    size_t& at = next[key];
    while (base.count > 0 && at < found->second.size()) {
      Launches& head = work->head[found->second[at]];
      if (head.count > 0) Matched(&base, &head, std::min(base.count, head.count), work, moves);
      if (head.count == 0) ++at;
    }
  }
}

// The same type first. Where one side does not say it (a trace without shapes, a baseline of an
// earlier perfgate), it is no difference.
void MatchBy(const KeyOf& key_of, Work* work, Moves* moves) {
  for (const Types types : {Types::kEqual, Types::kBaseUnknown, Types::kHeadUnknown}) {
    MatchBy(key_of, types, work, moves);
  }
}

// Rows that occur less than once in two steps: their rounded count is 0, their time is not. One
// name and path may stand for several of them, on several devices.
void MatchRare(Work* work) {
  auto key_of = [](const Launches& rare) { return rare.row->name + "\n" + rare.row->op_path; };
  Index rare;
  for (size_t i = work->head.size(); i-- > 0;) {
    if (work->head[i].count == 0) rare[key_of(work->head[i])].push_back(i);
  }
  for (Launches& base : work->base) {
    auto found = base.count == 0 ? rare.find(key_of(base)) : rare.end();
    if (found == rare.end() || found->second.empty()) continue;
    AddDrift(Take(&base, 0), Take(&work->head[found->second.back()], 0), work->diff);
    found->second.pop_back();
  }
}

}  // namespace

void MatchEqual(Work* work) {
  MatchRare(work);
  Moves moves;
  auto name = [](const Launches& launches) { return launches.row->name; };
  auto canonical = [](const Launches& launches) { return launches.row->info.canonical; };
  for (const KeyOf& identity : {KeyOf(name), KeyOf(canonical), KeyOf(FusedKey)}) {
    auto with = [&](auto suffix) {
      return [identity, suffix](const Launches& launches) {
        std::string key = identity(launches);
        return key.empty() ? key : key + "\n" + suffix(*launches.row);
      };
    };
    MatchBy(with([](const KernelRow& row) { return row.op_path; }), work, &moves);
    MatchBy(with([](const KernelRow& row) { return std::string(Innermost(row.op_path)); }), work,
            &moves);
    MatchBy(
        with([](const KernelRow& row) { return GemmFolded(OperatorWord(Innermost(row.op_path))); }),
        work, &moves);
    MatchBy(identity, work, &moves);
  }
  for (Change& change : moves.moved) {
    Finish(&change);
    work->diff->changes.push_back(std::move(change));
  }
  if (!moves.left_graph.base.empty()) {
    Finish(&moves.left_graph);
    work->diff->changes.push_back(std::move(moves.left_graph));
  }
}

}  // namespace perfgate
