// The same work in more launches than before: a product for queries, keys and values that became
// three, a batched product that became a loop. Seen by the shapes of what is launched, since the
// pieces often have the names of other kernels of the same trace.
#include <algorithm>
#include <array>
#include <map>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// Launches of one group may be parts of one another: products over the same inner dimension; one
// pointwise operator. Another element type, or none of the tensor cores, is more than a product in
// pieces.
struct Group {
  bool on_gpu = false;
  std::string_view op, in_dtype, out_dtype;
  TensorCore tensor_core = TensorCore::kUnknown;
  int64_t inner = 0;
  friend auto operator<=>(const Group&, const Group&) = default;
};

// How much a launch computes.
struct Extent {
  Group group;
  std::array<int64_t, 3> sizes{1, 1, 1};  // products: batch, rows, columns; else 1, 1, elements
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

// Launches of one row with one extent, a step.
struct Use {
  Launches* launches = nullptr;
  int64_t count = 0, time_ns = 0;
  std::string_view dims;
};

using Uses = std::map<Extent, std::vector<Use>>;

int64_t CountOf(const std::vector<Use>& uses) {
  int64_t count = 0;
  for (const Use& use : uses) count = SaturatingAdd(count, use.count);
  return count;
}

std::optional<Extent> ExtentOf(const KernelRow& row, std::string_view dims) {
  const KernelInfo& info = row.info;
  if (info.family == Family::kGemm || info.family == Family::kGemv) {
    const std::optional<ProductSize> size = ProductOf(row.Operator(), dims);
    if (!size) return std::nullopt;
    return Extent{{OnGpu(row), "mm", info.in_dtype, info.out_dtype, info.tensor_core, size->inner},
                  {size->batch, size->rows, size->columns}};
  }
  if (info.family != Family::kPointwise || info.ops.size() != 1) return std::nullopt;
  if (info.ops[0] == "copy" || info.ops[0] == "fill") return std::nullopt;
  int64_t elements = 0;
  for (const std::string_view tensor : Tensors(dims)) {
    elements = std::max(elements, ElementsOf(tensor));
  }
  if (elements == 0) return std::nullopt;
  return Extent{{OnGpu(row), info.ops[0], info.in_dtype, "", TensorCore::kUnknown, 0},
                {1, 1, elements}};
}

Uses UsesOf(std::vector<Launches>* side) {
  Uses uses;
  for (Launches& launches : *side) {
    if (launches.count == 0) continue;
    const KernelRow& row = *launches.row;
    const auto steps = static_cast<int64_t>(row.count_per_step.size());
    for (const ShapeUse& shape : row.shapes) {
      if (steps == 0 || shape.count <= 0 || shape.count % steps != 0 || shape.time_ns < 0) continue;
      const std::optional<Extent> extent = ExtentOf(row, shape.input_dims);
      if (!extent) continue;
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
  explicit Pieces(Work* work)
      : work_(work), base_(UsesOf(&work->base)), head_(UsesOf(&work->head)) {
    Cancel(&base_, &head_);
  }

  void Run() {
    Find(false);
    Find(true);
  }

 private:
  void Find(bool reversed) {
    Uses& wholes = reversed ? head_ : base_;
    Uses& parts = reversed ? base_ : head_;
    int64_t looks_left = kMostLooks;
    for (auto whole = wholes.begin(); whole != wholes.end();) {
      looks_left -= static_cast<int64_t>(3 * parts.size());
      if (looks_left < 0) return;
      std::vector<Extent> found;
      for (size_t axis = 3; axis-- > 0 && found.empty();) {
        found = Along(axis, whole->first, CountOf(whole->second), parts);
      }
      if (found.empty()) {
        ++whole;
        continue;
      }
      Record(whole->second, found, reversed, &parts);
      whole = wholes.erase(whole);
    }
  }

  // The parts that make up `count` launches of the whole when laid side by side along one axis:
  // all that fit, or those of one size.
  static std::vector<Extent> Along(size_t axis, const Extent& whole, int64_t count,
                                   const Uses& parts) {
    std::vector<Extent> fitting;
    for (auto part = parts.lower_bound(Extent{whole.group, {0, 0, 0}});
         part != parts.end() && part->first.group == whole.group; ++part) {
      Extent widened = part->first;
      widened.sizes[axis] = whole.sizes[axis];
      if (widened == whole && part->first.sizes[axis] < whole.sizes[axis]) {
        fitting.push_back(part->first);
      }
    }
    const double wanted = static_cast<double>(whole.sizes[axis]) * static_cast<double>(count);
    if (Covers(fitting, axis, wanted, parts)) return fitting;
    for (const Extent& one : fitting) {
      if (Covers({one}, axis, wanted, parts)) return {one};
    }
    return {};
  }

  static bool Covers(const std::vector<Extent>& some, size_t axis, double wanted,
                     const Uses& parts) {
    double covered = 0;
    for (const Extent& part : some) {
      covered +=
          static_cast<double>(part.sizes[axis]) * static_cast<double>(CountOf(parts.at(part)));
    }
    return !some.empty() && covered == wanted;
  }

  void Record(const std::vector<Use>& whole, const std::vector<Extent>& found, bool reversed,
              Uses* parts) {
    Change change = OfKind(reversed ? ChangeKind::kFused : ChangeKind::kFusionSplit);
    std::vector<ChangedKernel>& one = reversed ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed ? change.base : change.head;
    const std::string_view from = whole[0].dims, to = parts->at(found[0])[0].dims;
    for (const Use& use : whole) one.push_back(TakeTimed(use.launches, use.count, use.time_ns));
    change.ops = one[0].ops;
    for (const Extent& part : found) {
      for (const Use& use : parts->at(part)) {
        many.push_back(TakeTimed(use.launches, use.count, use.time_ns));
      }
      parts->erase(part);
    }
    Finish(&change);
    change.text = PiecesText(change, reversed, from, to);
    work_->diff->changes.push_back(std::move(change));
  }

  Work* work_;
  Uses base_, head_;
};

}  // namespace

void FindPieces(Work* work) { Pieces(work).Run(); }

}  // namespace perfgate
