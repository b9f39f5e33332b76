// The same operator with another kernel: pairs of what is left on both sides, and what differs
// within each pair.
#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

bool IsGemm(const KernelInfo& info) {
  return info.family == Family::kGemm || info.family == Family::kGemv;
}

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
    auto path = [](const Launches& launches) {
      return launches.row->op_path + "\n" + FamilyKey(launches);
    };
    auto innermost = [](const Launches& launches) {
      std::string_view last = Innermost(launches.row->op_path);
      return last.empty() ? "" : GemmFolded(OperatorWord(last)) + "\n" + FamilyKey(launches);
    };
    auto ops = [](const Launches& launches) {
      const std::vector<std::string>& set = launches.row->info.ops;
      bool copy = set.size() == 1 && set[0] == "copy";
      // Under another operator, another type is another kernel and no change of this one.
      const KernelInfo& info = launches.row->info;
      return set.empty() || copy ? "" : Join(set, "+") + info.in_dtype + ">" + info.out_dtype;
    };
    auto gemm = [](const Launches& launches) {
      return IsGemm(launches.row->info) ? std::string("gemm") : std::string();
    };
    auto operator_only = [](const Launches& launches) {
      std::string_view last = Innermost(launches.row->op_path);
      bool aux = launches.row->info.family == Family::kGemmAux;
      return last.find("::") == std::string_view::npos || aux ? "" : std::string(last);
    };
    auto fused = [](const Launches& launches) {
      const KernelInfo& info = launches.row->info;
      bool generated = info.library == "inductor" && info.family != Family::kGemm;
      return launches.HandWritten() || generated ? std::string("fused") : std::string();
    };
    By([&](const Launches& l) { return IsGemm(l.row->info) ? path(l) : ""; });
    By([&](const Launches& l) { return IsGemm(l.row->info) ? innermost(l) : ""; });
    By(gemm);
    By([&](const Launches& l) { return l.row->op_path.empty() ? "" : path(l); });
    By(innermost);
    By(ops);
    By(operator_only);
    By(fused);
    By(Activation);
    WholeForPart();
    Reducers();
    Companions();
    for (Change& change : changes_) {
      Finish(&change);
      work_->diff->changes.push_back(std::move(change));
    }
  }

 private:
  using KeyOf = std::function<std::string(const Launches&)>;

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
    const std::vector<std::string> tensors = Tensors(launches.row->FirstDims());
    const std::string tensor = tensors.empty() ? "" : tensors[0];
    return is ? "activation\n" + info.in_dtype + "\n" + tensor : "";
  }

  // A tensor written anew in whole, where a part of it was written in place: as many kernels, and
  // far more bytes.
  void WholeForPart() {
    constexpr std::array<std::string_view, 6> kInPlace = {
        "index_copy", "index_put", "scatter", "slice_scatter", "select_scatter", "copy"};
    for (Launches& head : work_->head) {
      if (head.count == 0 || head.row->info.ops != std::vector<std::string>{"cat"}) continue;
      for (Launches& base : work_->base) {
        if (base.count == 0 || base.row->info.ops.size() != 1 ||
            OnGpu(*base.row) != OnGpu(*head.row))
          continue;
        const std::string& word = base.row->info.ops[0];
        if (std::find(kInPlace.begin(), kInPlace.end(), word) == kInPlace.end()) continue;
        if (word == "copy" && Innermost(base.row->op_path) != "aten::copy_") continue;
        const int64_t count = std::min(base.count, head.count);
        Change change = OfKind(ChangeKind::kHiddenCopy);
        change.base.push_back(Take(&base, count));
        change.head.push_back(Take(&head, count));
        gemms_.push_back({});
        changes_.push_back(std::move(change));
        if (head.count == 0) break;
      }
    }
  }

  // What else an operator launches now, or no longer does, belongs to the change of its kernel:
  // batch_norm in training mode also updates its running statistics.
  void Companions() {
    for (std::vector<Launches>* side : {&work_->base, &work_->head}) {
      const bool base = side == &work_->base;
      std::unordered_map<std::string, size_t> change_of;  // by operator path
      for (size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i].kind != ChangeKind::kSubstituted) continue;
        const std::string& path = (base ? changes_[i].base : changes_[i].head)[0].op_path;
        if (path.find("::") != std::string::npos) change_of.emplace(path, i);
      }
      for (Launches& launches : *side) {
        if (launches.count == 0 || IsCopy(launches) || IsGemm(launches.row->info)) continue;
        const std::string& path = launches.row->op_path;
        auto found = change_of.find(path);
        for (size_t end = path.rfind(kPathSeparator);
             found == change_of.end() && end != std::string::npos && end > 0;
             end = path.rfind(kPathSeparator, end - 1)) {
          found = change_of.find(path.substr(0, end));
        }
        if (found == change_of.end()) continue;
        Change& change = changes_[found->second];
        (base ? change.base : change.head).push_back(Take(&launches, launches.count));
      }
    }
  }

  static bool IsCopy(const Launches& launches) {
    return launches.row->info.ops == std::vector<std::string>{"copy"};
  }

  static std::string FamilyKey(const Launches& launches) {
    const KernelInfo& info = launches.row->info;
    return IsCopy(launches) ? "copy" : IsGemm(info) ? "gemm" : std::string(ToString(info.family));
  }

  void By(const KeyOf& key_of) {
    Index index;
    for (size_t i = 0; i < work_->head.size(); ++i) {
      if (work_->head[i].count == 0) continue;
      std::string key = key_of(work_->head[i]);
      if (!key.empty()) index[(OnGpu(*work_->head[i].row) ? "g" : "c") + key].push_back(i);
    }
    std::unordered_map<std::string, size_t> next;
    for (Launches& base : work_->base) {
      if (base.count == 0) continue;
      std::string key = key_of(base);
      if (key.empty()) continue;
      key = (OnGpu(*base.row) ? "g" : "c") + key;
      auto found = index.find(key);
      if (found == index.end()) continue;
      size_t& at = next[key];
      while (base.count > 0 && at < found->second.size()) {
        Launches& head = work_->head[found->second[at]];
        if (head.count > 0) Pair(&base, &head);
        if (head.count == 0) ++at;
      }
    }
  }

  void Pair(Launches* base, Launches* head) {
    int64_t count = std::min(base->count, head->count);
    const KernelInfo& from = base->row->info;
    const KernelInfo& to = head->row->info;
    Change change;
    change.kind = Kind(from, to);
    change.narrower = OtherType(from, to) && Narrower(from, to);
    if (change.kind == ChangeKind::kTensorCoreLost && OtherType(from, to)) {
      change.also.push_back(ChangeKind::kDtypeChanged);
    }
    change.base.push_back(Take(base, count));
    change.head.push_back(Take(head, count));
    if (IsGemm(from) && IsGemm(to)) {
      Epilogue(from, to, count, &change);
    }
    gemms_.push_back({from.split_k != 0, to.split_k != 0});
    changes_.push_back(std::move(change));
  }

  static ChangeKind Kind(const KernelInfo& from, const KernelInfo& to) {
    if (from.tensor_core == TensorCore::kYes && to.tensor_core == TensorCore::kNo &&
        to.family != Family::kGemv) {
      return ChangeKind::kTensorCoreLost;
    }
    return OtherType(from, to) ? ChangeKind::kDtypeChanged : ChangeKind::kSubstituted;
  }

  static bool OtherType(const KernelInfo& from, const KernelInfo& to) {
    auto differ = [](const std::string& a, const std::string& b) {
      return !a.empty() && !b.empty() && a != b;
    };
    return differ(from.in_dtype, to.in_dtype) || differ(from.out_dtype, to.out_dtype);
  }

  // No type got wider and one got narrower. A type of unknown width is taken for a wide one.
  static bool Narrower(const KernelInfo& from, const KernelInfo& to) {
    const auto bytes = [](const std::string& type) {
      if (type.starts_with("fp8") || type == "int8" || type == "uint8" || type == "bool") return 1;
      if (type == "bf16" || type == "fp16" || type == "int16") return 2;
      return type == "fp64" || type == "int64" ? 8 : 4;
    };
    const auto compare = [&](const std::string& a, const std::string& b) {
      return a.empty() || b.empty() ? 0 : bytes(b) - bytes(a);
    };
    const int in = compare(from.in_dtype, to.in_dtype), out = compare(from.out_dtype, to.out_dtype);
    return in <= 0 && out <= 0 && in + out < 0;
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

  // A split-K reducer that came or went belongs to the split GEMM that did so under the same
  // operator.
  void Reducers() {
    for (std::vector<Launches>* side : {&work_->base, &work_->head}) {
      std::unordered_map<std::string, size_t> split_by_path;  // the first change of a path
      bool base = side == &work_->base;
      for (size_t i = 0; i < changes_.size(); ++i) {
        bool split = base ? gemms_[i].base_split : gemms_[i].head_split;
        const ChangedKernel& gemm = base ? changes_[i].base[0] : changes_[i].head[0];
        if (split) split_by_path.emplace(gemm.op_path, i);
      }
      for (Launches& reducer : *side) {
        if (reducer.count == 0 || reducer.row->info.family != Family::kGemmAux) continue;
        auto found = split_by_path.find(reducer.row->op_path);
        if (found == split_by_path.end()) continue;
        Change& change = changes_[found->second];
        (base ? change.base : change.head).push_back(Take(&reducer, reducer.count));
      }
    }
  }

  Work* work_;
  std::vector<Change> changes_;
  struct Splits {
    bool base_split, head_split;
  };
  std::vector<Splits> gemms_;  // of each change
  // Where the search for an epilogue's part goes on, by part and side: what is passed never fits.
  std::unordered_map<std::string, size_t> next_part_;
};

}  // namespace

void FindSubstitutions(Work* work) { Pairing(work).Run(); }

}  // namespace perfgate
