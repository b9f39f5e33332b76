// Fused kernels that came apart, and the reverse.
#include <algorithm>
#include <array>
#include <set>

#include "diff/composites.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

template <typename Words>
bool Contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// `whole` lost `parts`; or with the sides swapped gained them.
class FusionFinder {
 public:
  FusionFinder(Work* work, bool reversed)
      : from_(reversed ? work->head : work->base),
        to_(reversed ? work->base : work->head),
        work_(work),
        reversed_(reversed) {
    for (size_t i = 0; i < to_.size(); ++i) {
      if (to_[i].count == 0) continue;
      for (const std::string& word : to_[i].words) to_by_word_[word].push_back(i);
    }
    for (const Launches& launches : from_) {
      if (launches.count == 0) continue;
      for (const std::string& word : launches.words) ++from_words_[word];
    }
  }

  void Run() {
    for (Launches& whole : from_) {
      if (whole.count == 0) continue;
      if (looks_left_ <= 0) return;
      if (whole.Fused()) Spread(&whole);
      if (whole.count > 0 && whole.row->info.ops.size() == 1) Decompose(&whole);
    }
  }

 private:
  // The operators of a fused kernel that must turn up elsewhere. Casts and copies may vanish.
  static std::vector<std::string> Needed(const Launches& whole) {
    std::vector<std::string> needed;
    for (const std::string& word : whole.row->info.ops) {
      if (word != "copy") needed.push_back(GemmFolded(word));
    }
    if (needed.size() < 2) needed.push_back("copy");
    return needed;
  }

  bool Holds(const Launches& part, const std::vector<std::string>& needed) const {
    std::vector<std::string> ops;
    for (const std::string& op : part.row->info.ops) ops.push_back(GemmFolded(op));
    return std::all_of(needed.begin(), needed.end(),
                       [&](const std::string& word) { return Contains(ops, word); });
  }

  // A fused kernel that brings operators of its own counts as a part only if no other kernel that
  // went has them: else two fusions were only drawn in another way.
  bool IsPart(const Launches& part, const Launches& whole, const std::vector<std::string>& needed) {
    if (part.count == 0 || OnGpu(*part.row) != OnGpu(*whole.row)) return false;
    if (Holds(part, needed)) return false;
    if (!part.Fused()) return true;
    return std::all_of(
        part.row->info.ops.begin(), part.row->info.ops.end(), [&](const std::string& word) {
          return Contains(whole.row->info.ops, word) || !from_words_.contains(GemmFolded(word));
        });
  }

  // A kernel named by several operators whose operators now run in kernels of their own.
  void Spread(Launches* whole) {
    std::vector<std::string> needed = Needed(*whole);
    std::vector<size_t> parts;
    std::set<std::string> covered;
    int64_t launches = whole->count;
    for (const std::string& word : needed) {
      for (size_t i : to_by_word_[word]) {
        const Launches& part = to_[i];
        --looks_left_;
        if (part.count > 0 && OnGpu(*part.row) == OnGpu(*whole->row) && Holds(part, needed)) return;
      }
    }
    for (const std::string& word : needed) {
      if (covered.contains(word)) continue;
      for (size_t i : to_by_word_[word]) {
        --looks_left_;
        if (!IsPart(to_[i], *whole, needed)) continue;
        if (std::find(parts.begin(), parts.end(), i) == parts.end()) {
          parts.push_back(i);
          launches = std::min(launches, to_[i].count);
        }
        for (const std::string& other : to_[i].words) covered.insert(other);
        break;
      }
    }
    if (parts.size() < 2) return;
    bool all = std::all_of(needed.begin(), needed.end(),
                           [&](const std::string& word) { return covered.contains(word); });
    Record(whole, launches, parts, all ? ChangeKind::kFusionSplit : ChangeKind::kFusionLost);
  }

  void Record(Launches* whole, int64_t launches, const std::vector<size_t>& parts,
              ChangeKind kind) {
    Change change = OfKind(reversed_ ? ChangeKind::kFused : kind);
    change.ops = whole->row->info.ops;
    std::vector<ChangedKernel>& one = reversed_ ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed_ ? change.base : change.head;
    one.push_back(Take(whole, launches));
    for (size_t i : parts) many.push_back(Take(&to_[i], launches));
    TakeRepeated(change.ops, &many);
    Finish(&change);
    work_->diff->changes.push_back(std::move(change));
  }

  // Names list an operator once, however often it occurs: what is left of it without a counterpart
  // belongs to the same fusion.
  void TakeRepeated(const std::vector<std::string>& ops, std::vector<ChangedKernel>* many) {
    for (const std::string& word : ops) {
      if (from_words_[word] > 1 || word == "mm") continue;
      for (size_t i : to_by_word_[word]) {
        Launches& part = to_[i];
        --looks_left_;
        if (part.count == 0 || part.row->info.ops.size() != 1 || part.row->info.ops[0] != word)
          continue;
        many->push_back(Take(&part, part.count));
      }
    }
  }

  // A kernel of a library (attention, a norm, an optimizer) whose parts run one by one now.
  void Decompose(Launches* whole) {
    const std::string& word = whole->row->info.ops[0];
    for (const Composite& composite : Composites()) {
      if (composite.whole != word) continue;
      for (size_t i : DoingAllAlone(*whole, composite)) {
        if (whole->count == 0) return;
        if (TakeWithNeighbours(whole, &to_[i])) continue;
        Substitute(work_, reversed_ ? &to_[i] : whole, reversed_ ? whole : &to_[i]);
      }
      const std::vector<size_t> parts = PartsOf(*whole, composite);
      if (whole->count > 0 && AreApart(*whole, parts)) RecordAll(whole, parts);
      return;
    }
  }

  // `fused` does the work of `whole` and of kernels beside it that are left: a norm and the
  // residual add before it, a softmax and the cast of what it reads. False if there are none.
  bool TakeWithNeighbours(Launches* whole, Launches* fused) {
    const int64_t launches = std::min(whole->count, fused->count);
    std::vector<ChangedKernel> neighbours;
    for (const std::string& word : fused->row->info.ops) {
      int64_t wanted = launches;
      for (Launches& other : from_) {
        if (wanted == 0 || --looks_left_ <= 0) break;
        if (other.count == 0 || !IsNeighbour(other, *whole, word)) continue;
        neighbours.push_back(Take(&other, wanted));
        wanted -= neighbours.back().count;
      }
    }
    if (neighbours.empty()) return false;
    Change change = OfKind(reversed_ ? ChangeKind::kFusionSplit : ChangeKind::kFused);
    change.ops = fused->row->info.ops;
    std::vector<ChangedKernel>& one = reversed_ ? change.base : change.head;
    std::vector<ChangedKernel>& many = reversed_ ? change.head : change.base;
    one.push_back(Take(fused, launches));
    many = std::move(neighbours);
    many.push_back(Take(whole, launches));
    Finish(&change);
    work_->diff->changes.push_back(std::move(change));
    return true;
  }

  static bool IsNeighbour(const Launches& other, const Launches& whole, const std::string& word) {
    const bool copy = IsCopyKernel(other.row->info);
    if (!copy && other.row->info.family != Family::kPointwise) return false;
    if (OnGpu(*other.row) != OnGpu(*whole.row)) return false;
    const auto elements = [](const Launches& launches) {
      const std::vector<std::string_view> tensors = Tensors(launches.row->FirstDims());
      return tensors.empty() ? 0 : ElementsOf(tensors[0]);
    };
    const int64_t a = elements(other), b = elements(whole);
    const bool fits = a == b ? a > 0 || !copy : !copy && (a == 0 || b == 0);
    return fits && other.row->info.ops == std::vector<std::string>{word};
  }

  static std::string_view Outermost(const Launches& launches) {
    std::string_view path = launches.row->op_path;
    return path.substr(0, path.find(kPathSeparator));
  }

  // Of the kernels that tell of `whole` having come apart.
  std::set<std::string_view> OutermostCallers(const Launches& whole, const Composite& composite) {
    std::set<std::string_view> callers;
    for (std::string_view word : composite.telling) {
      for (size_t i : to_by_word_[std::string(word)]) {
        --looks_left_;
        bool same_device = OnGpu(*to_[i].row) == OnGpu(*whole.row);
        if (to_[i].count > 0 && same_device && Contains(to_[i].row->info.ops, word)) {
          callers.insert(Outermost(to_[i]));
        }
      }
    }
    return callers;
  }

  // What may be a part of `whole`; nothing if none of it tells of `whole` having come apart.
  std::vector<size_t> PartsOf(const Launches& whole, const Composite& composite) {
    std::vector<size_t> parts;
    const std::set<std::string_view> callers = OutermostCallers(whole, composite);
    if (callers.empty()) return parts;
    looks_left_ -= static_cast<int64_t>(to_.size());
    for (size_t i = 0; i < to_.size(); ++i) {
      const Launches& part = to_[i];
      if (part.count == 0 || part.row->info.ops.empty()) continue;
      if (OnGpu(*part.row) != OnGpu(*whole.row)) continue;
      // Another kernel of the same operator: batch_norm in training mode is no batch_norm apart.
      // A graph is no operator.
      const bool same_operator = Innermost(part.row->op_path) == Innermost(whole.row->op_path);
      if (same_operator && !part.row->in_graph) continue;
      const std::set<std::string> words = FoldedOps(part);
      const bool belongs = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        // A copy may have come for another reason, unless it is called from where the parts are.
        if (word == "copy" && !callers.contains(Outermost(part))) return false;
        if (word == composite.whole && part.Fused()) return true;  // Inductor names it beside
        return Contains(composite.telling, word) || Contains(composite.others, word);
      });
      if (belongs) parts.push_back(i);
    }
    return parts;
  }

  // Fused kernels, no more than there were wholes, that each compute what tells of the whole: other
  // kernels in its place. One telling word alone may be but a part, a softmax of an attention: then
  // they must compute all that the parts do.
  std::vector<size_t> DoingAllAlone(const Launches& whole, const Composite& composite) {
    const std::vector<size_t> parts = PartsOf(whole, composite);
    std::set<std::string> all, telling;
    for (size_t i : parts) all.merge(FoldedOps(to_[i]));
    for (std::string_view word : composite.telling) {
      if (all.contains(std::string(word))) telling.emplace(word);
    }
    const std::set<std::string>& needed = telling.size() > 1 ? telling : all;
    std::vector<size_t> alone;
    int64_t launches = 0;
    for (size_t i : parts) {
      const std::set<std::string> words = FoldedOps(to_[i]);
      if (!to_[i].Fused() ||
          !std::includes(words.begin(), words.end(), needed.begin(), needed.end()))
        continue;
      alone.push_back(i);
      launches += to_[i].count;
    }
    // What reads more tensors first: a norm that also adds has one more.
    const auto tensors = [&](size_t i) { return Tensors(to_[i].row->FirstDims()).size(); };
    std::stable_sort(alone.begin(), alone.end(),
                     [&](size_t a, size_t b) { return tensors(a) > tensors(b); });
    return launches <= WholesLike(whole) ? alone : std::vector<size_t>{};
  }

  int64_t WholesLike(const Launches& whole) {
    looks_left_ -= static_cast<int64_t>(from_.size());
    int64_t launches = 0;
    for (const Launches& other : from_) {
      const bool like = other.row->info.ops == whole.row->info.ops;
      if (like && OnGpu(*other.row) == OnGpu(*whole.row)) launches += other.count;
    }
    return launches;
  }

  static std::set<std::string> FoldedOps(const Launches& launches) {
    std::set<std::string> ops;
    for (const std::string& op : launches.row->info.ops) ops.insert(GemmFolded(op));
    return ops;
  }

  bool AreApart(const Launches& whole, const std::vector<size_t>& parts) const {
    std::set<std::string> distinct;
    int64_t launches = 0;
    for (size_t i : parts) {
      distinct.merge(FoldedOps(to_[i]));
      launches += to_[i].count;
    }
    return distinct.size() >= 2 && launches >= 2 * whole.count;
  }
  void RecordAll(Launches* whole, const std::vector<size_t>& parts) {
    Change change = OfKind(reversed_ ? ChangeKind::kFused : ChangeKind::kFusionLost);
    change.ops = whole->row->info.ops;
    std::vector<ChangedKernel>& one = reversed_ ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed_ ? change.base : change.head;
    one.push_back(Take(whole, whole->count));
    for (size_t i : parts) many.push_back(Take(&to_[i], to_[i].count));
    Finish(&change);
    work_->diff->changes.push_back(std::move(change));
  }

  std::vector<Launches>& from_;
  std::vector<Launches>& to_;
  Work* work_;
  bool reversed_;
  int64_t looks_left_ = kMostLooks;
  Index to_by_word_;
  std::unordered_map<std::string, int64_t> from_words_;  // rows that hold the word
};

bool MayBeInside(const Launches& part) {
  if (part.words == std::vector<std::string>{"copy"}) return false;  // a change of its own
  switch (part.row->info.family) {
    case Family::kPointwise:
    case Family::kReduction:
    case Family::kNorm:
    case Family::kSoftmax:
    case Family::kIndexing:
    case Family::kCopy:
    case Family::kRandom:
      return !part.row->info.opaque;
    default:
      return false;
  }
}

}  // namespace

void FindFusions(Work* work, bool reversed) { FusionFinder(work, reversed).Run(); }

// A kernel known by its function name alone may compute anything. If it went, and at least two
// kinds of light kernels came that nothing else explains, they do its work.
void FindOpaqueFusions(Work* work, bool reversed) {
  std::vector<Launches>& from = reversed ? work->head : work->base;
  std::vector<Launches>& to = reversed ? work->base : work->head;
  int64_t looks_left = kMostLooks;
  for (Launches& whole : from) {
    if (whole.count == 0 || !whole.HandWritten()) continue;
    looks_left -= static_cast<int64_t>(to.size());
    if (looks_left < 0) return;
    std::vector<Launches*> parts;
    std::set<std::string> ops;
    for (Launches& part : to) {
      if (part.count < whole.count || OnGpu(*part.row) != OnGpu(*whole.row)) continue;
      if (!MayBeInside(part) || part.count % whole.count != 0) continue;
      parts.push_back(&part);
      ops.insert(part.row->info.ops.begin(), part.row->info.ops.end());
    }
    if (ops.size() < 2) continue;
    Change change = OfKind(reversed ? ChangeKind::kFused : ChangeKind::kFusionLost);
    change.ops.assign(ops.begin(), ops.end());
    std::vector<ChangedKernel>& one = reversed ? change.head : change.base;
    std::vector<ChangedKernel>& many = reversed ? change.base : change.head;
    one.push_back(Take(&whole, whole.count));
    for (Launches* part : parts) many.push_back(Take(part, part->count));
    Finish(&change);
    work->diff->changes.push_back(std::move(change));
  }
}

}  // namespace perfgate
