// The same work in more launches than before: a product for queries, keys and values that became
// three, a batched product that became a loop. Seen by the shapes of what is launched, since the
// pieces often have the names of other kernels of the same trace.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// How much a launch computes. Launches of one group may be parts of one another: products over the
// same inner dimension; one pointwise operator.
struct Extent {
  std::string group;
  std::array<int64_t, 3> sizes{1, 1, 1};  // products: batch, rows, columns; else 1, 1, elements
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

// Launches of one row with one extent, a step.
struct Use {
  Launches* launches = nullptr;
  int64_t count = 0, time_ns = 0;
  std::string dims;
};

using Uses = std::map<Extent, std::vector<Use>>;

int64_t CountOf(const std::vector<Use>& uses) {
  int64_t count = 0;
  for (const Use& use : uses) count = SaturatingAdd(count, use.count);
  return count;
}

std::optional<Extent> ExtentOf(const KernelRow& row, const std::string& dims) {
  if (row.info.family == Family::kGemm || row.info.family == Family::kGemv) {
    const std::optional<ProductSize> size = ProductOf(Innermost(row.op_path), dims);
    if (!size) return std::nullopt;
    // Another element type, or none of the tensor cores, is more than a product in pieces.
    const KernelInfo& info = row.info;
    return Extent{fmt::format("mm {} {} {} {}", size->inner, info.in_dtype, info.out_dtype,
                              static_cast<int>(info.tensor_core)),
                  {size->batch, size->rows, size->columns}};
  }
  if (row.info.family != Family::kPointwise || row.info.ops.size() != 1) return std::nullopt;
  if (row.info.ops[0] == "copy" || row.info.ops[0] == "fill") return std::nullopt;
  int64_t elements = 0;
  for (const std::string& tensor : Tensors(dims)) elements = std::max(elements, ElementsOf(tensor));
  if (elements == 0) return std::nullopt;
  return Extent{row.info.ops[0] + " " + row.info.in_dtype, {1, 1, elements}};
}

Uses UsesOf(std::vector<Launches>* side) {
  Uses uses;
  for (Launches& launches : *side) {
    const KernelRow& row = *launches.row;
    const auto steps = static_cast<int64_t>(row.count_per_step.size());
    for (const ShapeUse& shape : row.shapes) {
      if (steps == 0 || shape.count <= 0 || shape.count % steps != 0 || shape.time_ns < 0) continue;
      std::optional<Extent> extent = ExtentOf(row, shape.input_dims);
      if (!extent) continue;
      extent->group += OnGpu(row) ? " g" : " c";
      uses[*extent].push_back(
          {&launches, shape.count / steps, shape.time_ns / steps, shape.input_dims});
    }
  }
  return uses;
}

// Removes as many launches of each extent as the other side has too.
void Cancel(Uses* base, Uses* head) {
  const auto take = [](std::vector<Use>* uses, int64_t count) {
    for (Use& use : *uses) {
      const int64_t taken = std::min(count, use.count);
      use.time_ns -= use.time_ns / use.count * taken;
      use.count -= taken;
      count -= taken;
      if (count == 0) break;
    }
    std::erase_if(*uses, [](const Use& use) { return use.count == 0; });
  };
  for (auto& [extent, uses] : *base) {
    const auto other = head->find(extent);
    if (other == head->end()) continue;
    const int64_t both = std::min(CountOf(uses), CountOf(other->second));
    take(&uses, both);
    take(&other->second, both);
  }
  const auto empty = [](const auto& entry) { return entry.second.empty(); };
  std::erase_if(*base, empty);
  std::erase_if(*head, empty);
}

class Pieces {
 public:
  Pieces(Work* work, bool reversed)
      : work_(work),
        reversed_(reversed),
        wholes_(UsesOf(reversed ? &work->head : &work->base)),
        parts_(UsesOf(reversed ? &work->base : &work->head)) {
    Cancel(&wholes_, &parts_);
  }

  void Run() {
    int64_t looks_left = kMostLooks;
    for (const auto& [whole, uses] : wholes_) {
      looks_left -= static_cast<int64_t>(3 * parts_.size());
      if (looks_left < 0) return;
      for (size_t axis = 3; axis-- > 0;) {
        const std::vector<Extent> found = Along(axis, whole, CountOf(uses));
        if (found.empty()) continue;
        Record(uses, found);
        break;
      }
    }
  }

 private:
  // The parts that make up `count` launches of the whole when laid side by side along one axis:
  // all that fit, or those of one size.
  std::vector<Extent> Along(size_t axis, const Extent& whole, int64_t count) const {
    std::vector<Extent> fitting;
    for (auto part = parts_.lower_bound(Extent{whole.group, {0, 0, 0}});
         part != parts_.end() && part->first.group == whole.group; ++part) {
      Extent widened = part->first;
      widened.sizes[axis] = whole.sizes[axis];
      if (widened == whole && part->first.sizes[axis] < whole.sizes[axis]) {
        fitting.push_back(part->first);
      }
    }
    const double wanted = static_cast<double>(whole.sizes[axis]) * static_cast<double>(count);
    if (Covers(fitting, axis, wanted)) return fitting;
    for (const Extent& one : fitting) {
      if (Covers({one}, axis, wanted)) return {one};
    }
    return {};
  }

  bool Covers(const std::vector<Extent>& parts, size_t axis, double wanted) const {
    double covered = 0;
    for (const Extent& part : parts) {
      covered +=
          static_cast<double>(part.sizes[axis]) * static_cast<double>(CountOf(parts_.at(part)));
    }
    return !parts.empty() && covered == wanted;
  }

  void Record(const std::vector<Use>& whole, const std::vector<Extent>& parts) {
    Change change = OfKind(reversed_ ? ChangeKind::kFused : ChangeKind::kFusionSplit);
    std::vector<ChangedKernel>& one = reversed_ ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed_ ? change.base : change.head;
    const std::string from = whole[0].dims, to = parts_.at(parts[0])[0].dims;
    for (const Use& use : whole) one.push_back(TakeTimed(use.launches, use.count, use.time_ns));
    change.ops = one[0].ops;
    for (const Extent& part : parts) {
      for (const Use& use : parts_.at(part)) {
        many.push_back(TakeTimed(use.launches, use.count, use.time_ns));
      }
      parts_.erase(part);
    }
    Finish(&change);
    change.text = PiecesText(change, reversed_, from, to);
    work_->diff->changes.push_back(std::move(change));
  }

  Work* work_;
  bool reversed_;
  Uses wholes_, parts_;
};

}  // namespace

void FindPieces(Work* work, bool reversed) { Pieces(work, reversed).Run(); }

}  // namespace perfgate
