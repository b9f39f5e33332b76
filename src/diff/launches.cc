#include "diff/launches.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

void SortOnce(std::vector<std::string>* words) {
  std::sort(words->begin(), words->end());
  words->erase(std::unique(words->begin(), words->end()), words->end());
}

std::vector<std::string> WordsOf(const KernelRow& row) {
  std::vector<std::string> words;
  for (const std::string& word : row.info.ops) words.push_back(GemmFolded(word));
  SortOnce(&words);
  const bool copy = words.size() == 1 && words[0] == "copy";
  if (copy || row.info.opaque) return words;
  for (std::string_view element : PathElements(row.op_path)) {
    if (element.find("::") == std::string_view::npos) continue;
    std::string word = GemmFolded(OperatorWord(element));
    if (word != "copy") words.push_back(std::move(word));
  }
  SortOnce(&words);
  return words;
}

std::string FusedText(const KernelInfo& info) {
  if (info.library != "inductor" || info.ops.empty()) return "";
  return std::string(ToString(info.family)) + "+" + Join(info.ops, "+");
}

// A copy's name holds one element type at most; the call that made it says from which to which.
std::string ShortName(const KernelRow& row) {
  const ElementTypes call = CopyTypes(row);
  if (!call.in.empty() && !call.out.empty() && call.in != call.out) {
    return fmt::format("copy {}->{}", call.in, call.out);
  }
  return row.info.short_name.empty() ? row.name : row.info.short_name;
}

Portion CutTimed(Launches* launches, int64_t count, int64_t time_ns) {
  Portion portion{launches->row, std::min(count, launches->count), 0};
  const bool all = portion.count == launches->count;
  portion.time_ns = all ? launches->time_ns : std::min(time_ns, launches->time_ns);
  launches->count -= portion.count;
  launches->time_ns -= portion.time_ns;
  return portion;
}

// Of all steps. The steps of a row are those of one process after the other.
int64_t TimeOf(const KernelRow& row, const Evidence& evidence) {
  const std::vector<int64_t>& times = row.time_ns_per_step;
  if (row.info.family != Family::kCollective || times.empty()) return row.TimeNs();
  const std::vector<int> together{static_cast<int>(times.size())};
  int64_t longest = 0;
  auto begin = times.begin();
  for (const int steps : evidence.ranks.empty() ? together : evidence.steps) {
    const auto end = begin + std::clamp<std::ptrdiff_t>(steps, 0, times.end() - begin);
    longest = std::max(longest, LowerMedian({begin, end}));
    begin = end;
  }
  const int64_t steps = std::max(1, evidence.TotalSteps());
  return std::min(longest, INT64_MAX / steps) * steps;
}

}  // namespace

int64_t MostOfARow(size_t rows) { return INT64_MAX / 4 / static_cast<int64_t>(rows + 1); }

int64_t CumulativeRounding::Next(int64_t total) {
  sum_ += total;
  const int64_t rounded = (2 * sum_ + steps_) / (2 * steps_);
  const int64_t part = rounded - given_;
  given_ = rounded;
  return part;
}

bool Launches::Has(std::string_view word) const {
  return std::binary_search(words.begin(), words.end(), word);
}

bool Launches::HandWritten() const {
  const KernelInfo& info = row->info;
  return info.opaque && (info.library.empty() || info.library == "triton");
}

bool Launches::Fused() const { return row->info.ops.size() >= 2; }

std::vector<Launches> LaunchesOf(const Evidence& evidence) {
  const std::vector<KernelRow>& rows = evidence.kernels;
  const int steps = evidence.TotalSteps();
  std::vector<Launches> result;
  CumulativeRounding counts(steps);
  CumulativeRounding times(steps);
  result.reserve(rows.size());
  const int64_t most = MostOfARow(rows.size());
  for (const KernelRow& row : rows) {
    result.push_back(
        {&row, 0, 0, WordsOf(row), GemmFolded(OperatorWord(row.Operator())), FusedText(row.info)});
  }
  std::stable_sort(result.begin(), result.end(), [](const Launches& a, const Launches& b) {
    return std::tie(a.row->op_path, a.row->name, a.row->device) <
           std::tie(b.row->op_path, b.row->name, b.row->device);
  });
  for (Launches& launches : result) {
    launches.count = counts.Next(std::min(launches.row->Count(), most));
    launches.time_ns = times.Next(std::min(TimeOf(*launches.row, evidence), most));
  }
  return result;
}

ChangedKernel Named(const KernelRow& row) {
  ChangedKernel named;
  named.name = row.name;
  named.canonical = row.info.canonical;
  named.short_name = ShortName(row);
  named.op_path = row.op_path;
  named.place = PlaceText(row.modules.empty() ? row.annotations : row.modules);
  named.backward_of = row.backward_of;
  named.device = row.device;
  named.ops = row.info.ops;
  const ElementTypes types = TypesOf(row);
  named.in_dtype = types.in;
  named.out_dtype = types.out;
  return named;
}

ChangedKernel Named(const Portion& portion) {
  ChangedKernel named = Named(*portion.row);
  named.count = portion.count;
  named.time_ns = portion.time_ns;
  return named;
}

Portion Cut(Launches* launches, int64_t count) {
  const bool all = count >= launches->count;
  const double share =
      all ? 1.0 : static_cast<double>(count) / static_cast<double>(launches->count);
  return CutTimed(launches, count,
                  static_cast<int64_t>(static_cast<double>(launches->time_ns) * share));
}

ChangedKernel Take(Launches* launches, int64_t count) { return Named(Cut(launches, count)); }

ChangedKernel TakeTimed(Launches* launches, int64_t count, int64_t time_ns) {
  return Named(CutTimed(launches, count, time_ns));
}

int64_t CountOf(const std::vector<Launches*>& all) {
  int64_t count = 0;
  for (const Launches* launches : all) count += launches->count;
  return count;
}

void TakeAll(const std::vector<Launches*>& all, std::vector<ChangedKernel>* list) {
  for (Launches* launches : all) list->push_back(Take(launches, launches->count));
}

std::string GemmFolded(std::string word) {
  for (std::string_view gemm : {"addmm", "bmm", "baddbmm", "linear", "matmul", "_scaled_mm",
                                "_addmm_activation", "mv", "addmv", "addbmm"}) {
    if (word == gemm) return "mm";
  }
  return word;
}

bool OnGpu(const KernelRow& row) { return !row.device.starts_with("cpu"); }

bool IsCopyKernel(const KernelInfo& info) {
  return info.ops.size() == 1 && info.ops[0] == "copy" && info.family != Family::kMemory;
}

bool IsGemm(const KernelInfo& info) {
  return info.family == Family::kGemm || info.family == Family::kGemv;
}

std::string_view OutermostOperator(std::string_view op_path) {
  for (std::string_view element : PathElements(op_path)) {
    if (element.find("::") != std::string_view::npos && !element.starts_with("autograd::")) {
      return element;
    }
  }
  return "";
}

bool ShareAPlace(const std::vector<PlaceUse>& a, const std::vector<PlaceUse>& b) {
  return std::any_of(a.begin(), a.end(), [&](const PlaceUse& use) {
    return std::any_of(b.begin(), b.end(),
                       [&](const PlaceUse& other) { return other.place == use.place; });
  });
}

Change OfKind(ChangeKind kind) {
  Change change;
  change.kind = kind;
  return change;
}

void Finish(Change* change) {
  change->count = change->time_ns = 0;
  for (const ChangedKernel& kernel : change->base) {
    change->count -= kernel.count;
    change->time_ns -= kernel.time_ns;
  }
  for (const ChangedKernel& kernel : change->head) {
    change->count += kernel.count;
    change->time_ns += kernel.time_ns;
  }
  if (change->ops.empty()) {
    for (const auto* side : {&change->base, &change->head}) {
      for (const ChangedKernel& kernel : *side) {
        change->ops.insert(change->ops.end(), kernel.ops.begin(), kernel.ops.end());
      }
    }
    SortOnce(&change->ops);
  }
  const std::vector<ChangedKernel>& cause = change->head.empty() ? change->base : change->head;
  for (const ChangedKernel& kernel : cause) {
    std::string place = kernel.place;
    if (!kernel.backward_of.empty()) {
      place = "the backward pass of " + kernel.backward_of + (place.empty() ? "" : " in " + place);
    }
    auto& places = change->places;
    if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(std::move(place));
    }
  }
  if (change->operators.empty()) {
    for (const ChangedKernel& kernel : cause) {
      std::string name(Innermost(kernel.op_path));
      bool known = std::find(change->operators.begin(), change->operators.end(), name) !=
                   change->operators.end();
      if (!name.empty() && !known) change->operators.push_back(std::move(name));
    }
  }
  if (change->text.empty()) change->text = Explain(*change);
}

}  // namespace perfgate
