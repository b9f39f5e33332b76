// Collectives whose messages are others: fewer and larger, more and smaller, of another type. The
// kernel of a collective has one name for all sizes, so that its row alone tells nothing of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// NCCL has one kernel for all that is made of sends and receives.
std::string KernelWord(const std::string& collective) {
  static constexpr std::array<std::string_view, 5> kOfSends = {"send", "recv", "all_to_all",
                                                               "gather", "scatter"};
  const bool of_sends = std::find(kOfSends.begin(), kOfSends.end(), collective) != kOfSends.end();
  return of_sends ? "send_recv" : collective;
}

// Messages of one kind, a step.
struct Messages {
  std::string name, dtype;
  int64_t bytes = 0, group_size = 0;
  double count = 0;
  friend auto operator<=>(const Messages&, const Messages&) = default;
};

struct Exchange {
  std::vector<Messages> messages;
  bool sizes_known = true;

  double Count() const {
    double count = 0;
    for (const Messages& each : messages) count += each.count;
    return count;
  }
  double Bytes() const {
    double bytes = 0;
    for (const Messages& each : messages) bytes += each.count * static_cast<double>(each.bytes);
    return bytes;
  }
  std::set<std::string> Types() const {
    std::set<std::string> types;
    for (const Messages& each : messages) types.insert(each.dtype);
    return types;
  }
};

// By the kernel that runs them.
std::map<std::string, Exchange> ExchangesOf(const Evidence& evidence) {
  std::map<std::string, Exchange> exchanges;
  for (const CollectiveRow& row : evidence.collectives) {
    Exchange& exchange = exchanges[KernelWord(row.name)];
    exchange.sizes_known &= row.bytes.has_value();
    exchange.messages.push_back({row.name, row.dtype, row.bytes.value_or(0), row.group_size,
                                 static_cast<double>(SaturatingSum(row.count_per_step)) /
                                     std::max(1, evidence.TotalSteps())});
  }
  for (auto& [word, exchange] : exchanges) {
    std::sort(exchange.messages.begin(), exchange.messages.end());
  }
  return exchanges;
}

// "all_reduce 2 x 8.39 MB bf16 of 2 ranks"
std::string Text(const Exchange& exchange) {
  constexpr size_t kAtMost = 4;
  std::vector<std::string> parts;
  const Messages* last = nullptr;
  for (const Messages& each : exchange.messages) {
    if (parts.size() == kAtMost) return Join(parts, ", ") + ", ...";
    std::string part = last != nullptr && last->name == each.name ? "" : each.name + " ";
    part += fmt::format("{:.3g} x {}", each.count,
                        FormatValue(static_cast<double>(each.bytes), Unit::kBytes));
    if (!each.dtype.empty()) part += " " + each.dtype;
    if (each.group_size > 0) part += fmt::format(" of {}", Plural(each.group_size, "rank"));
    parts.push_back(std::move(part));
    last = &each;
  }
  return Printable(Join(parts, ", "));
}

// What `exchange` has and `other` has not.
Exchange Without(Exchange exchange, const Exchange& other) {
  for (Messages& each : exchange.messages) {
    for (const Messages& same : other.messages) {
      const bool like = std::tie(each.name, each.dtype, each.bytes, each.group_size) ==
                        std::tie(same.name, same.dtype, same.bytes, same.group_size);
      if (like) each.count = std::max(0.0, each.count - same.count);
    }
  }
  std::erase_if(exchange.messages, [](const Messages& each) { return each.count == 0; });
  return exchange;
}

// Of the messages in which two sides differ.
ChangeKind KindOf(const Exchange& base, const Exchange& head) {
  if (base.messages.empty()) return ChangeKind::kAdded;
  if (head.messages.empty()) return ChangeKind::kRemoved;
  if (base.Types() != head.Types()) return ChangeKind::kDtypeChanged;
  if (base.Bytes() == head.Bytes() && base.Count() < head.Count()) return ChangeKind::kFusionSplit;
  if (base.Bytes() == head.Bytes() && base.Count() > head.Count()) return ChangeKind::kFused;
  return ChangeKind::kSubstituted;
}

double MeanBytes(const std::set<std::string>& types) {
  return BytesOf(fmt::format("{}", fmt::join(types, "+")));
}

// NCCL's kernels take signed integers for unsigned ones, and bool for bytes.
std::string AsNcclNames(const std::string& dtype) {
  if (dtype == "bool") return "uint8";
  return dtype.starts_with("int") ? "u" + dtype : dtype;
}

// Kernels by their word: `count` of them, of a type if it is said.
void TakeSome(const std::string& word, const std::string& dtype, double count,
              std::vector<Launches>* side, std::vector<ChangedKernel>* taken) {
  auto left = static_cast<int64_t>(std::llround(std::min(count, 1e15)));
  for (Launches& launches : *side) {
    const KernelInfo& info = launches.row->info;
    if (info.family != Family::kCollective || info.ops.size() != 1 || info.ops[0] != word) continue;
    if (launches.count == 0 || left == 0) continue;
    if (DifferInType(AsNcclNames(info.in_dtype), AsNcclNames(dtype))) continue;
    taken->push_back(Take(&launches, left));
    left -= taken->back().count;
  }
}

// What one side has alone came or went; of what both have something else, all is told.
Change Changed(const std::string& word, const Exchange& from, const Exchange& to, Work* work) {
  const Exchange gone = Without(from, to), come = Without(to, from);
  Change change = OfKind(KindOf(gone, come));
  if (change.kind == ChangeKind::kAdded) {
    for (const Messages& each : come.messages)
      TakeSome(word, each.dtype, each.count, &work->head, &change.head);
    change.text = Text(come) + " came";
  } else if (change.kind == ChangeKind::kRemoved) {
    for (const Messages& each : gone.messages)
      TakeSome(word, each.dtype, each.count, &work->base, &change.base);
    change.text = Text(gone) + " went";
  } else {
    change.narrower = MeanBytes(come.Types()) < MeanBytes(gone.Types());
    TakeSome(word, "", INFINITY, &work->base, &change.base);
    TakeSome(word, "", INFINITY, &work->head, &change.head);
    change.text = Text(from) + " became " + Text(to);
  }
  return change;
}

}  // namespace

void FindExchanges(Work* work, const Evidence& base, const Evidence& head) {
  std::map<std::string, Exchange> before = ExchangesOf(base), now = ExchangesOf(head);
  // A baseline of before collectives were kept knows nothing of them.
  if (before.empty() || now.empty()) return;
  std::set<std::string> words;
  for (const auto* side : {&before, &now}) {
    for (const auto& [word, exchange] : *side) words.insert(word);
  }
  for (const std::string& word : words) {
    const Exchange &from = before[word], &to = now[word];
    if (!from.sizes_known || !to.sizes_known || from.messages == to.messages) continue;
    Change change = Changed(word, from, to, work);
    if (change.base.empty() && change.head.empty()) continue;
    Finish(&change);
    work->diff->changes.push_back(std::move(change));
  }
}

}  // namespace perfgate
