#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using testing::IsEmpty;

constexpr std::string_view kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kAllGather =
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr int64_t kMiB = 1 << 20;

CollectiveRow Messages(std::string name, int64_t count, std::optional<int64_t> bytes,
                       std::string dtype = "bf16") {
  CollectiveRow row;
  row.name = std::move(name);
  row.dtype = std::move(dtype);
  row.bytes = bytes;
  row.group_size = 2;
  row.count_per_step = {count, count};
  row.time_ns_per_step = {count * 1000, count * 1000};
  return row;
}

Evidence Reducing(int64_t count, std::optional<int64_t> bytes, std::string dtype = "bf16") {
  Evidence evidence = With({Row(kGemm, "aten::mm"), Row(kAllReduce, "record_param_comms", count)});
  evidence.collectives = {Messages("all_reduce", count, bytes, std::move(dtype))};
  return evidence;
}

TEST(CollectiveChanges, FewLargeMessagesThatBecameManySmallOnesCameApart) {
  const Diff diff = Compare(Reducing(2, 8 * kMiB), Reducing(8, 2 * kMiB));
  ASSERT_EQ(diff.changes.size(), 1U);
  const Change& change = diff.changes[0];
  EXPECT_EQ(change.kind, ChangeKind::kFusionSplit);
  EXPECT_EQ(change.text,
            "all_reduce 2 x 8 MiB bf16 of 2 ranks became all_reduce 8 x 2 MiB bf16 of 2 "
            "ranks");
  EXPECT_EQ(change.count, 6);
  EXPECT_EQ(change.time_ns, 6000);
  EXPECT_EQ(diff.kernel_count, 6);
}

// Rank 1 waits for rank 0, and all wait in the first step.
TEST(CollectiveChanges, TakeTheTimeOfTheMedianStepOfTheSlowestRank) {
  const auto reducing = [](int64_t count, int64_t bytes) {
    Evidence evidence = Reducing(count, bytes);
    evidence.steps = {3, 3};
    evidence.ranks = {{}, {}};
    for (KernelRow& row : evidence.kernels) row.count_per_step = std::vector<int64_t>(6, count);
    evidence.kernels[0].time_ns_per_step = std::vector<int64_t>(6, 1000);
    evidence.kernels[1].time_ns_per_step = {600'000, 100, 110, 900'000, 500 * count, 510 * count};
    evidence.collectives[0].count_per_step = std::vector<int64_t>(6, count);
    return evidence;
  };
  const Diff diff = Compare(reducing(2, 8 * kMiB), reducing(4, 4 * kMiB));
  ASSERT_FALSE(diff.changes.empty());
  EXPECT_EQ(diff.changes[0].base[0].time_ns, 1020);
  EXPECT_EQ(diff.changes[0].head[0].time_ns, 2040);
  EXPECT_TRUE(Closes(diff));
}

TEST(CollectiveChanges, ManySmallMessagesThatBecameOneAreFused) {
  const Diff diff = Compare(Reducing(8, 2 * kMiB), Reducing(1, 16 * kMiB));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kFused);
  EXPECT_EQ(diff.changes[0].count, -7);
}

TEST(CollectiveChanges, AnotherSizeIsSeenAtTheSameCountAndTheSameKernel) {
  const Diff diff = Compare(Reducing(2, 8 * kMiB), Reducing(2, 16 * kMiB));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kSubstituted);
  EXPECT_EQ(diff.changes[0].count, 0);
}

TEST(CollectiveChanges, AnotherElementTypeIsADtypeChange) {
  const Diff diff = Compare(Reducing(2, 8 * kMiB), Reducing(2, 16 * kMiB, "fp32"));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kDtypeChanged);
}

TEST(CollectiveChanges, ACollectiveThatCameIsAdded) {
  Evidence head = Reducing(2, 8 * kMiB);
  head.kernels.push_back(Row(kAllGather, "record_param_comms"));
  head.collectives.push_back(Messages("all_gather", 1, kMiB));
  const Diff diff = Compare(Reducing(2, 8 * kMiB), head);
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kAdded);
  EXPECT_EQ(diff.changes[0].text, "all_gather 1 x 1 MiB bf16 of 2 ranks came");
}

constexpr std::string_view kAllReduceOfLoss =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Gradients in bf16, the loss in fp32.
Evidence ReducingTheLossToo() {
  Evidence evidence = Reducing(2, 8 * kMiB);
  evidence.kernels.push_back(Row(kAllReduceOfLoss, "record_param_comms"));
  evidence.collectives.push_back(Messages("all_reduce", 1, 4, "fp32"));
  return evidence;
}

TEST(CollectiveChanges, AMessageOfAnotherTypeThatCameIsAdded) {
  const Diff diff = Compare(Reducing(2, 8 * kMiB), ReducingTheLossToo());
  ASSERT_EQ(diff.changes.size(), 1U);
  const Change& change = diff.changes[0];
  EXPECT_EQ(change.kind, ChangeKind::kAdded);
  EXPECT_EQ(change.text, "all_reduce 1 x 4 B fp32 of 2 ranks came");
  EXPECT_THAT(change.base, IsEmpty());
  ASSERT_EQ(change.head.size(), 1U);
  EXPECT_EQ(change.head[0].name, kAllReduceOfLoss);
  EXPECT_EQ(change.count, 1);
}

TEST(CollectiveChanges, AMessageOfAnotherTypeThatWentIsRemoved) {
  const Diff diff = Compare(ReducingTheLossToo(), Reducing(2, 8 * kMiB));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kRemoved);
  EXPECT_EQ(diff.changes[0].text, "all_reduce 1 x 4 B fp32 of 2 ranks went");
  EXPECT_EQ(diff.changes[0].count, -1);
}

TEST(CollectiveChanges, AMessageIsOfTheKernelThatTakesItsTypeForAnother) {
  for (const auto& [dtype, named] : {std::pair{"bool", "u8"}, {"int8", "u8"}, {"int64", "u64"}}) {
    const std::string kernel = "ncclDevKernel_AllReduce_Sum_" + std::string(named) +
                               "_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    Evidence flags = Reducing(2, 8 * kMiB);
    flags.kernels.push_back(Row(kernel, "record_param_comms"));
    flags.collectives.push_back(Messages("all_reduce", 1, 4, dtype));
    const Diff diff = Compare(Reducing(2, 8 * kMiB), flags);
    ASSERT_EQ(diff.changes.size(), 1U) << dtype;
    EXPECT_EQ(diff.changes[0].text,
              "all_reduce 1 x 4 B " + std::string(dtype) + " of 2 ranks came");
    ASSERT_EQ(diff.changes[0].head.size(), 1U);
    EXPECT_EQ(diff.changes[0].head[0].name, kernel);
  }
}

TEST(CollectiveChanges, OneOfTwoEqualMessagesThatWentIsRemoved) {
  const Diff diff = Compare(Reducing(2, 8 * kMiB), Reducing(1, 8 * kMiB));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kRemoved);
  EXPECT_EQ(diff.changes[0].text, "all_reduce 1 x 8 MiB bf16 of 2 ranks went");
  EXPECT_EQ(diff.changes[0].count, -1);
  EXPECT_TRUE(Closes(diff));
}

TEST(CollectiveChanges, GradientsInANarrowerTypeAreNarrower) {
  const Diff narrower = Compare(Reducing(2, 16 * kMiB, "fp32"), Reducing(2, 8 * kMiB));
  ASSERT_EQ(narrower.changes.size(), 1U);
  EXPECT_EQ(narrower.changes[0].kind, ChangeKind::kDtypeChanged);
  EXPECT_TRUE(narrower.changes[0].narrower);
  const Diff wider = Compare(Reducing(2, 8 * kMiB), Reducing(2, 16 * kMiB, "fp32"));
  ASSERT_EQ(wider.changes.size(), 1U);
  EXPECT_FALSE(wider.changes[0].narrower);
}

TEST(CollectiveChanges, EqualMessagesAreNoChange) {
  EXPECT_THAT(Compare(Reducing(2, 8 * kMiB), Reducing(2, 8 * kMiB)).changes, IsEmpty());
}

TEST(CollectiveChanges, WhereSizesAreUnknownTheKernelsAreComparedAsAnyOthers) {
  const Diff diff = Compare(Reducing(2, std::nullopt), Reducing(8, std::nullopt));
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].kind, ChangeKind::kAdded);
  EXPECT_EQ(diff.changes[0].count, 6);
}

TEST(CollectiveChanges, ABaselineThatKnowsNoCollectivesIsComparedByKernels) {
  Evidence base = Reducing(2, 8 * kMiB);
  base.collectives.clear();
  EXPECT_THAT(Compare(base, Reducing(2, 8 * kMiB)).changes, IsEmpty());
}

}  // namespace
}  // namespace perfgate
