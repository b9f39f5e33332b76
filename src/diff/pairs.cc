// The same operator with another kernel: pairs of what is left on both sides, and what differs
// within each pair.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

bool HasPart(const std::string& epilogue, std::string_view part) {
  std::vector<std::string> parts = Split(epilogue, '_');
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// The kernels that do an epilogue's part on their own.
bool DoesPart(const Launches& launches, std::string_view part) {
  if (part == "bias") return launches.Has("add") && !launches.Fused();
  if (part == "relu") return launches.Has("relu") || launches.Has("clamp");
  return launches.Has(part);
}

class Pairing {
 public:
  explicit Pairing(Work* work) : work_(work) {}

  // The narrowest likeness first. GEMMs before the rest of an operator's kernels, since a GEMM is
  // never another operator's pointwise kernel.
  void Run() {
    By(Product);
    By([](const Launches& l) { return IsGemm(l.row->info) ? Path(l) : ""; });
    By([](const Launches& l) { return IsGemm(l.row->info) ? InnermostOperator(l) : ""; });
    By([](const Launches& l) { return std::string(IsGemm(l.row->info) ? "gemm" : ""); });
    By([](const Launches& l) {
      return l.row->shapes.empty() ? "" : Path(l) + Types(l) + "\n" + Shapes(*l.row);
    });
    By([](const Launches& l) { return l.row->op_path.empty() ? "" : Path(l) + Types(l); });
    Where([](const Launches& base, const Launches& head) {
      return Path(base) == Path(head) && OtherTypes(*base.row, *head.row);
    });
    By([](const Launches& l) { return l.row->op_path.empty() ? "" : Path(l); });
    Where(CopyAlike);
    By(InnermostOperator);
    By(Ops);
    By([](const Launches& l) {
      return l.row->info.family == Family::kAttention ? Join(l.row->info.ops, "+") : "";
    });
    By(OperatorOnly);
    By(Generated);
    for (const bool base_is_generated : {true, false}) CopiesBy(base_is_generated);
    By(Activation);
    Reducers();
    FindRewrites(work_);  // before companions, which would take a cat for one of theirs
    AddCompanions(work_, &work_->substitutions);
    for (Substitution& found : work_->substitutions) {
      Repeated(&found);
      Finish(&found.change);
      work_->diff->changes.push_back(std::move(found.change));
    }
  }

  // Generated code and whatever else computes the same set of operators.
  void Twins() {
    for (const bool base_is_generated : {true, false}) {
      for (const Untyped untyped : {Untyped::kNeither, Untyped::kBase, Untyped::kHead})
        TwinsBy(base_is_generated, untyped);
    }
  }

  // Takes all launches of one of the two.
  void Pair(Launches* base, Launches* head) {
    int64_t count = std::min(base->count, head->count);
    const KernelInfo& from = base->row->info;
    const KernelInfo& to = head->row->info;
    Change change;
    const bool other_types = OtherTypes(*base->row, *head->row);
    change.kind = Kind(from, to, other_types);
    change.narrower = other_types && NarrowerTypes(*base->row, *head->row);
    if (change.kind == ChangeKind::kTensorCoreLost && other_types) {
      change.also.push_back(ChangeKind::kDtypeChanged);
    }
    change.base.push_back(Take(base, count));
    change.head.push_back(Take(head, count));
    if (IsGemm(from) && IsGemm(to)) {
      Epilogue(from, to, count, &change);
    }
    work_->substitutions.push_back({base->row, head->row, std::move(change)});
  }

 private:
  using KeyOf = std::string (*)(const Launches&);  // "": takes no part
  enum class Untyped { kNeither, kBase, kHead };   // which side does not say its element type

  static std::string Types(const Launches& launches) {
    return launches.row->info.in_dtype + ">" + launches.row->info.out_dtype;
  }

  static std::string Path(const Launches& launches) {
    return launches.row->op_path + "\n" + FamilyKey(launches) + "\n" + Within(launches) + "\n";
  }

  static std::string InnermostOperator(const Launches& launches) {
    if (launches.row->Operator().empty()) return "";
    return launches.operator_word + "\n" + FamilyKey(launches) + "\n" + Within(launches);
  }

  // What must be equal besides: a graph holds any operators, and a copy is known by its size.
  static std::string Within(const Launches& launches) {
    const KernelRow& row = *launches.row;
    switch (row.in_graph ? row.info.family : Family::kOther) {
      case Family::kPointwise:
      case Family::kReduction:
      case Family::kIndexing:
      case Family::kCopy:
        return OperatorSet(row.info);
      default:
        break;
    }
    if (!IsCopyKernel(row.info)) return "";
    const std::vector<std::string_view> tensors = Tensors(row.FirstDims());
    return tensors.empty() ? "" : fmt::format("{}", ElementsOf(tensors[0]));
  }

  // Under another operator, another type is another kernel and no change of this one.
  static std::string Ops(const Launches& launches) {
    const KernelInfo& info = launches.row->info;
    return info.ops.empty() || IsCopyKernel(info) ? "" : OperatorSet(info) + Types(launches);
  }

  // A name lists them in any order, Inductor's by the alphabet.
  static std::string OperatorSet(const KernelInfo& info) {
    const std::set<std::string_view> ops(info.ops.begin(), info.ops.end());
    return fmt::format("{}", fmt::join(ops, "+"));
  }

  static std::string OperatorOnly(const Launches& launches) {
    const std::string_view last = launches.row->Operator();
    const bool aux = launches.row->info.family == Family::kGemmAux;
    if (last.find("::") == std::string_view::npos || aux) return "";
    return std::string(last) + "\n" + (IsCopyKernel(launches.row->info) ? Within(launches) : "");
  }

  static std::string Generated(const Launches& launches) {
    const KernelInfo& info = launches.row->info;
    const bool inductor = info.library == "inductor" && info.family != Family::kGemm;
    return launches.HandWritten() || inductor ? "generated" : "";
  }

  static std::string Shapes(const KernelRow& row) {
    std::vector<std::string> all;
    for (const ShapeUse& use : row.shapes) all.push_back(use.input_dims);
    std::sort(all.begin(), all.end());
    return Join(all, "\n");
  }

  // The products that a GEMM computes, whatever operator asks for them; "" if unknown.
  static std::string Product(const Launches& launches) {
    if (!IsGemm(launches.row->info)) return "";
    std::vector<std::string> all;
    for (const ShapeUse& use : launches.row->shapes) {
      const auto size = ProductOf(launches.row->Operator(), use.input_dims);
      if (!size) return "";
      all.push_back(
          fmt::format("{} {} {} {}", size->batch, size->rows, size->inner, size->columns));
    }
    std::sort(all.begin(), all.end());
    return Join(all, "\n");
  }

  // Pointwise functions that models put behind a layer: one in the place of another is a choice of
  // the model, not a kernel more and a kernel less.
  static std::string Activation(const Launches& launches) {
    static constexpr std::array<std::string_view, 14> kActivations = {
        "gelu", "silu",      "relu",      "clamp", "clamp_min", "leaky_relu",  "elu",
        "mish", "hardswish", "threshold", "tanh",  "sigmoid",   "hardsigmoid", "softplus"};
    const KernelInfo& info = launches.row->info;
    if (info.ops.size() != 1) return "";
    const bool is =
        std::find(kActivations.begin(), kActivations.end(), info.ops[0]) != kActivations.end();
    if (!is) return "";
    const std::vector<std::string_view> tensors = Tensors(launches.row->FirstDims());
    return fmt::format("activation\n{}\n{}", info.in_dtype, tensors.empty() ? "" : tensors[0]);
  }

  static std::string FamilyKey(const Launches& launches) {
    const KernelInfo& info = launches.row->info;
    return IsCopyKernel(info) ? "copy" : IsGemm(info) ? "gemm" : std::string(ToString(info.family));
  }

  void By(KeyOf key_of) {
    const auto on_device = [key_of](const Launches& launches) -> std::optional<std::string> {
      std::string key = key_of(launches);
      if (key.empty()) return std::nullopt;
      return (OnGpu(*launches.row) ? 'g' : 'c') + std::move(key);
    };
    PairByKey<std::hash<std::string>>(work_, on_device, on_device,
                                      [this](Launches* base, Launches* head) { Pair(base, head); });
  }

  // Generated code does not say the type of its result, and of its operands only where the trace
  // has their types.
  void TwinsBy(bool base_is_generated, Untyped untyped) {
    const auto key_of = [untyped](bool generated, Untyped side) {
      return [=](const Launches& launches) -> std::optional<std::string> {
        const KernelInfo& info = launches.row->info;
        if (info.ops.empty() || info.opaque || IsGemm(info) || IsCopyKernel(info)) return {};
        if (generated && info.library != "inductor") return {};
        if (untyped == side && !info.in_dtype.empty()) return {};
        return fmt::format("{}\n{}\n{}", OnGpu(*launches.row) ? "gpu" : "cpu", OperatorSet(info),
                           untyped == Untyped::kNeither ? info.in_dtype : "");
      };
    };
    PairByKey<std::hash<std::string>>(work_, key_of(base_is_generated, Untyped::kBase),
                                      key_of(!base_is_generated, Untyped::kHead),
                                      [this](Launches* base, Launches* head) { Pair(base, head); });
  }

  // Pairs that no key can tell: `fits(base, head)`.
  template <typename Fits>
  void Where(Fits fits) {
    int64_t looks_left = kMostLooks;
    for (Launches& base : work_->base) {
      if (base.count == 0 || base.row->op_path.empty()) continue;
      for (Launches& head : work_->head) {
        if (base.count == 0) break;
        if (--looks_left < 0) return;
        if (head.count == 0 || head.row->op_path != base.row->op_path) continue;
        if (OnGpu(*base.row) == OnGpu(*head.row) && fits(base, head)) Pair(&base, &head);
      }
    }
  }

  // A copy is known by its size, a row of several sizes by any of them.
  static bool CopyAlike(const Launches& base, const Launches& head) {
    return IsCopyKernel(base.row->info) && IsCopyKernel(head.row->info) &&
           SizesFit(*base.row, *head.row);
  }

  // Generated code that copies, in the place of a library's kernel that does, unless an operator
  // asked for that copy: a hidden one is a change of its own.
  void CopiesBy(bool base_is_generated) {
    const auto key_of = [](bool generated) {
      return [generated](const Launches& launches) -> std::optional<bool> {
        const KernelInfo& info = launches.row->info;
        if (!IsCopyKernel(info) || (info.library == "inductor") != generated) return {};
        if (!generated && !Asker(launches.row->op_path).empty()) return {};
        return OnGpu(*launches.row);
      };
    };
    PairByKey<std::hash<bool>>(work_, key_of(base_is_generated), key_of(!base_is_generated),
                               [this](Launches* base, Launches* head) { Pair(base, head); });
  }

  static ChangeKind Kind(const KernelInfo& from, const KernelInfo& to, bool other_types) {
    if (LosesTensorCore(from, to)) return ChangeKind::kTensorCoreLost;
    return other_types ? ChangeKind::kDtypeChanged : ChangeKind::kSubstituted;
  }

  // A part of the epilogue that left the GEMM for a kernel of its own, or came in from one.
  void Epilogue(const KernelInfo& from, const KernelInfo& to, int64_t count, Change* change) {
    for (std::string_view part : {"bias", "relu", "gelu"}) {
      bool had = HasPart(from.epilogue, part);
      bool has = HasPart(to.epilogue, part);
      if (had == has) continue;
      std::vector<Launches>& side = had ? work_->head : work_->base;
      std::vector<ChangedKernel>& list = had ? change->head : change->base;
      bool apart = TakePart(part, count, &side, &list);
      // "none" is what a name says that could say bias; "" says nothing.
      bool named = (had ? to.epilogue : from.epilogue) == "none";
      if (!apart && !named) continue;
      const ChangeKind kind = had ? ChangeKind::kEpilogueLost : ChangeKind::kEpilogueGained;
      if (change->kind == ChangeKind::kTensorCoreLost) {
        if (!IsOfKind(*change, kind)) change->also.push_back(kind);
        continue;
      }
      if (change->kind == ChangeKind::kDtypeChanged) change->also.push_back(change->kind);
      change->kind = kind;
      change->ops = {std::string(part)};
    }
  }

  bool TakePart(std::string_view part, int64_t count, std::vector<Launches>* side,
                std::vector<ChangedKernel>* list) {
    bool found = false;
    size_t& at = next_part_[std::string(part) + (side == &work_->base ? "b" : "h")];
    for (; at < side->size() && count > 0; ++at) {
      Launches& launches = (*side)[at];
      if (launches.count == 0 || !DoesPart(launches, part)) continue;
      list->push_back(Take(&launches, count));
      count -= list->back().count;
      found = true;
      if (launches.count > 0) break;  // the next GEMM takes from it too
    }
    return found;
  }

  // A generated name lists an operator once, however often it occurs: two multiplications in the
  // place of one kernel that multiplies are what it did, one by one. Not of a copy or a cat, one
  // call of which launches several kernels.
  static void Repeated(Substitution* found) {
    Change& change = found->change;
    if (change.kind != ChangeKind::kSubstituted || !SizesFit(*found->base, *found->head)) return;
    if (AreRepeats(change.base, change.head)) change.kind = ChangeKind::kFusionSplit;
    if (AreRepeats(change.head, change.base)) change.kind = ChangeKind::kFused;
  }

  static bool AreRepeats(const std::vector<ChangedKernel>& fused,
                         const std::vector<ChangedKernel>& apart) {
    const auto generated = [](const ChangedKernel& kernel) {
      return DecodeKernelName(kernel.name).library == "inductor";
    };
    const auto sum = [](const std::vector<ChangedKernel>& kernels) {
      return std::accumulate(kernels.begin(), kernels.end(), int64_t{0},
                             [](int64_t all, const ChangedKernel& one) { return all + one.count; });
    };
    if (fused.size() != 1 || fused[0].ops.size() != 1) return false;
    if (fused[0].ops[0] == "copy" || fused[0].ops[0] == "cat") return false;
    if (sum(apart) < 2 * sum(fused) || !generated(fused[0])) return false;
    return std::all_of(apart.begin(), apart.end(), [&](const ChangedKernel& kernel) {
      return kernel.ops == fused[0].ops && !generated(kernel);
    });
  }

  // A split-K reducer that came or went belongs to the split GEMM that did so under the same
  // operator.
  void Reducers() {
    std::vector<Substitution>& found = work_->substitutions;
    for (std::vector<Launches>* side : {&work_->base, &work_->head}) {
      std::unordered_map<std::string, size_t> split_by_path;  // the first change of a path
      const bool base = side == &work_->base;
      for (size_t i = 0; i < found.size(); ++i) {
        const KernelRow& gemm = *(base ? found[i].base : found[i].head);
        if (gemm.info.split_k != 0) split_by_path.emplace(gemm.op_path, i);
      }
      for (Launches& reducer : *side) {
        if (reducer.count == 0 || reducer.row->info.family != Family::kGemmAux) continue;
        auto split = split_by_path.find(reducer.row->op_path);
        if (split == split_by_path.end()) continue;
        Change& change = found[split->second].change;
        (base ? change.base : change.head).push_back(Take(&reducer, reducer.count));
      }
    }
  }

  Work* work_;
  // Where the search for an epilogue's part goes on, by part and side: what is passed never fits.
  std::unordered_map<std::string, size_t> next_part_;
};

}  // namespace

void Substitute(Work* work, Launches* base, Launches* head) { Pairing(work).Pair(base, head); }
void FindTwins(Work* work) { Pairing(work).Twins(); }
void FindSubstitutions(Work* work) { Pairing(work).Run(); }

}  // namespace perfgate
