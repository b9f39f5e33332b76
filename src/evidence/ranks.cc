#include "evidence/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <span>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "evidence/merge.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

constexpr size_t kMostNamed = 8;

std::string Lookup(const std::map<std::string, std::string>& facts, const char* name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

using Run = std::pair<int64_t, int64_t>;  // first and last rank

// "ranks 0-7, 9, 10"; beyond kMostNamed runs only how many more ranks there are.
std::string RunsText(std::span<const Run> runs) {
  std::vector<std::string> parts;
  int64_t count = 0, unnamed = 0;
  for (const auto& [first, last] : runs) {
    const int64_t length = last - first + 1;
    count += length;
    if (parts.size() >= kMostNamed) {
      unnamed += length;
    } else if (length < 3) {
      for (int64_t rank = first; rank <= last; ++rank) parts.push_back(fmt::format("{}", rank));
    } else {
      parts.push_back(fmt::format("{}-{}", first, last));
    }
  }
  return fmt::format("{} {}{}", count == 1 ? "rank" : "ranks", Join(parts, ", "),
                     unnamed > 0 ? " and " + Plural(unnamed, "other") : "");
}

std::string MissingText(const std::map<int, std::vector<std::string>>& files, int64_t world_size) {
  std::vector<Run> missing;
  int64_t next = 0, count = 0;
  const auto leave_out = [&](int64_t end) {
    if (next < end) missing.emplace_back(next, end - 1);
    count += std::max<int64_t>(0, end - next);
  };
  for (const auto& [rank, names] : files) {
    if (rank >= world_size) break;
    leave_out(rank);
    next = int64_t{rank} + 1;
  }
  leave_out(world_size);
  if (count == 0) return "";
  return fmt::format("{} of {} left no trace: {}", count, Plural(world_size, "rank"),
                     RunsText(missing));
}

}  // namespace

void RollCall::Add(const std::string& file, std::optional<int> named, const TraceData& trace) {
  if (named && trace.rank && *named != *trace.rank) {
    faults_.push_back(fmt::format("{} holds the trace of rank {}", Printable(file), *trace.rank));
  }
  if (trace.world_size) world_sizes_.insert(*trace.world_size);
  for (const Message& message : trace.messages) {
    largest_group_ = std::max(largest_group_, int64_t{message.group_size});
  }
  Expect(trace.environment);
  const std::optional<int> rank = trace.rank ? trace.rank : named;
  if (rank) {
    files_[*rank].push_back(Printable(file));
  } else {
    nameless_.push_back(Printable(file));
  }
}

void RollCall::Expect(const std::map<std::string, std::string>& environment) {
  const std::string text = Lookup(environment, "world_size");
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size() && size > 0) {
    world_sizes_.insert(size);
  }
}

std::vector<std::string> RollCall::Faults() const {
  std::vector<std::string> faults = faults_;
  for (const auto& [rank, files] : files_) {
    if (files.size() < 2) continue;
    faults.push_back(fmt::format("{} are all of rank {}", Join(files, ", "), rank));
  }
  if (world_sizes_.size() > 1) {
    faults.push_back(fmt::format("the traces disagree on the number of ranks: {} and {}",
                                 *world_sizes_.begin(), *world_sizes_.rbegin()));
  }
  const int64_t highest = files_.empty() ? -1 : files_.rbegin()->first;
  const int64_t said = world_sizes_.empty() ? 0 : *world_sizes_.rbegin();
  if (said > 0 && highest >= said) {
    faults.push_back(fmt::format("{} is of rank {}, but there are {}",
                                 files_.rbegin()->second.front(), highest, Plural(said, "rank")));
  }
  if (said > 1 && !nameless_.empty()) {
    faults.push_back(fmt::format("{} does not say its rank, one of {}", nameless_.front(), said));
  }
  // A file without a rank may be that of any rank, so that those missing have no numbers.
  const auto traces = static_cast<int64_t>(files_.size() + nameless_.size());
  if (said > 0 ? largest_group_ > said : !nameless_.empty() && largest_group_ > traces) {
    faults.push_back(fmt::format("a collective is of {}, this process has {}",
                                 Plural(largest_group_, "rank"),
                                 said > 0 ? Plural(said, "rank") : Plural(traces, "trace")));
  }
  const int64_t at_least = nameless_.empty() ? std::max(highest + 1, largest_group_) : highest + 1;
  std::string missing = MissingText(files_, said > 0 ? said : at_least);
  if (!missing.empty() && (said != 1 || nameless_.empty())) faults.push_back(std::move(missing));
  return faults;
}

bool RollCall::HasRanksOf(const RollCall& other) const {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return nameless_.size() == other.nameless_.size() &&
         std::equal(files_.begin(), files_.end(), other.files_.begin(), other.files_.end(), same);
}

std::string RollCall::Present() const {
  std::set<int> ranks;
  for (const auto& [rank, files] : files_) ranks.insert(rank);
  const auto nameless = static_cast<int64_t>(nameless_.size());
  std::string text = ranks.empty() ? "" : RanksText(ranks);
  if (nameless == 0) return text;
  if (!text.empty()) text += " and ";
  return text + Plural(nameless, "trace without a rank", "traces without a rank");
}

std::optional<Rank> RankOf(const TraceData& trace, const ProcessEvidence& process,
                           const Attempt& attempt) {
  if (!trace.rank || trace.world_size == 1) return std::nullopt;
  Rank rank;
  rank.process = attempt.process;
  rank.rank = *trace.rank;
  rank.world_size = trace.world_size.value_or(0);
  rank.gpu = Lookup(trace.environment, "gpu");
  rank.gpu_uuid = Lookup(trace.environment, "gpu_uuid");
  if (!process.gpu) rank.device = "cpu";
  if (process.devices.empty()) return rank;
  rank.device = fmt::format("cuda:{}", process.devices.front());
  for (const DeviceProperties& device : trace.devices) {
    if (device.id != process.devices.front() && trace.devices.size() != 1) continue;
    if (rank.gpu.empty()) rank.gpu = device.name;
    if (rank.gpu_uuid.empty()) rank.gpu_uuid = device.uuid;
  }
  return rank;
}

void NumberOwnDevices(ProcessEvidence& process) {
  std::vector<int> own = process.devices;
  std::sort(own.begin(), own.end());
  std::map<std::string, std::string> numbers;
  for (size_t i = 0; i < own.size(); ++i) {
    numbers[fmt::format("cuda:{}", own[i])] = fmt::format("cuda:{}", i);
  }
  for (std::vector<KernelRow>* rows : {&process.kernels, &process.transfers}) {
    for (KernelRow& row : *rows) {
      const auto number = numbers.find(row.device);
      if (number != numbers.end()) row.device = number->second;
    }
  }
}

void AddRanksToKey(Evidence& evidence) {
  std::vector<std::string> names, uuids;
  for (const Rank& rank : evidence.ranks) {
    if (!rank.gpu.empty()) AddUnique(names, rank.gpu);
    if (!rank.gpu_uuid.empty()) AddUnique(uuids, rank.gpu_uuid);
  }
  if (!names.empty()) evidence.key.fields["gpu"] = Join(names, " and ");
  if (!uuids.empty()) evidence.key.recorded["gpu_uuid"] = Join(uuids, ", ");
}

std::vector<RankSpread> SpreadOverRanks(const Evidence& evidence) {
  std::vector<RankSpread> spreads;
  if (evidence.ranks.size() < 2) return spreads;
  for (const Metric& metric : Metrics()) {
    const std::map<int, double> ranks = Summarise(evidence, metric.id).by_rank;
    if (ranks.size() < 2) continue;
    const auto [least, most] =
        std::minmax_element(ranks.begin(), ranks.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    if (least->second == most->second) continue;
    std::vector<double> values;
    for (const auto& [rank, value] : ranks) values.push_back(value);
    spreads.push_back({metric.id, Median(std::move(values)), least->second, most->second,
                       least->first, most->first});
  }
  return spreads;
}

void NoteUnevenRanks(Evidence& evidence) {
  constexpr double kShare = 0.1, kWaitShare = 0.5, kLeastNs = 20'000;
  const auto time = [](double ns) { return FormatValue(ns, Unit::kNanoseconds); };
  for (const RankSpread& spread : SpreadOverRanks(evidence)) {
    const double apart = spread.most - spread.least;
    if (apart < kLeastNs) continue;
    if (spread.metric == MetricId::kGpuTime &&
        spread.most - spread.median > kShare * spread.median) {
      evidence.notes.push_back(
          fmt::format("rank {} works longest: gpu_time {} a step, the ranks' median {}",
                      spread.most_rank, time(spread.most), time(spread.median)));
    }
    if (spread.metric == MetricId::kCommTime && apart > kWaitShare * spread.least) {
      evidence.notes.push_back(fmt::format(
          "others wait for rank {}: collectives run {} a step there, up to {} elsewhere (rank {})",
          spread.least_rank, time(spread.least), time(spread.most), spread.most_rank));
    }
  }
}

void SaidByRanks::Lines::Take(int rank, std::vector<std::string>& from) {
  for (std::string& text : from) {
    std::set<int>& who = ranks[text];
    if (who.empty()) texts.push_back(text);
    who.insert(rank);
  }
  from.clear();
}

void SaidByRanks::Lines::AppendTo(const std::string& label, std::vector<std::string>& into) {
  const std::string start = label.empty() ? "" : label + ", ";
  for (const std::string& text : texts) {
    into.push_back(fmt::format("{}{}: {}", start, RanksText(ranks[text]), text));
  }
  *this = {};
}

void SaidByRanks::Take(int rank, ProcessEvidence& process) {
  incomplete_.Take(rank, process.incomplete);
  notes_.Take(rank, process.notes);
  explain_.Take(rank, process.explain);
}

void SaidByRanks::AppendTo(const std::string& label, Evidence& evidence) {
  incomplete_.AppendTo(label, evidence.incomplete_because);
  notes_.AppendTo(label, evidence.notes);
  explain_.AppendTo(label, evidence.explain);
}

std::vector<TraceFile> InOrderOfRanks(std::vector<TraceFile> files) {
  std::stable_sort(files.begin(), files.end(), [](const TraceFile& a, const TraceFile& b) {
    return a.rank.value_or(INT_MAX) < b.rank.value_or(INT_MAX);
  });
  return files;
}

std::string RanksText(const std::set<int>& ranks) {
  std::vector<Run> runs;
  for (const int rank : ranks) {
    if (!runs.empty() && runs.back().second + 1 == rank) {
      runs.back().second = rank;
    } else {
      runs.emplace_back(rank, rank);
    }
  }
  return RunsText(runs);
}

}  // namespace perfgate
