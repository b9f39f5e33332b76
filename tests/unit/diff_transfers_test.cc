// Copies, fills and waits of the host: what a reader is told of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "diff_rows.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

KernelRow Transfer(std::string_view name, std::string_view path, int64_t count = 1,
                   int64_t bytes = 1024) {
  KernelRow row = Row(name, path, count);
  row.bytes_per_step = {count * bytes, count * bytes};
  return row;
}

Diff Of(std::vector<KernelRow> base, std::vector<KernelRow> head) {
  Evidence from = With({Row(kGemm, "aten::mm")});
  Evidence to = from;
  from.transfers = std::move(base);
  to.transfers = std::move(head);
  Diff diff = Compare(from, to);
  EXPECT_TRUE(Closes(diff));
  return diff;
}

std::vector<std::string> Texts(const Diff& diff) {
  std::vector<std::string> texts;
  for (const Change& change : diff.changes) texts.push_back(change.text);
  return texts;
}

constexpr std::string_view kPinned = "Memcpy HtoD (Pinned -> Device)";
constexpr std::string_view kPageable = "Memcpy HtoD (Pageable -> Device)";
constexpr std::string_view kToHost = "Memcpy DtoH (Device -> Pageable)";
constexpr std::string_view kMemset = "Memset (Device)";

TEST(Transfers, OfMemoryThatIsNoLongerPinnedAreOneChange) {
  const std::string path = "aten::to > aten::_to_copy > aten::copy_";
  const Diff diff = Of({Transfer(kPinned, path, 2)}, {Transfer(kPageable, path, 2)});
  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kSubstituted);
  EXPECT_THAT(diff.changes[0].operators, ElementsAre("aten::to"));
  EXPECT_EQ(diff.changes[0].text,
            "Memcpy HtoD (Pinned -> Device) is Memcpy HtoD (Pageable -> Device) now: 2 a step, "
            "2 KiB, 2.00 us -> 2.00 us, asked for by aten::to; copies of pageable memory are "
            "slower and not "
            "asynchronous");
  EXPECT_EQ(diff.answers[2].answer, "no kernel was replaced by another for the same operator");
  EXPECT_THAT(Texts(Of({Transfer(kPageable, path)}, {Transfer(kPinned, path)})),
              ElementsAre("Memcpy HtoD (Pageable -> Device) is Memcpy HtoD (Pinned -> Device) now: "
                          "1 a step, 1 KiB, 1.00 us -> 1.00 us, asked for by aten::to"));
}

TEST(Transfers, OfOtherMemoryAreOneChangeInTheSpellingOfIntelToo) {
  EXPECT_THAT(
      Texts(Of({Transfer("Memcpy H2D", "aten::to")}, {Transfer("Memcpy M2D", "aten::to")})),
      ElementsAre("Memcpy H2D is Memcpy M2D now: 1 a step, 1 KiB, 1.00 us -> 1.00 us, asked "
                  "for by aten::to"));
  EXPECT_EQ(
      Of({Transfer("Memcpy H2D", "aten::to")}, {Transfer("Memcpy D2M", "aten::to")}).changes.size(),
      2u);
}

// Four fifths of the time on the GPU.
TEST(Transfers, BetweenHostAndGpuBindInEverySpelling) {
  for (const char* name : {"Memcpy HtoD (Pinned -> Device)", "Memcpy D2M", "CopyHostToDevice"}) {
    Evidence evidence = With({Row(kGemm, "aten::mm")});
    evidence.transfers = {Transfer(name, "aten::to", 4)};
    evidence.values = {{MetricId::kGpuTime, Side::kHead, 0, 0, {5'000, 5'000}}};
    EXPECT_EQ(Compare(evidence, evidence).head_bound,
              "transfer: copies between host and GPU take 4.00 us of 5.00 us of GPU time")
        << name;
  }
}

TEST(Transfers, OfSomeOfTheCopiesAreToldWithTheirNumber) {
  const std::string path = "aten::to > aten::_to_copy > aten::copy_";
  EXPECT_THAT(
      Texts(Of({Transfer(kPinned, path, 3)},
               {Transfer(kPinned, path, 2), Transfer(kPageable, path)})),
      ElementsAre(::testing::HasSubstr("now: 1 a step, 1 KiB, 3.00 us -> 3.00 us, asked for "
                                       "by aten::to")));
}

TEST(Transfers, OfOneStepInThreeAreTheSameCopies) {
  const auto row = [](std::string_view name, std::vector<int64_t> counts) {
    KernelRow copy = Row(name, "aten::to");
    copy.bytes_per_step = copy.time_ns_per_step = copy.count_per_step = std::move(counts);
    return copy;
  };
  Evidence base = With({}), head = With({});
  base.steps = head.steps = {3};
  base.transfers = {row(kPinned, {1, 1, 1})};
  head.transfers = {row(kPinned, {1, 1, 0}), row(kPageable, {0, 0, 1})};
  EXPECT_THAT(Texts(Compare(base, head)), ElementsAre(::testing::HasSubstr("now: 0.3 a step")));
}

TEST(Transfers, InAnotherDirectionOrOfOtherSizesAreTwoChanges) {
  const auto changes = [](std::string_view name, int64_t count, int64_t bytes) {
    return Of({Transfer(kPinned, "aten::to")}, {Transfer(name, "aten::to", count, bytes)})
        .changes.size();
  };
  EXPECT_EQ(changes(kPageable, 1, 1024), 1u);
  EXPECT_EQ(changes(kPageable, 1, 2048), 2u);
  EXPECT_EQ(changes(kPageable, 2, 512), 2u);
  EXPECT_EQ(changes(kToHost, 1, 1024), 2u);
}

TEST(Transfers, OfAnotherOperatorAreNotTheSameCopiesFromOtherMemory) {
  const auto kinds = [](const Diff& diff) {
    std::vector<ChangeKind> found;
    for (const Change& change : diff.changes) found.push_back(change.kind);
    return found;
  };
  EXPECT_THAT(kinds(Of({Transfer(kPinned, "my::load")}, {Transfer(kPageable, "aten::to")})),
              UnorderedElementsAre(ChangeKind::kRemoved, ChangeKind::kAdded));
  // Each operator's copies changed their memory.
  EXPECT_THAT(kinds(Of({Transfer(kPinned, "my::load"), Transfer(kPageable, "aten::to")},
                       {Transfer(kPageable, "my::load"), Transfer(kPinned, "aten::to")})),
              ElementsAre(ChangeKind::kSubstituted, ChangeKind::kSubstituted));
}

TEST(Transfers, ThatAnotherOperatorAsksForNowAreToldWithBoth) {
  EXPECT_THAT(
      Texts(Of({Transfer(kPinned, "my::load")}, {Transfer(kPinned, "aten::to")})),
      ElementsAre("Memcpy HtoD (Pinned -> Device): 0 -> 1 a step, 0 B -> 1 KiB, 0 ns -> 1.00 "
                  "us, asked for by aten::to",
                  "Memcpy HtoD (Pinned -> Device): 1 -> 0 a step, 1 KiB -> 0 B, 1.00 us -> 0 "
                  "ns, asked for by my::load"));
}

TEST(Transfers, NameWhatTheModelCalled) {
  const Diff diff = Of({}, {Transfer(kToHost, "aten::item > aten::_local_scalar_dense", 1, 4)});
  EXPECT_THAT(Texts(diff), ElementsAre("Memcpy DtoH (Device -> Pageable): 0 -> 1 a step, 0 B -> "
                                       "4 B, 0 ns -> 1.00 us, asked for by aten::item"));
  EXPECT_THAT(diff.changes[0].operators, ElementsAre("aten::item"));
}

KernelRow InGraph(std::string_view name, int64_t count, int64_t bytes) {
  KernelRow row = Transfer(name, "graph", count, bytes);
  row.in_graph = true;
  return row;
}

// A graph that is older than the profiler: driver's kernels without bytes, fills of an unknown
// memory.
TEST(Transfers, OfACudaGraphAreThoseOfTheirLaunchesOneByOne) {
  const std::vector<KernelRow> eager = {
      Transfer("Memcpy DtoD (Device -> Device)", "aten::clone > aten::copy_", 2),
      Transfer("Memcpy DtoD (Device -> Device)", "aten::sort"),
      Transfer(kMemset, "aten::matmul", 1, 4)};
  const std::vector<KernelRow> graph = {InGraph("memcpy128", 2, 0), InGraph("memcpy32_post", 1, 0),
                                        InGraph("Memset (Unknown)", 1, 4)};
  EXPECT_THAT(Of(eager, graph).changes, IsEmpty());
  EXPECT_THAT(Of(graph, eager).changes, IsEmpty());
  // One copy more, and a fill of another size.
  const std::vector<KernelRow> other = {InGraph("memcpy128", 4, 0),
                                        InGraph("Memset (Unknown)", 1, 8)};
  EXPECT_EQ(Of(eager, other).changes.size(), 5u);
  // Copies from and to the host name their memory in both.
  EXPECT_EQ(Of({Transfer(kPinned, "aten::to")}, {InGraph(kPageable, 1, 1024)}).changes.size(), 2u);
}

TEST(Transfers, ByTheKernelsOfRocmAreCopiesAndFills) {
  const std::string path = "aten::contiguous > aten::clone > aten::copy_";
  const Diff copy = Of({}, {Transfer("__amd_rocclr_copyBuffer.kd", path, 1, 0)});
  ASSERT_EQ(copy.changes.size(), 1u);
  EXPECT_EQ(copy.changes[0].kind, ChangeKind::kHiddenCopy);
  EXPECT_THAT(Texts(Of({}, {Transfer("__amd_rocclr_fillBufferAligned.kd", "aten::zero_", 1, 0)})),
              ElementsAre(HasSubstr("under aten::zero_")));
}

TEST(Transfers, HaveCountBytesAndTimeOfTheirOwn) {
  const Diff diff = Of({Transfer(kPinned, "aten::to", 2)},
                       {Transfer(kPinned, "aten::to", 2), Transfer(kToHost, "aten::item", 3, 4)});
  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0].transfers, (TransferDelta{3, 12, 3000}));
  EXPECT_EQ(diff.changes[0].count, 0);
  EXPECT_EQ(diff.changes[0].time_ns, 0);
  EXPECT_EQ(diff.transfers, (TransferDelta{3, 12, 3000}));
  EXPECT_EQ(diff.unchanged_transfers, TransferDelta{});
}

TEST(Transfers, OfOneSizeThatTakeLongerAreNoChange) {
  KernelRow slower = Transfer(kPinned, "aten::to");
  slower.time_ns_per_step = {1500, 1500};
  const Diff diff = Of({Transfer(kPinned, "aten::to")}, {slower});
  EXPECT_THAT(diff.changes, IsEmpty());
  EXPECT_EQ(diff.unchanged_transfers, (TransferDelta{0, 0, 500}));
}

TEST(Transfers, OfAnotherSizeAreTold) {
  const Diff diff = Of({Transfer(kPinned, "aten::to")}, {Transfer(kPinned, "aten::to", 1, 4096)});
  EXPECT_THAT(Texts(diff), ElementsAre("Memcpy HtoD (Pinned -> Device) of another size: 1 -> 1 a "
                                       "step, 1 KiB -> 4 KiB, 1.00 us -> 1.00 us"));
  EXPECT_EQ(diff.changes[0].transfers, (TransferDelta{0, 3072, 0}));
  // Sizes that differ from step to step depend on the data.
  KernelRow rows = Transfer(kPinned, "aten::to");
  rows.bytes_per_step = {1000, 2000};
  EXPECT_THAT(Of({Transfer(kPinned, "aten::to")}, {rows}).changes, IsEmpty());
}

std::string Direction(const std::string& name) {
  if (name.starts_with("memcpy")) return "DtoD";
  for (const char* direction : {"HtoD", "DtoH", "DtoD", "Memset"}) {
    if (name.find(direction) != std::string::npos) return direction;
  }
  return name;
}

// Count and bytes of each direction, a step.
std::map<std::string, std::pair<double, double>> ByDirection(const Evidence& evidence) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const KernelRow& row : evidence.transfers) {
    auto& [count, bytes] = sums[Direction(row.name)];
    count += static_cast<double>(row.Count()) / evidence.TotalSteps();
    for (const int64_t each : row.bytes_per_step) {
      bytes += static_cast<double>(each) / evidence.TotalSteps();
    }
  }
  return sums;
}

void ExpectEveryDirectionToClose(const Evidence& base, const Evidence& head) {
  const Diff diff = Compare(base, head);
  EXPECT_TRUE(Closes(diff));
  std::map<std::string, std::pair<double, double>> told;
  for (const Change& change : diff.changes) {
    if (change.transfers == TransferDelta{}) continue;
    auto& [count, bytes] =
        told[Direction((change.head.empty() ? change.base : change.head)[0].name)];
    count += static_cast<double>(change.transfers.count);
    bytes += static_cast<double>(change.transfers.bytes);
  }
  auto from = ByDirection(base), to = ByDirection(head);
  for (const std::string direction : {"HtoD", "DtoH", "DtoD", "Memset"}) {
    EXPECT_NEAR(told[direction].first, to[direction].first - from[direction].first, 0.51)
        << direction;
    EXPECT_NEAR(told[direction].second, to[direction].second - from[direction].second, 1.01)
        << direction;
  }
}

TEST(RecordedTransfers, CloseByDirection) {
  int pairs = 0;
  for (const auto& file : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/pairs")) {
    const std::string name = file.path().string();
    const size_t end = name.find(".base.json.gz");
    if (end == std::string::npos) continue;
    SCOPED_TRACE(name);
    ++pairs;
    const Evidence base = ExtractTrace(name);
    const Evidence head = ExtractTrace(name.substr(0, end) + ".head.json.gz");
    ExpectEveryDirectionToClose(base, head);
    ExpectEveryDirectionToClose(head, base);
  }
  EXPECT_GE(pairs, 40);
}

TEST(RecordedTransfers, OfAnyTwoTracesCloseByDirection) {
  std::map<std::string, Evidence> traces;
  for (const auto& file : std::filesystem::directory_iterator(PERFGATE_TEST_DATA "/traces")) {
    if (file.path().string().ends_with(".json.gz")) {
      traces.emplace(file.path().filename().string(), ExtractTrace(file.path()));
    }
  }
  for (const auto& [base_name, base] : traces) {
    for (const auto& [head_name, head] : traces) {
      SCOPED_TRACE(base_name + " and " + head_name);
      ExpectEveryDirectionToClose(base, head);
    }
  }
}

TEST(Fills, NameTheOperatorsThatNeedMoreOfThem) {
  const std::string linear = "aten::linear > aten::addmm";
  EXPECT_THAT(
      Texts(Of({Transfer(kMemset, linear, 6, 4)},
               {Transfer(kMemset, linear, 6, 4), Transfer(kMemset, "aten::max", 1, 4)})),
      ElementsAre(
          "Memset (Device): 6 -> 7 a step, 24 B -> 28 B, 6.00 us -> 7.00 us, under aten::max"));
  EXPECT_THAT(
      Texts(Of({Transfer(kMemset, linear, 3, 4), Transfer(kMemset, "aten::max", 1, 4)},
               {Transfer(kMemset, linear, 2, 4), Transfer(kMemset, "aten::max", 1, 4)})),
      ElementsAre(
          "Memset (Device): 4 -> 3 a step, 16 B -> 12 B, 4.00 us -> 3.00 us, under aten::linear"));
}

// aten::linear under torch.compile is aten::addmm: who asks for more is not known.
TEST(Fills, OfOperatorsThatWereRenamedNameNone) {
  EXPECT_THAT(Texts(Of({Transfer(kMemset, "aten::linear > aten::addmm", 6, 4)},
                       {Transfer(kMemset, "aten::addmm", 7, 4)})),
              ElementsAre("Memset (Device): 6 -> 7 a step, 24 B -> 28 B, 6.00 us -> 7.00 us"));
  EXPECT_THAT(Texts(Of({Transfer(kMemset, "aten::linear > aten::addmm", 6, 4)},
                       {Transfer(kMemset, "aten::addmm", 6, 4)})),
              IsEmpty());
}

KernelRow Cast(std::string_view path, std::string_view types, int64_t count = 1) {
  KernelRow row = Row(kCopy, path, count);
  row.input_types = types;
  return row;
}

Diff Came(std::vector<KernelRow> rows) {
  const KernelRow gemm = Row(kGemm, "aten::mm");
  rows.push_back(gemm);
  Diff diff = Compare(With({gemm}), With(std::move(rows)));
  EXPECT_TRUE(Closes(diff));
  return diff;
}

TEST(Casts, AreToldWithBothTypes) {
  const std::string path = "aten::to > aten::_to_copy > aten::copy_";
  EXPECT_THAT(Texts(Came({Cast(path, "[c10::Float8_e4m3fn, c10::BFloat16, Scalar]")})),
              ElementsAre("a copy a step that aten::to asked for: copy bf16->fp8_e4m3"));
  EXPECT_THAT(Texts(Came({Cast(path, "[long int, short int, Scalar]")})),
              ElementsAre("a copy a step that aten::to asked for: copy int16->int64"));
  for (const std::string_view same :
       {"[c10::BFloat16, c10::BFloat16, Scalar]", "", "[", "[TensorList, TensorList]"}) {
    EXPECT_THAT(Texts(Came({Cast(path, same)})),
                ElementsAre("a copy a step that aten::to asked for: copy bf16"));
  }
}

TEST(Copies, NameWhatTheModelCalledBesideWhatAskedForThem) {
  EXPECT_THAT(
      Texts(Came({Row(kCopy, "aten::matmul > aten::reshape > aten::clone > aten::copy_", 4)})),
      ElementsAre("4 copies a step that aten::reshape in aten::matmul asked for: 4 x copy bf16"));
}

constexpr std::string_view kFill =
    "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, "
    "std::array<char*, 1ul>)";

TEST(Leftovers, ThatAReaderWouldTakeForOneAreOne) {
  EXPECT_THAT(Texts(Came({Row(kFill, "aten::zeros > aten::zero_ > aten::fill_"),
                          Row(kFill, "aten::zeros > aten::fill_", 2)})),
              ElementsAre("3 kernels came under aten::zeros: 3 x fill bf16"));
  EXPECT_THAT(Texts(Came({Row(kAdd, "my::a > aten::add"), Row(kAdd, "my::b > aten::add")})),
              ElementsAre("2 kernels came under aten::add: 2 x add bf16"));
}

TEST(Leftovers, OfOperatorsThatSayLittleAreToldByWhatCalledThem) {
  EXPECT_THAT(Texts(Came({Row(kFill, "aten::zero_ > aten::fill_"),
                          Row(kFill, "aten::zeros_like > aten::zero_ > aten::fill_")})),
              ElementsAre("1 kernel came under aten::zero_: fill bf16",
                          "1 kernel came under aten::zeros_like: fill bf16"));
}

}  // namespace
}  // namespace perfgate
