// Any two pieces of evidence: the changes close the differences of counts and times, and explain no
// launch twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "diff/diff.h"
#include "invariant.h"
#include "made_evidence.h"

namespace {

using perfgate::Evidence;
using perfgate::KernelRow;

// Launches a step of all rows, rounded as the diff rounds them.
int64_t LaunchesOf(const Evidence& evidence) {
  int64_t count = 0;
  for (const KernelRow& row : evidence.kernels) count += row.Count();
  const int64_t steps = std::max(1, evidence.TotalSteps());
  return (2 * count + steps) / (2 * steps);
}

int64_t Taken(const std::vector<perfgate::ChangedKernel>& kernels) {
  int64_t count = 0;
  for (const perfgate::ChangedKernel& kernel : kernels) {
    perfgate::Must(kernel.count >= 0, "no kernel is launched less than never");
    perfgate::Must(kernel.time_ns >= 0, "no kernel takes less than no time");
    count += kernel.count;
  }
  return count;
}

void CheckClosed(const Evidence& base, const Evidence& head, const perfgate::Diff& diff) {
  int64_t count = 0, of_base = 0, of_head = 0;
  int64_t time_ns = diff.unchanged_time_ns;
  perfgate::TransferDelta transfers = diff.unchanged_transfers;
  for (const perfgate::Change& change : diff.changes) {
    count += change.count;
    time_ns += change.time_ns;
    transfers = transfers + change.transfers;
    of_base += Taken(change.base);
    of_head += Taken(change.head);
    perfgate::Must(!change.text.empty(), "a change is told");
    perfgate::Must(!change.base.empty() || !change.head.empty(), "a change has a side");
  }
  perfgate::Must(count == diff.kernel_count, "the changes account for the number of kernels");
  perfgate::Must(time_ns == diff.kernel_time_ns, "the changes account for the kernels' time");
  perfgate::Must(transfers == diff.transfers, "the changes account for copies and fills");
  perfgate::Must(of_head - of_base == count, "the sides of the changes give their counts");
  perfgate::Must(of_base <= LaunchesOf(base), "no launch of the base is explained twice");
  perfgate::Must(of_head <= LaunchesOf(head), "no launch of the head is explained twice");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  const bool derived = bytes.ConsumeBool();
  const Evidence base = perfgate::made::ReadEvidence(bytes, nullptr);
  const Evidence head = perfgate::made::ReadEvidence(bytes, derived ? &base : nullptr);
  CheckClosed(base, head, perfgate::Compare(base, head));
  if (size % 16 == 0) {
    CheckClosed(head, base, perfgate::Compare(head, base));
    perfgate::Must(perfgate::Compare(base, base).changes.empty(),
                   "evidence does not differ from itself");
  }
  return 0;
}
