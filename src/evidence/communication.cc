// Collectives by name and bytes, and the communication that nothing hides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "evidence/gpu.h"

namespace perfgate {
namespace {

using Stretch = std::pair<int64_t, int64_t>;  // start, end

// Sorted, and joined where they touch or overlap.
std::vector<Stretch> Merged(std::vector<Stretch> spans) {
  std::sort(spans.begin(), spans.end());
  std::vector<Stretch> merged;
  for (const Stretch& span : spans) {
    if (!merged.empty() && span.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, span.second);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

// Length of `spans` outside of `covers`, both merged.
int64_t UncoveredNs(const std::vector<Stretch>& spans, const std::vector<Stretch>& covers) {
  int64_t uncovered = 0;
  for (const auto& [start, end] : spans) {
    int64_t from = start;
    auto cover = std::partition_point(covers.begin(), covers.end(),
                                      [at = start](const Stretch& c) { return c.second <= at; });
    for (; cover != covers.end() && cover->first < end; ++cover) {
      uncovered += std::max<int64_t>(0, cover->first - from);
      from = std::max(from, cover->second);
    }
    uncovered += std::max<int64_t>(0, end - from);
  }
  return uncovered;
}

// c10::ScalarType's names of element types, as collectives say them.
struct ElementType {
  std::string_view name, dtype;
  int64_t bytes;
};
constexpr std::array kElementTypes = {
    ElementType{"BFloat16", "bf16", 2},
    ElementType{"Half", "fp16", 2},
    ElementType{"Float", "fp32", 4},
    ElementType{"Double", "fp64", 8},
    ElementType{"Float8_e4m3fn", "fp8_e4m3", 1},
    ElementType{"Float8_e5m2", "fp8_e5m2", 1},
    ElementType{"Long", "int64", 8},
    ElementType{"Int", "int32", 4},
    ElementType{"Short", "int16", 2},
    ElementType{"Char", "int8", 1},
    ElementType{"Byte", "uint8", 1},
    ElementType{"Bool", "bool", 1},
    ElementType{"ComplexFloat", "complex64", 8},
    ElementType{"ComplexDouble", "complex128", 16},
};

// nullptr: unknown.
const ElementType* FindElementType(std::string_view name) {
  const auto* found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const ElementType& type) { return type.name == name; });
  return found == kElementTypes.end() ? nullptr : found;
}

// c10d's names of collectives in torch.distributed's words: "_allgather_base" is "all_gather".
std::string CollectiveWord(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords = {
      {{"allreduce", "all_reduce"},
       {"allgather", "all_gather"},
       {"reducescatter", "reduce_scatter"},
       {"alltoall", "all_to_all"},
       {"broadcast", "broadcast"},
       {"reduce", "reduce"},
       {"gather", "gather"},
       {"scatter", "scatter"},
       {"send", "send"},
       {"recv", "recv"}}};
  std::string plain(name);
  std::erase(plain, '_');
  for (const auto& [start, word] : kWords) {
    if (plain.starts_with(start)) return std::string(word);
  }
  return std::string(name);
}

class Communication {
 public:
  Communication(const TraceData& trace, const GpuLinks& links, ProcessEvidence& evidence)
      : trace_(trace),
        links_(links),
        evidence_(evidence),
        counts_(evidence.Steps(MetricId::kCommCount)),
        bytes_(evidence.Steps(MetricId::kCommBytes)),
        exposed_(evidence.Steps(MetricId::kCommExposed)),
        kinds_(trace.texts.size()) {}

  void Extract() {
    for (const GpuWork& work : links_.work) {
      const TraceEvent& event = trace_.events[work.event];
      if (event.kind == EventKind::kKernel && IsCollective(event.name)) Add(work, event);
    }
    for (auto& [key, row] : rows_) evidence_.collectives.push_back(std::move(row));
    MeasureExposed();
    if (unsaid_ == 0) return;
    evidence_.unavailable[MetricId::kCommBytes] =
        fmt::format("the trace does not say the bytes of {}", Plural(unsaid_, "collective"));
  }

 private:
  enum class Kind : char { kUnknown, kCollective, kOther };

  bool IsCollective(uint32_t name) {
    Kind& kind = kinds_[name];
    if (kind == Kind::kUnknown) {
      const Family family = DecodeKernelName(trace_.Text(name)).family;
      kind = family == Family::kCollective ? Kind::kCollective : Kind::kOther;
    }
    return kind == Kind::kCollective;
  }

  // What the kernel's record says, else what its name says.
  CollectiveRow Describe(const TraceEvent& event) const {
    const Message& message = trace_.messages[trace_.shapes[event.detail].message];
    const KernelInfo info = DecodeKernelName(trace_.Text(event.name));
    CollectiveRow row;
    row.name = CollectiveWord(trace_.Text(message.collective));
    if (row.name.empty()) row.name = info.ops.empty() ? "collective" : info.ops.front();
    row.dtype = info.in_dtype;
    row.group_size = message.group_size;
    const ElementType* type = FindElementType(trace_.Text(message.dtype));
    if (type == nullptr) return row;
    row.dtype = type->dtype;
    int64_t bytes = 0;
    if (message.in_elements < 0 || message.out_elements < 0) return row;
    const int64_t elements = std::max(message.in_elements, message.out_elements);
    if (!__builtin_mul_overflow(elements, type->bytes, &bytes)) row.bytes = bytes;
    return row;
  }

  void Add(const GpuWork& work, const TraceEvent& event) {
    const auto step = static_cast<size_t>(work.step);
    CollectiveRow described = Describe(event);
    const auto key = std::make_tuple(described.name, described.dtype, described.bytes.value_or(-1),
                                     described.group_size);
    const auto [found, fresh] = rows_.try_emplace(key, std::move(described));
    CollectiveRow& row = found->second;
    if (fresh) {
      row.count_per_step.resize(counts_.size());
      row.time_ns_per_step.resize(counts_.size());
    }
    row.count_per_step[step] += 1;
    counts_[step] += 1;
    bytes_[step] += static_cast<double>(row.bytes.value_or(0));
    unsaid_ += !row.bytes;
    if (!work.has_time) return;
    row.time_ns_per_step[step] = SaturatingAdd(row.time_ns_per_step[step], event.duration_ns);
    messages_[event.device][work.step].emplace_back(event.start_ns, work.busy_end_ns);
  }

  // Kernels that compute, of whatever step: what belongs to a step is told by its launch, but it
  // hides what it runs beside.
  std::vector<Stretch> Compute(int16_t device) {
    std::vector<Stretch> spans;
    for (const GpuWork& work : links_.work) {
      const TraceEvent& event = trace_.events[work.event];
      if (event.kind != EventKind::kKernel || event.device != device) continue;
      if (work.has_time && !IsCollective(event.name)) {
        spans.emplace_back(event.start_ns, work.busy_end_ns);
      }
    }
    return Merged(std::move(spans));
  }

  void MeasureExposed() {
    for (auto& [device, steps] : messages_) {
      const std::vector<Stretch> compute = Compute(device);
      for (auto& [step, spans] : steps) {
        exposed_[static_cast<size_t>(step)] +=
            static_cast<double>(UncoveredNs(Merged(std::move(spans)), compute));
      }
    }
  }

  const TraceData& trace_;
  const GpuLinks& links_;
  ProcessEvidence& evidence_;
  std::vector<double>&counts_, &bytes_, &exposed_;
  std::vector<Kind> kinds_;  // by text
  std::map<std::tuple<std::string, std::string, int64_t, int>, CollectiveRow> rows_;
  std::map<int16_t, std::map<int32_t, std::vector<Stretch>>> messages_;  // by device and step
  int64_t unsaid_ = 0;
};

}  // namespace

void ExtractCommunication(const TraceData& trace, const GpuLinks& links,
                          ProcessEvidence& evidence) {
  Communication(trace, links, evidence).Extract();
}

}  // namespace perfgate
