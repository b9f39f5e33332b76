// What came or went beside a kernel that another one replaced, and belongs to that change: the
// statistics of a batch norm in training mode, a buffer that the new kernel needs.
#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "diff/launches.h"

namespace perfgate {
namespace {

// Operators further out hold too much to say that two kernels belong together.
constexpr size_t kNearest = 4;

// The operators around a launch, the innermost first, each with all that is around it:
// "aten::batch_norm > aten::native_batch_norm", then "aten::batch_norm".
std::vector<std::string> Around(std::string_view path) {
  std::vector<std::string> around;
  while (!path.empty() && around.size() < kNearest) {
    if (Innermost(path).find("::") != std::string_view::npos) around.emplace_back(path);
    const size_t end = path.rfind(kPathSeparator);
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return around;
}

// Which substitution a place belongs to. One that holds several operators' belongs to none.
class Owners {
 public:
  void Add(const std::string& place, size_t substitution, std::string_view op) {
    const auto [at, first] = owners_.try_emplace(place, Owner{substitution, op});
    if (!first && at->second.op != op) at->second.several = true;
  }
  std::optional<size_t> Of(const std::string& place) const {
    const auto found = owners_.find(place);
    if (found == owners_.end() || found->second.several) return std::nullopt;
    return found->second.substitution;
  }

 private:
  struct Owner {
    size_t substitution;
    std::string_view op;
    bool several = false;
  };
  std::unordered_map<std::string, Owner> owners_;
};

// One side of the comparison.
class Companions {
 public:
  Companions(std::vector<Launches>* side, bool base, std::vector<Substitution>* substitutions)
      : side_(side), base_(base), substitutions_(substitutions) {
    for (const Launches& launches : *side_) {
      for (const PlaceUse& use : launches.row->modules) {
        const size_t end = use.place.rfind(kPathSeparator);
        if (end != std::string::npos) with_modules_.insert(use.place.substr(0, end));
      }
    }
    for (size_t i = 0; i < substitutions->size(); ++i) {
      if ((*substitutions)[i].change.kind != ChangeKind::kSubstituted) continue;
      const KernelRow& row = *(base ? (*substitutions)[i].base : (*substitutions)[i].head);
      for (const std::string& path : Around(row.op_path)) by_path_.Add(path, i, row.Operator());
      for (const PlaceUse& use : row.modules) by_module_.Add(use.place, i, row.Operator());
    }
  }

  void Run() {
    for (Launches& launches : *side_) {
      if (launches.count == 0 || !MayBelong(*launches.row)) continue;
      std::optional<size_t> owner = OwnerByPath(*launches.row);
      if (!owner) owner = OwnerByModule(*launches.row);
      if (owner) List(*owner).push_back(Take(&launches, launches.count));
    }
    CountedBatches();
  }

 private:
  // A copy that came is a change of its own.
  bool MayBelong(const KernelRow& row) const {
    return row.info.family != Family::kGemm && row.info.family != Family::kGemv &&
           (base_ || !IsCopyKernel(row.info));
  }

  std::vector<ChangedKernel>& List(size_t substitution) {
    Change& change = (*substitutions_)[substitution].change;
    return base_ ? change.base : change.head;
  }

  // The nearest operator that both are in decides.
  std::optional<size_t> OwnerByPath(const KernelRow& row) const {
    for (const std::string& path : Around(row.op_path)) {
      if (const std::optional<size_t> owner = by_path_.Of(path)) return owner;
    }
    return std::nullopt;
  }

  static bool OfOneOperator(const KernelRow& a, const KernelRow& b) {
    const std::string_view op = OutermostOperator(a.op_path);
    return !op.empty() && op == OutermostOperator(b.op_path);
  }

  // A module without modules in it is one layer: what was launched in it belongs together. What
  // another operator of the layer launches in the head is new in the model.
  std::optional<size_t> OwnerByModule(const KernelRow& row) const {
    std::optional<size_t> owner;
    for (const PlaceUse& use : row.modules) {
      const std::optional<size_t> of_place = by_module_.Of(use.place);
      if (with_modules_.contains(use.place) || !of_place) return std::nullopt;
      if (owner && owner != of_place) return std::nullopt;
      owner = of_place;
    }
    const bool came = owner && !base_;
    if (came && !OfOneOperator(row, *(*substitutions_)[*owner].head)) return std::nullopt;
    return owner;
  }

  // A batch norm in training mode counts its batches, one number a norm, outside of its operator.
  void CountedBatches() {
    std::optional<size_t> owner;
    int64_t norms = 0;
    for (size_t i = substitutions_->size(); i-- > 0;) {
      if ((*substitutions_)[i].change.kind != ChangeKind::kSubstituted) continue;
      if (!NormsInTraining(List(i))) continue;
      norms += List(i)[0].count;
      owner = i;
    }
    if (!owner) return;
    for (Launches& launches : *side_) {
      if (launches.count == 0 || launches.count > norms || !IsCounter(*launches.row)) continue;
      norms -= launches.count;
      List(*owner).push_back(Take(&launches, launches.count));
    }
  }

  static bool IsCounter(const KernelRow& row) {
    const std::vector<std::string_view> tensors = Tensors(row.FirstDims());
    return row.op_path == "aten::add_" && row.info.in_dtype == "int64" &&
           (tensors.empty() || tensors[0].empty());
  }

  std::vector<Launches>* side_;
  bool base_;
  std::vector<Substitution>* substitutions_;
  Owners by_path_, by_module_;
  std::set<std::string, std::less<>> with_modules_;  // modules that hold modules
};

}  // namespace

bool NormsInTraining(const std::vector<ChangedKernel>& kernels) {
  // ATen's and cuDNN's.
  static constexpr std::array<std::string_view, 4> kStatistics = {
      "batch_norm_collect_statistics", "batch_norm_update_stats", "bn_fw_tr", "batchnorm_fwtr"};
  return std::any_of(kernels.begin(), kernels.end(), [](const ChangedKernel& kernel) {
    return std::any_of(kStatistics.begin(), kStatistics.end(), [&](std::string_view part) {
      return kernel.name.find(part) != std::string::npos;
    });
  });
}

void AddCompanions(Work* work, std::vector<Substitution>* substitutions) {
  Companions(&work->base, true, substitutions).Run();
  Companions(&work->head, false, substitutions).Run();
}

}  // namespace perfgate
