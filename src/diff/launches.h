// Launches that are not explained yet. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diff/diff.h"

namespace perfgate {

// What is left of one kernel row.
struct Launches {
  const KernelRow* row = nullptr;
  int64_t count = 0;    // a step
  int64_t time_ns = 0;  // a step, of these launches together
  // One word an operator: those of the name, and those of the path unless the kernel is a copy (a
  // copy under aten::mul is no multiplication). All GEMM operators are the word "mm".
  std::vector<std::string> words;
  std::string operator_word;  // of the innermost operator: "mm" under aten::addmm
  // What an Inductor kernel fuses, "pointwise+gelu+mul", whatever views its name also lists; "" of
  // any other kernel.
  std::string fused;

  bool Has(std::string_view word) const;
  // Holds several operators by its name: an Inductor kernel.
  bool Fused() const;
  // Someone's own kernel, known by its function name alone; not one of a library's that the decoder
  // does not know.
  bool HandWritten() const;
};

// One side's rows with counts and times a step, by operator path and name: how rows are paired must
// not depend on their order, which in a stored side is another than in a trace. Rounding is
// cumulative, so that the rows add up to the rounded totals.
//
// Collectives wait for each other, first of all in the first step: their time is that of the median
// step, of several ranks the longest, as comm_time has it.
std::vector<Launches> LaunchesOf(const Evidence& evidence);

// Rounds sums over all steps to a step so that the rounded parts add up to the rounded whole.
class CumulativeRounding {
 public:
  explicit CumulativeRounding(int64_t steps) : steps_(std::max<int64_t>(1, steps)) {}
  int64_t Next(int64_t total);  // 0 or more

 private:
  int64_t steps_, sum_ = 0, given_ = 0;
};

// What one of so many rows may claim at most, so that no sum over the rows overflows, also when
// doubled. For a thousand rows that is 26 days of a kernel: no real row comes near.
int64_t MostOfARow(size_t rows);

// Some launches of a row.
struct Portion {
  const KernelRow* row = nullptr;
  int64_t count = 0, time_ns = 0;  // a step
};
// Takes `count` launches, at most what is left, with their share of the time.
Portion Cut(Launches* launches, int64_t count);

// The row by its names and places, with count and time 0.
ChangedKernel Named(const KernelRow& row);
ChangedKernel Named(const Portion& portion);
// Cut() and named.
ChangedKernel Take(Launches* launches, int64_t count);
// The same where it is known how long these launches took together.
ChangedKernel TakeTimed(Launches* launches, int64_t count, int64_t time_ns);

// Launches of several rows that are left.
int64_t CountOf(const std::vector<Launches*>& all);
// Take() of all that is left of each.
void TakeAll(const std::vector<Launches*>& all, std::vector<ChangedKernel>* list);

// The GEMM words fall into one: "addmm", "bmm", "linear" ... -> "mm".
std::string GemmFolded(std::string word);
bool OnGpu(const KernelRow& row);
// Moves bytes and may convert them: no kernel that computes, and no copy by the copy engine.
bool IsCopyKernel(const KernelInfo& info);
// A matrix product, or one of a matrix and a vector.
bool IsGemm(const KernelInfo& info);
// What the model called: the outermost operator, aten::item over aten::_local_scalar_dense; "" if
// none.
std::string_view OutermostOperator(std::string_view op_path);
// The outermost operator of the path that asked for a copy, aten::contiguous over aten::clone; ""
// if none did.
std::string Asker(std::string_view op_path);
// Who is to blame for a copy on the device: an operator that asks for copies, or one that is there
// to compute (a convolution that turns its input round). "" where the model itself says `copy_`.
std::string CopyAsker(std::string_view op_path);
// True if both were launched in one of these places.
bool ShareAPlace(const std::vector<PlaceUse>& a, const std::vector<PlaceUse>& b);

// Fusions are searched among all pairs of rows that are left. Real traces leave dozens; a trace
// made to leave tens of thousands is explained no further after this many looks.
inline constexpr int64_t kMostLooks = 5'000'000;

// Launches that are the same on both sides and take another time.
struct Drifting {
  Portion base, head;
  int64_t Rise() const { return head.time_ns - base.time_ns; }
};

// A row's launches that are another row's now, while what belongs to them is still being found.
struct Substitution {
  const KernelRow* base = nullptr;
  const KernelRow* head = nullptr;
  Change change;
};

// The two sides while changes are found, and the changes so far.
struct Work {
  std::vector<Launches> base, head;
  Diff* diff = nullptr;
  std::vector<Drifting> drifting;
  std::vector<Substitution> substitutions;
};

// Adds launches without a change to the drift of the diff.
void AddDrift(const Portion& base, const Portion& head, Work* work);
// Tells of the drifting rows the slower ones that explain most.
void TellSlowest(Work* work);

// Indices of launches by a word or any other key, in order.
using Index = std::unordered_map<std::string, std::vector<size_t>>;

// Pairs rows of both sides that have launches left and equal keys, in order, until one side of a
// key is used up. A key is an std::optional: rows without one take no part. `pair` takes all
// launches of one of the two.
template <typename Hash, typename BaseKey, typename HeadKey, typename Pair>
void PairByKey(Work* work, const BaseKey& base_key, const HeadKey& head_key, const Pair& pair) {
  using KeyOfRow = typename std::invoke_result_t<BaseKey, const Launches&>::value_type;
  struct Rows {
    std::vector<Launches*> all;
    size_t next = 0;  // the first that may have launches left
  };
  std::vector<std::pair<Launches*, KeyOfRow>> base;
  base.reserve(work->base.size());
  for (Launches& launches : work->base) {
    if (launches.count == 0) continue;
    if (auto key = base_key(launches)) base.emplace_back(&launches, *std::move(key));
  }
  if (base.empty()) return;
  std::unordered_map<KeyOfRow, Rows, Hash> head;
  for (Launches& launches : work->head) {
    if (launches.count == 0) continue;
    if (auto key = head_key(launches)) head[*std::move(key)].all.push_back(&launches);
  }
  if (head.empty()) return;
  for (auto& [launches, key] : base) {
    const auto found = head.find(key);
    if (found == head.end()) continue;
    auto& [all, next] = found->second;
    while (launches->count > 0 && next < all.size()) {
      if (all[next]->count > 0) pair(launches, all[next]);
      if (all[next]->count == 0) ++next;
    }
  }
}

Change OfKind(ChangeKind kind);
// Finishes a change from its two lists: sums, ops if empty, operators.
void Finish(Change* change);

// Adds one: all launches of `base` or all of `head`, as many of the other.
void Substitute(Work* work, Launches* base, Launches* head);
// Adds what else the operator launches now, or launched before.
void AddCompanions(Work* work, std::vector<Substitution>* substitutions);
// True if the kernels take statistics of a batch for a batch norm: it is in training mode.
bool NormsInTraining(const std::vector<ChangedKernel>& kernels);

// What a kernel reads and writes: "bf16"; "": not known.
struct ElementTypes {
  std::string in, out;
};
// Both known and not the same. "fp8" is of a name that does not say which of the two formats.
bool DifferInType(const std::string& a, const std::string& b);
// False if the calls of both, or else the threads of elementwise kernels, say that the tensors are
// of other sizes.
bool SizesFit(const KernelRow& base, const KernelRow& head);
// Mean bytes of an element: 3 of "bf16+fp32". A type of unknown width is taken for a wide one.
double BytesOf(const std::string& types);
// As the first call of aten::copy_ says; nothing of any other kernel.
ElementTypes CopyTypes(const KernelRow& row);
// By the name; what a copy that casts on load reads, by its call.
ElementTypes TypesOf(const KernelRow& row);
// True if one does what the other did in another element type: under one operator or by one word,
// with tensors of one size, as far as the rows say. Both ends are compared, each with its like.
bool OtherTypes(const KernelRow& base, const KernelRow& head);
// Of a pair with other types: to elements of fewer bytes, of its factors if it is a matrix product;
// else neither end got wider.
bool NarrowerTypes(const KernelRow& base, const KernelRow& head);
// A product of a matrix and a vector has no use for them.
bool LosesTensorCore(const KernelInfo& from, const KernelInfo& to);

// The passes, in this order.
void FindExchanges(Work* work, const Evidence& base, const Evidence& head);  // messages
void FindLoops(Work* work, bool reversed);          // products at once, one by one now
void FindPieces(Work* work);                        // one launch became several, or the reverse
void MatchEqual(Work* work);                        // exact and canonical names
void FindTwins(Work* work);                         // generated code for the same operators
void FindFusions(Work* work, bool reversed);        // split and lost; reversed: fused
void FindMultiTensor(Work* work, bool reversed);    // one kernel for many tensors, one for each now
void FindSubstitutions(Work* work);                 // pairs: epilogues, tensor cores, types, others
void FindRewrites(Work* work);                      // a whole tensor, where a part was written
void FindOpaqueFusions(Work* work, bool reversed);  // kernels known by a function name alone
void ListLeftovers(Work* work);                     // hidden copies, added, removed
void CompareTransfers(const Evidence& base, const Evidence& head, Diff* diff);
void CompareSyncs(const Evidence& base, const Evidence& head, Diff* diff);

std::string DifferentShapes(const Evidence& base, const Evidence& head);
std::string Bound(const Evidence& evidence);
std::array<Answer, 4> Answers(const Evidence& base, const Evidence& head, const Diff& diff);

// "aten::gelu, aten::mul", three at most.
std::string OperatorsText(const std::vector<std::string>& operators);
// "2 launches of gelu bf16" and the like.
std::string Describe(const std::vector<ChangedKernel>& kernels);
// One line for a person.
std::string Explain(const Change& change);
// The same of a launch that came apart into pieces, with the shapes of one and of the first piece.
std::string PiecesText(const Change& change, bool reversed, std::string_view whole_dims,
                       std::string_view piece_dims);

// A matrix product: batch x (rows x inner times inner x columns).
struct ProductSize {
  int64_t batch = 1, rows = 0, inner = 0, columns = 0;
  int64_t matrices = 1;  // second factors: as many as the batch, or as the groups of the rows
};
// Of aten::mm, addmm, bmm, _grouped_mm and the like, called with these shapes; empty for any other
// operator.
std::optional<ProductSize> ProductOf(std::string_view op, std::string_view dims);
// Of "64, 768"; 0 where it is no shape.
int64_t ElementsOf(std::string_view tensor);

// How near the matrix products come to what the GPU can do; "" where shapes, element types or the
// GPU are not known.
std::string RooflineText(const Evidence& evidence);

// "[[64, 768], [], [3072, 768]]" -> {"64, 768", "", "3072, 768"}. Tensors only, by their brackets;
// `depth`: of those around a tensor.
std::vector<std::string_view> Tensors(std::string_view dims, int depth = 2);

}  // namespace perfgate
