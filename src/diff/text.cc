// Changes in words.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// "2 kernels"; a row that occurs less than once a step has the count 0.
std::string Kernels(int64_t count) {
  return count == 0 ? "less than a kernel a step" : Plural(count, "kernel");
}

int64_t CountOf(const std::vector<ChangedKernel>& kernels) {
  int64_t count = 0;
  for (const ChangedKernel& kernel : kernels) count += kernel.count;
  return count;
}

std::string Under(const Change& change) {
  std::string operators = OperatorsText(change.operators);
  return operators.empty() ? "" : " under " + operators;
}

// " in aten::matmul": what the model called, where that is not the operator that asked for a copy.
std::string CalledBy(const Change& change) {
  const std::string_view called = OutermostOperator(change.head[0].op_path);
  const bool asked = change.operators.size() == 1 && change.operators[0] == called;
  return called.empty() || asked ? "" : " in " + Printable(called);
}

// "bf16 to fp32" of what the first kernels of both sides read, "result bf16 to fp32" of what they
// write, where it is not that of what they read; "" if neither names nor calls say.
std::string TypeChange(const Change& change) {
  if (change.base.empty() || change.head.empty()) return "";
  const ChangedKernel& from = change.base[0];
  const ChangedKernel& to = change.head[0];
  std::vector<std::string> ends;
  if (DifferInType(from.in_dtype, to.in_dtype)) {
    ends.push_back(fmt::format("{} to {}", from.in_dtype, to.in_dtype));
    if (from.in_dtype == from.out_dtype && to.in_dtype == to.out_dtype) return ends[0];
  }
  if (DifferInType(from.out_dtype, to.out_dtype)) {
    ends.push_back(fmt::format("result {} to {}", from.out_dtype, to.out_dtype));
  }
  return Join(ends, ", ");
}

// The part in which two exact names differ, from one token's start to another's end:
// "2x1_v_bz -> 1x2_h_bz".
std::string DifferingPart(std::string_view from, std::string_view to) {
  constexpr size_t kAtMost = 60;
  constexpr std::string_view kTokenEnds = "_ <>,:()";
  const auto ends = [&](char c) { return kTokenEnds.find(c) != std::string_view::npos; };
  const size_t shorter = std::min(from.size(), to.size());
  size_t front = 0;
  while (front < shorter && from[front] == to[front]) ++front;
  while (front > 0 && !ends(from[front - 1])) --front;
  size_t back = 0;
  while (back < shorter - front && from[from.size() - 1 - back] == to[to.size() - 1 - back]) ++back;
  while (back > 0 && !ends(from[from.size() - back])) --back;
  const auto part = [&](std::string_view name) {
    name = name.substr(front, name.size() - front - back);
    if (name.empty()) return std::string("nothing");
    return Printable(name.substr(0, kAtMost)) + (name.size() > kAtMost ? "..." : "");
  };
  return part(from) + " -> " + part(to);
}

// "vectorized_layer_norm_kernel" of a whole C++ signature; the name itself where it is none.
std::string_view FunctionName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (const size_t at = name.rfind(kAnonymous, name.find('<')); at != std::string_view::npos) {
    name.remove_prefix(at + kAnonymous.size());
  }
  name = name.substr(0, name.find_first_of("<("));
  const size_t scope = name.rfind("::");
  if (scope != std::string_view::npos) name.remove_prefix(scope + 2);
  const size_t blank = name.rfind(' ');
  return blank == std::string_view::npos ? name : name.substr(blank + 1);
}

// What two kernels of one short name differ in, in the words of their names: "layout TNT -> TNN".
// The exact names where those are of another thing (a cluster, an alignment).
std::string Difference(const std::string& from_name, const std::string& to_name) {
  const KernelInfo from = DecodeKernelName(from_name);
  const KernelInfo to = DecodeKernelName(to_name);
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view what, const auto& a, const auto& b) {
    const std::string before = fmt::format("{}", a), after = fmt::format("{}", b);
    if (before == after || before.empty() || after.empty()) return;
    parts.push_back(fmt::format("{} {} -> {}", what, Printable(before), Printable(after)));
  };
  add("layout", from.layout, to.layout);
  add("tile", from.tile, to.tile);
  add("stages", from.stages, to.stages);
  add("split-K", from.split_k, to.split_k);
  add("input", from.in_dtype, to.in_dtype);
  add("output", from.out_dtype, to.out_dtype);
  add("target", from.arch, to.arch);
  if (!parts.empty()) return Join(parts, ", ");
  const std::string_view from_function = FunctionName(from_name),
                         to_function = FunctionName(to_name);
  const bool known = !from_function.empty() && !to_function.empty();
  const bool templates = from_name.find('<') != std::string::npos;
  if (known && templates && from_function != to_function) {
    return Printable(from_function.substr(0, 60)) + " -> " + Printable(to_function.substr(0, 60));
  }
  return DifferingPart(from_name, to_name);
}

// Kernels that a person would call the same are told apart by what else their names say.
std::string FromTo(const Change& change) {
  const std::string from = Describe(change.base), to = Describe(change.head);
  std::string text = from + " -> " + to;
  if (from != to) return text;
  for (size_t i = 0; i < std::min(change.base.size(), change.head.size()); ++i) {
    if (change.base[i].name == change.head[i].name) continue;
    return text + " (" + Difference(change.base[i].name, change.head[i].name) + ")";
  }
  return text;
}

std::string EpilogueText(const Change& change, bool lost) {
  std::string part = change.ops.empty() ? "epilogue" : change.ops[0];
  const std::vector<ChangedKernel>& list = lost ? change.head : change.base;
  std::string own;
  if (list.size() > 1) {
    std::vector<ChangedKernel> rest(list.begin() + 1, list.end());
    own = (lost ? " and is now " : ", it was ") + Describe(rest);
  }
  std::string_view verb = lost ? "left" : "is now in";
  return fmt::format("the {} {} the GEMM's epilogue{}: {}", part, verb, own, FromTo(change));
}

}  // namespace

std::string OperatorsText(const std::vector<std::string>& operators) {
  std::string text;
  for (size_t i = 0; i < operators.size() && i < 3; ++i) {
    text += (i == 0 ? "" : ", ") + Printable(operators[i]);
  }
  return text + (operators.size() > 3 ? ", ..." : "");
}

std::string Describe(const std::vector<ChangedKernel>& kernels) {
  constexpr size_t kAtMost = 6;
  struct Each {
    std::string name;
    int64_t count = 0, time_ns = 0;
  };
  std::vector<Each> all;  // by short name
  std::unordered_map<std::string, size_t> place;
  for (const ChangedKernel& kernel : kernels) {
    auto [at, first] = place.emplace(kernel.short_name, all.size());
    if (first) all.push_back({kernel.short_name, 0, 0});
    all[at->second].count += kernel.count;
    all[at->second].time_ns += kernel.time_ns;
  }
  // Where some must be left out, what takes the time is told.
  if (all.size() > kAtMost) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Each& a, const Each& b) { return a.time_ns > b.time_ns; });
  }
  std::string text;
  int64_t more = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i >= kAtMost) {
      more += all[i].count;
      continue;
    }
    if (i > 0) text += ", ";
    if (all[i].count > 1) text += fmt::format("{} x ", all[i].count);
    text += Printable(all[i].name);
  }
  if (more > 0) text += fmt::format(", and {} more", more);
  return text.empty() ? "nothing" : text;
}

std::string PiecesText(const Change& change, bool reversed, std::string_view whole_dims,
                       std::string_view piece_dims) {
  const int64_t base = CountOf(change.base), head = CountOf(change.head);
  const auto dims = [](std::string_view all) { return Printable(all.substr(0, 80)); };
  return fmt::format("{} became {}{}, {}: {}; shapes {} -> {}", Plural(base, "launch", "launches"),
                     head, Under(change),
                     reversed ? "of the same work" : "each of them a part of the work",
                     FromTo(change), dims(reversed ? piece_dims : whole_dims),
                     dims(reversed ? whole_dims : piece_dims));
}

std::string Explain(const Change& change) {
  int64_t base = CountOf(change.base);
  int64_t head = CountOf(change.head);
  switch (change.kind) {
    case ChangeKind::kFusionSplit:
      return fmt::format("a fused kernel came apart, {} instead of {}: {}", Plural(head, "kernel"),
                         base, FromTo(change));
    case ChangeKind::kFusionLost:
      return fmt::format("a fused kernel is gone, {} instead of {} do its work: {}",
                         Plural(head, "kernel"), base, FromTo(change));
    case ChangeKind::kFused:
      return fmt::format("{} became {}: {}", Plural(base, "kernel"), head, FromTo(change));
    case ChangeKind::kEpilogueLost:
      return EpilogueText(change, true);
    case ChangeKind::kEpilogueGained:
      return EpilogueText(change, false);
    case ChangeKind::kTensorCoreLost: {
      std::string types = TypeChange(change);
      return fmt::format("no tensor cores any more{}: {}", types.empty() ? "" : " (" + types + ")",
                         FromTo(change));
    }
    case ChangeKind::kDtypeChanged:
      return fmt::format("another element type ({}){}: {}", TypeChange(change), Under(change),
                         FromTo(change));
    case ChangeKind::kGraphLost:
      return fmt::format("{} a step left a CUDA graph and are launched one by one",
                         Plural(head, "kernel"));
    case ChangeKind::kHiddenCopy:
      if (!change.base.empty()) {
        const KernelInfo info = DecodeKernelName(change.head[0].name);
        const bool graph = OutermostOperator(change.head[0].op_path).empty();
        return fmt::format("{} writes a whole tensor anew where a part was written in place: {}",
                           graph ? Join(info.ops, "+") : OperatorsText(change.operators),
                           FromTo(change));
      }
      return fmt::format("{} a step that {}{} asked for: {}",
                         head == 1 ? "a copy" : fmt::format("{} copies", head),
                         OperatorsText(change.operators), CalledBy(change), Describe(change.head));
    case ChangeKind::kSyncAdded:
      return "the host waits for the GPU";
    case ChangeKind::kSubstituted:
      if (NormsInTraining(change.head) && !NormsInTraining(change.base)) {
        return fmt::format(
            "batch norm in training mode, it takes the statistics of each batch and updates the "
            "running ones: {}",
            FromTo(change));
      }
      return fmt::format("{}{}: {}", base == head ? "another kernel" : "other kernels",
                         Under(change), FromTo(change));
    case ChangeKind::kMoved:
      return fmt::format("{} moved from {} to {}", Describe(change.head),
                         Printable(Innermost(change.base[0].op_path)),
                         Printable(Innermost(change.head[0].op_path)));
    case ChangeKind::kAdded:
      return fmt::format("{} came{}: {}", Kernels(head), Under(change), Describe(change.head));
    case ChangeKind::kRemoved:
      return fmt::format("{} went{}: {}", Kernels(base), Under(change), Describe(change.base));
  }
  return "";
}

}  // namespace perfgate
