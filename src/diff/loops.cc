// Products of several matrices at once, one for each expert or sample, that became a loop of
// products: told as one change with what the loop needs to pick rows and to put them back.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// Products with one second factor, by its sizes.
using Weight =
    std::tuple<bool, int64_t, int64_t, std::string_view>;  // on a GPU, inner, columns, type

Weight WeightOf(const KernelRow& row, const ProductSize& size) {
  return {OnGpu(row), size.inner, size.columns, row.info.in_dtype};
}

bool IsGrouped(const KernelRow& row) {
  return row.Operator().find("grouped_mm") != std::string_view::npos ||
         row.name.find("GroupProblemShape") != std::string::npos;
}

bool IsBatched(const KernelRow& row) {
  const std::string word = OperatorWord(row.Operator());
  return word == "bmm" || word == "baddbmm";
}

// Calls of one size. A step, as the sides may have other numbers of steps.
struct ProductCalls {
  ProductSize size;
  double a_step;
};

double AStep(const KernelRow& row, const ShapeUse& use) {
  return static_cast<double>(use.count) /
         static_cast<double>(std::max<size_t>(1, row.count_per_step.size()));
}

// Of all calls of a product; none if one is unknown.
std::vector<ProductCalls> ProductsIn(const KernelRow& row) {
  std::vector<ProductCalls> products;
  for (const ShapeUse& use : row.shapes) {
    const std::optional<ProductSize> size = ProductOf(row.Operator(), use.input_dims);
    if (!size) return {};
    products.push_back({*size, AStep(row, use)});
  }
  return products;
}

// One side's products: what the other side has too is no news.
struct Products {
  std::map<Weight, double> alone;  // calls of one matrix, a step
  std::set<std::array<int64_t, 4>> sizes;
  std::set<std::string_view> names;
  int64_t batched = 0, plain = 0;  // launches a step, by the operator's name

  explicit Products(const std::vector<Launches>& side) {
    for (const Launches& launches : side) {
      const KernelRow& row = *launches.row;
      if (!IsGemm(row.info)) continue;
      names.insert(row.name);
      if (!IsGrouped(row)) (IsBatched(row) ? batched : plain) += launches.count;
      for (const ShapeUse& use : row.shapes) {
        const std::optional<ProductSize> size = ProductOf(row.Operator(), use.input_dims);
        if (!size) continue;
        sizes.insert(Key(*size));
        if (size->matrices > 1) continue;
        alone[WeightOf(row, *size)] += AStep(row, use);
      }
    }
  }

  static std::array<int64_t, 4> Key(const ProductSize& size) {
    return {size.matrices, size.rows, size.inner, size.columns};
  }
  bool Has(const ProductSize& size) const { return sizes.contains(Key(size)); }
  double Alone(const Weight& weight) const {
    const auto found = alone.find(weight);
    return found == alone.end() ? 0 : found->second;
  }
};

// What the model called, with all of its kernels on both sides.
struct Call {
  std::vector<Launches*> once, loop;
  bool heavy = false;    // computes products or the like
  bool light = false;    // does more than to copy
  bool routing = false;  // says which rows go where
};

bool IsRouting(const KernelRow& row) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "arange", "eq", "floor_divide", "sum", "where", "cat", "one_hot", "bincount"};
  const KernelInfo& info = row.info;
  const bool by_word =
      info.ops.size() == 1 && std::find(kWords.begin(), kWords.end(), info.ops[0]) != kWords.end();
  return by_word || IsGrouped(row) || info.family == Family::kSort ||
         info.family == Family::kScan || info.family == Family::kIndexing;
}

bool IsHeavy(const KernelInfo& info) {
  return IsGemm(info) || info.family == Family::kConv || info.family == Family::kAttention ||
         info.family == Family::kCollective || info.family == Family::kOptimizer;
}

class LoopFinder {
 public:
  LoopFinder(Work* work, bool reversed)
      : once_(reversed ? work->head : work->base),
        loop_(reversed ? work->base : work->head),
        once_products_(once_),
        loop_products_(loop_),
        reversed_(reversed) {}

  std::optional<Change> Find() {
    const std::vector<Launches*> wholes = Wholes();
    const std::vector<Launches*> parts = wholes.empty() ? wholes : Parts();
    const int64_t at_once = CountOf(wholes), alone = CountOf(parts);
    if (at_once == 0 || alone / 2 < at_once) return std::nullopt;
    if (matrices_ > 0 && alone / at_once > matrices_) return std::nullopt;
    const bool grouped = std::any_of(wholes.begin(), wholes.end(),
                                     [](const Launches* l) { return IsGrouped(*l->row); });
    Change change = OfKind(reversed_ ? ChangeKind::kFused : ChangeKind::kFusionSplit);
    change.ops = {"mm"};
    AddWorse(reversed_ ? parts : wholes, reversed_ ? wholes : parts, &change);
    std::vector<ChangedKernel>& one = reversed_ ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed_ ? change.base : change.head;
    TakeAll(wholes, &one);
    TakeAll(parts, &many);
    Finish(&change);  // the products alone, by which the change is named
    change.text = fmt::format("products of {}{} at once {}, {} launches: {} -> {}",
                              matrices_ > 0 ? fmt::format("{} ", matrices_) : "",
                              grouped ? "experts" : "matrices",
                              reversed_ ? "took the place of a loop" : "became a loop",
                              Arrow(at_once, alone), Describe(change.base), Describe(change.head));
    change.text += TakeAround(alone / at_once, &one, &many);
    Finish(&change);
    return change;
  }

 private:
  // Calls of one matrix with this second factor came at least as often as those of several went.
  bool CameApart(const KernelRow& row, const ProductCalls& calls) const {
    constexpr double kRounding = 1e-6;
    const Weight weight = WeightOf(row, calls.size);
    const double more = loop_products_.Alone(weight) - once_products_.Alone(weight);
    return calls.size.matrices > 1 && more >= calls.a_step - kRounding &&
           !loop_products_.Has(calls.size);
  }

  bool IsWhole(const Launches& launches) const {
    const KernelRow& row = *launches.row;
    const std::vector<ProductCalls> products = ProductsIn(row);
    if (products.empty()) return IsWholeByName(row);
    return std::all_of(products.begin(), products.end(),
                       [&](const ProductCalls& calls) { return CameApart(row, calls); });
  }

  // Without sizes: no batch is left, and at least as many products of one matrix came as two for
  // each. An attention that is one kernel now leaves as many of those as there were.
  bool IsWholeByName(const KernelRow& row) const {
    if (loop_products_.names.contains(row.name)) return false;
    const int64_t more = loop_products_.plain - once_products_.plain;
    return IsGrouped(row) ||
           (IsBatched(row) && loop_products_.batched == 0 && more / 2 >= once_products_.batched);
  }

  // Without sizes: a kernel that the other side has not, once for each of several turns.
  bool IsPart(const Launches& launches) const {
    const KernelRow& row = *launches.row;
    if (weights_.empty()) {
      return !IsGrouped(row) && launches.count >= 2 * rarest_ &&
             !once_products_.names.contains(row.name);
    }
    const std::vector<ProductCalls> products = ProductsIn(row);
    const auto is_part = [&](const ProductCalls& calls) {
      return calls.size.matrices == 1 && weights_.contains(WeightOf(row, calls.size)) &&
             !once_products_.Has(calls.size);
    };
    return !products.empty() && std::all_of(products.begin(), products.end(), is_part);
  }

  // What is worse about the products besides: a loop in fp32 is no mere loop.
  void AddWorse(const std::vector<Launches*>& before, const std::vector<Launches*>& after,
                Change* change) {
    bool lost = false, other_types = false, narrower = false;
    for (const Launches* from : before) {
      for (const Launches* to : after) {
        lost = lost || LosesTensorCore(from->row->info, to->row->info);
        if (!OtherTypes(*from->row, *to->row)) continue;
        other_types = true;
        narrower = narrower || NarrowerTypes(*from->row, *to->row);
      }
    }
    if (lost) change->also.push_back(ChangeKind::kTensorCoreLost);
    if (other_types) change->also.push_back(ChangeKind::kDtypeChanged);
    change->narrower = narrower;
  }

  std::vector<Launches*> Wholes() {
    std::vector<Launches*> wholes;
    for (Launches& launches : once_) {
      if (launches.count == 0 || !IsGemm(launches.row->info) || !IsWhole(launches)) continue;
      wholes.push_back(&launches);
      rarest_ = wholes.size() == 1 ? launches.count : std::min(rarest_, launches.count);
      for (const ProductCalls& calls : ProductsIn(*launches.row)) {
        weights_.insert(WeightOf(*launches.row, calls.size));
        matrices_ = std::max(matrices_, calls.size.matrices);
      }
    }
    return wholes;
  }

  std::vector<Launches*> Parts() {
    std::vector<Launches*> parts;
    for (Launches& launches : loop_) {
      if (launches.count == 0 || !IsGemm(launches.row->info) || !IsPart(launches)) continue;
      parts.push_back(&launches);
    }
    return parts;
  }

  std::map<std::string_view, Call> Calls() {
    // A graph says no operators: what it has too is no news.
    std::set<std::string_view> in_graph;
    for (const Launches& launches : once_) {
      if (launches.row->in_graph) in_graph.insert(launches.row->name);
    }
    std::map<std::string_view, Call> calls;
    for (const bool looped : {false, true}) {
      for (Launches& launches : looped ? loop_ : once_) {
        const KernelRow& row = *launches.row;
        const std::string_view name = OutermostOperator(row.op_path);
        if (launches.count == 0 || name.empty()) continue;
        if (looped && in_graph.contains(row.name)) continue;
        Call& call = calls[name];
        (looped ? call.loop : call.once).push_back(&launches);
        call.heavy = call.heavy || IsHeavy(row.info);
        call.light = call.light || !IsCopyKernel(row.info);
        call.routing = call.routing || IsRouting(row);
      }
    }
    return calls;
  }

  // Calls that only the loop makes, or that it makes for each of its turns; and, either way, those
  // that say which rows go where. A copy that came is a change of its own.
  static bool Belongs(const Call& call, int64_t turns) {
    const int64_t once = CountOf(call.once), loop = CountOf(call.loop);
    if (call.heavy || !call.light) return false;
    if (loop >= 2 * once && loop - once >= turns - turns / 4) return true;
    return call.routing && (loop >= 2 * once || once >= 2 * loop);
  }

  // "; kernels around them 14 -> 104: aten::nonzero 0 -> 32, ..."
  std::string TakeAround(int64_t turns, std::vector<ChangedKernel>* one,
                         std::vector<ChangedKernel>* many) {
    struct Told {
      std::string_view name;
      int64_t once, loop;
    };
    std::vector<Told> all;
    int64_t once = 0, loop = 0;
    for (const auto& [name, call] : Calls()) {
      if (!Belongs(call, turns)) continue;
      all.push_back({name, CountOf(call.once), CountOf(call.loop)});
      once += all.back().once;
      loop += all.back().loop;
      TakeAll(call.once, one);
      TakeAll(call.loop, many);
    }
    if (all.empty()) return "";
    std::stable_sort(all.begin(), all.end(), [](const Told& a, const Told& b) {
      return a.once + a.loop > b.once + b.loop;
    });
    std::string text = "; kernels around them " + Arrow(once, loop) + ": ";
    constexpr size_t kAtMost = 8;
    for (size_t i = 0; i < std::min(kAtMost, all.size()); ++i) {
      once -= all[i].once;
      loop -= all[i].loop;
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", Printable(all[i].name),
                          Arrow(all[i].once, all[i].loop));
    }
    return text + (all.size() > kAtMost ? ", others " + Arrow(once, loop) : "");
  }

  std::string Arrow(int64_t once, int64_t loop) const {
    return fmt::format("{} -> {}", reversed_ ? loop : once, reversed_ ? once : loop);
  }

  std::vector<Launches>& once_;
  std::vector<Launches>& loop_;
  Products once_products_, loop_products_;
  bool reversed_;
  std::set<Weight> weights_;  // of the wholes; empty: their sizes are unknown
  int64_t matrices_ = 0;      // at once, at most; 0: unknown
  int64_t rarest_ = 0;        // launches a step of the whole that is launched least
};

}  // namespace

void FindLoops(Work* work, bool reversed) {
  if (std::optional<Change> change = LoopFinder(work, reversed).Find()) {
    work->diff->changes.push_back(*std::move(change));
  }
}

}  // namespace perfgate
