// Changes in words.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

int64_t CountOf(const std::vector<ChangedKernel>& kernels) {
  int64_t count = 0;
  for (const ChangedKernel& kernel : kernels) count += kernel.count;
  return count;
}

std::string Operators(const Change& change) {
  std::string text;
  for (size_t i = 0; i < change.operators.size() && i < 3; ++i) {
    text += (i == 0 ? "" : ", ") + Printable(change.operators[i]);
  }
  if (change.operators.size() > 3) text += ", ...";
  return text;
}

std::string Under(const Change& change) {
  std::string operators = Operators(change);
  return operators.empty() ? "" : " under " + operators;
}

// "bf16 to fp32" of the first kernels of both sides; "" if the names do not say.
std::string TypeChange(const Change& change) {
  if (change.base.empty() || change.head.empty()) return "";
  KernelInfo from = DecodeKernelName(change.base[0].name);
  KernelInfo to = DecodeKernelName(change.head[0].name);
  auto type = [](const KernelInfo& info) {
    return info.in_dtype.empty() ? info.out_dtype : info.in_dtype;
  };
  if (type(from) == type(to) && from.out_dtype != to.out_dtype) {
    return fmt::format("result {} to {}", from.out_dtype, to.out_dtype);
  }
  return type(from).empty() || type(to).empty() ? ""
                                                : fmt::format("{} to {}", type(from), type(to));
}

std::string FromTo(const Change& change) {
  return Describe(change.base) + " -> " + Describe(change.head);
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

std::string Describe(const std::vector<ChangedKernel>& kernels) {
  constexpr size_t kAtMost = 6;
  std::string text;
  for (size_t i = 0; i < kernels.size() && i < kAtMost; ++i) {
    if (i > 0) text += ", ";
    if (kernels[i].count != 1) text += fmt::format("{} x ", kernels[i].count);
    text += Printable(kernels[i].short_name);
  }
  if (kernels.size() > kAtMost) {
    text += fmt::format(", and {} more",
                        Plural(static_cast<int64_t>(kernels.size() - kAtMost), "kernel"));
  }
  return text.empty() ? "nothing" : text;
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
      return fmt::format("{} a step that {} asked for: {}",
                         head == 1 ? "a copy" : fmt::format("{} copies", head), Operators(change),
                         Describe(change.head));
    case ChangeKind::kSyncAdded:
      return "the host waits for the GPU";
    case ChangeKind::kSubstituted:
      return fmt::format("another kernel{}: {}", Under(change), FromTo(change));
    case ChangeKind::kMoved:
      return fmt::format("{} moved from {} to {}", Describe(change.head),
                         Printable(Innermost(change.base[0].op_path)),
                         Printable(Innermost(change.head[0].op_path)));
    case ChangeKind::kAdded:
      return fmt::format("{} came{}: {}", Plural(head, "kernel"), Under(change),
                         Describe(change.head));
    case ChangeKind::kRemoved:
      return fmt::format("{} went{}: {}", Plural(base, "kernel"), Under(change),
                         Describe(change.base));
  }
  return "";
}

}  // namespace perfgate
