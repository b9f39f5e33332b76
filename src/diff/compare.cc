#include <algorithm>

#include <fmt/format.h>

#include "diff/launches.h"

namespace perfgate {
namespace {

int64_t TotalCount(const std::vector<Launches>& launches) {
  int64_t total = 0;
  for (const Launches& row : launches) total += row.count;
  return total;
}

int64_t TotalTime(const std::vector<Launches>& launches) {
  int64_t total = 0;
  for (const Launches& row : launches) total += row.time_ns;
  return total;
}

bool WorseFirst(const Change& a, const Change& b) {
  if (IsRegression(a.kind) != IsRegression(b.kind)) return IsRegression(a.kind);
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.time_ns + a.transfers.time_ns > b.time_ns + b.transfers.time_ns;
}

// A graph break cuts what Inductor could fuse: said beside the fusions that came apart.
void TellGraphBreaks(const Evidence& base, const Evidence& head, Diff* diff) {
  const auto before = Summarise(base, MetricId::kCompiledRegions).value;
  const auto now = Summarise(head, MetricId::kCompiledRegions).value;
  if (!before || !now || *before == 0 || *now <= *before) return;
  for (Change& change : diff->changes) {
    if (change.kind != ChangeKind::kFusionSplit && change.kind != ChangeKind::kFusionLost) continue;
    if (DecodeKernelName(change.base[0].name).library != "inductor") continue;
    change.text +=
        fmt::format("; compiled regions {:.0f} -> {:.0f} a step: a graph break", *before, *now);
  }
}

bool LaunchedUnder(const Change& change, const std::string& op) {
  return std::any_of(change.head.begin(), change.head.end(), [&](const ChangedKernel& kernel) {
    return OutermostOperator(kernel.op_path) == op;
  });
}

// A loop over what the GPU has just computed waits for it: said beside the loop too.
void TellWaits(Diff* diff) {
  for (const Change& wait : diff->changes) {
    if (wait.kind != ChangeKind::kSyncAdded || wait.operators.size() != 1) continue;
    for (Change& change : diff->changes) {
      if (change.kind == ChangeKind::kFusionSplit && LaunchedUnder(change, wait.operators[0])) {
        change.text += "; " + wait.text;
      }
    }
  }
}

}  // namespace

bool IsOfKind(const Change& change, ChangeKind kind) {
  return change.kind == kind ||
         std::find(change.also.begin(), change.also.end(), kind) != change.also.end();
}

Diff Compare(const Evidence& base, const Evidence& head) {
  Diff diff;
  diff.differing_key = KeyDifferences(base.key, head.key);
  diff.unknown_key = UnknownKeyFields(base.key, head.key);
  diff.different_shapes = DifferentShapes(base, head);
  Work work{LaunchesOf(base), LaunchesOf(head), &diff, {}, {}};
  diff.kernel_count = TotalCount(work.head) - TotalCount(work.base);
  diff.kernel_time_ns = TotalTime(work.head) - TotalTime(work.base);
  FindExchanges(&work, base, head);
  FindLoops(&work, false);
  FindLoops(&work, true);
  FindPieces(&work);
  MatchEqual(&work);
  TellSlowest(&work);
  FindTwins(&work);
  FindFusions(&work, false);
  FindFusions(&work, true);
  FindMultiTensor(&work, false);
  FindMultiTensor(&work, true);
  FindSubstitutions(&work);
  FindOpaqueFusions(&work, false);
  FindOpaqueFusions(&work, true);
  ListLeftovers(&work);
  CompareTransfers(base, head, &diff);
  CompareSyncs(base, head, &diff);
  TellGraphBreaks(base, head, &diff);
  TellWaits(&diff);
  std::stable_sort(diff.changes.begin(), diff.changes.end(), WorseFirst);
  diff.base_bound = Bound(base);
  diff.head_bound = Bound(head);
  diff.answers = Answers(base, head, diff);
  return diff;
}

}  // namespace perfgate
