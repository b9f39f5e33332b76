// Rows that are the same on both sides, whatever their numbering, spelling or place.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "diff/launches.h"

namespace perfgate {
namespace {

using TextOf = std::string_view (*)(const Launches&);

bool HasType(const Launches& launches) { return !launches.row->info.in_dtype.empty(); }

// Which rows may be the same by their element types.
enum class Types { kEqual, kBaseUnknown, kHeadUnknown };

// What two rows must have in common: the kind of device, a type, a name, and where they are
// launched.
using RowKey = std::array<std::string_view, 4>;

struct HashOfRowKey {
  size_t operator()(const RowKey& key) const {
    size_t hash = 0;
    for (const std::string_view part : key) hash = 31 * hash + std::hash<std::string_view>()(part);
    return hash;
  }
};

std::string_view NameOf(const Launches& launches) { return launches.row->name; }
std::string_view CanonicalOf(const Launches& launches) { return launches.row->info.canonical; }
std::string_view FusedOf(const Launches& launches) { return launches.fused; }

std::string_view PathOf(const Launches& launches) { return launches.row->op_path; }
std::string_view OperatorOf(const Launches& launches) { return launches.row->Operator(); }
std::string_view WordOf(const Launches& launches) { return launches.operator_word; }
std::string_view Anywhere(const Launches&) { return ""; }

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
  const Portion from = Cut(base, count), to = Cut(head, count);
  if (left_graph) {
    moves->left_graph.base.push_back(Named(from));
    moves->left_graph.head.push_back(Named(to));
  } else if (moved) {
    Change change = OfKind(ChangeKind::kMoved);
    change.base = {Named(from)};
    change.head = {Named(to)};
    moves->moved.push_back(std::move(change));
  } else {
    AddDrift(from, to, work);
  }
}

// The same type first. Where one side does not say it (a trace without shapes, a baseline of an
// earlier perfgate), it is no difference.
void MatchBy(TextOf name_of, TextOf place_of, Work* work, Moves* moves) {
  for (const Types types : {Types::kEqual, Types::kBaseUnknown, Types::kHeadUnknown}) {
    const auto key_of = [&](Types without_type) {
      return [=](const Launches& launches) -> std::optional<RowKey> {
        const std::string_view name = name_of(launches);
        if (name.empty() || (types == without_type && HasType(launches))) return std::nullopt;
        RowKey key{OnGpu(*launches.row) ? "gpu" : "cpu", "", name, place_of(launches)};
        if (types == Types::kEqual) key[1] = launches.row->info.in_dtype;
        return key;
      };
    };
    PairByKey<HashOfRowKey>(work, key_of(Types::kBaseUnknown), key_of(Types::kHeadUnknown),
                            [&](Launches* base, Launches* head) {
                              Matched(base, head, std::min(base->count, head->count), work, moves);
                            });
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
    AddDrift(Cut(&base, 0), Cut(&work->head[found->second.back()], 0), work);
    found->second.pop_back();
  }
}

}  // namespace

void MatchEqual(Work* work) {
  MatchRare(work);
  Moves moves;
  for (const TextOf name : {NameOf, CanonicalOf, FusedOf}) {
    for (const TextOf place : {PathOf, OperatorOf, WordOf, Anywhere})
      MatchBy(name, place, work, &moves);
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
