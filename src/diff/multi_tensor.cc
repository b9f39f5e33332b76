// Kernels of torch._foreach and of fused optimizers work on many tensors at once. All that came
// apart into kernels for one tensor each is one change: somebody unfused the optimizer.
#include <algorithm>
#include <map>
#include <set>

#include "diff/launches.h"

namespace perfgate {
namespace {

// Launches of one operator on one kind of device: those for many tensors at once, and those that
// the other side has for one each.
struct Spread {
  std::vector<Launches*> wholes, parts;
  std::set<std::string, std::less<>> annotations;  // of the wholes
  bool anywhere = false;                           // one of them has none
};

bool IsMultiTensor(const Launches& launches) {
  return launches.row->name.find("multi_tensor_apply") != std::string::npos;
}

bool MayTakePart(const Launches& launches) {
  return launches.count > 0 && launches.row->info.ops.size() == 1 &&
         !IsCopyKernel(launches.row->info);
}

std::string SpreadKey(const Launches& launches, std::string_view word) {
  return (OnGpu(*launches.row) ? "g " : "c ") + std::string(word);
}

// Annotations ("Optimizer.step#AdamW.step") that both sides have must agree.
bool MayBePart(const Launches& part, const Spread& spread) {
  const std::vector<PlaceUse>& places = part.row->annotations;
  return spread.anywhere || places.empty() ||
         std::any_of(places.begin(), places.end(),
                     [&](const PlaceUse& use) { return spread.annotations.contains(use.place); });
}

}  // namespace

void FindMultiTensor(Work* work, bool reversed) {
  std::map<std::string, Spread> spreads;
  for (Launches& whole : reversed ? work->head : work->base) {
    if (!MayTakePart(whole) || !IsMultiTensor(whole)) continue;
    Spread& spread = spreads[SpreadKey(whole, whole.row->info.ops[0])];
    spread.wholes.push_back(&whole);
    spread.anywhere = spread.anywhere || whole.row->annotations.empty();
    for (const PlaceUse& use : whole.row->annotations) spread.annotations.insert(use.place);
  }
  for (Launches& part : reversed ? work->base : work->head) {
    if (!MayTakePart(part) || IsMultiTensor(part)) continue;
    // A division by a number is a product by its inverse: the operator says more than the kernel.
    auto found = spreads.find(SpreadKey(part, OperatorWord(part.row->Operator())));
    if (found == spreads.end()) found = spreads.find(SpreadKey(part, part.row->info.ops[0]));
    if (found == spreads.end() || !MayBePart(part, found->second)) continue;
    found->second.parts.push_back(&part);
  }
  Change change = OfKind(reversed ? ChangeKind::kFused : ChangeKind::kFusionSplit);
  for (const auto& [key, spread] : spreads) {
    if (CountOf(spread.parts) <= CountOf(spread.wholes)) continue;
    TakeAll(spread.wholes, reversed ? &change.head : &change.base);
    TakeAll(spread.parts, reversed ? &change.base : &change.head);
  }
  if (change.base.empty()) return;
  Finish(&change);
  work->diff->changes.push_back(std::move(change));
}

}  // namespace perfgate
