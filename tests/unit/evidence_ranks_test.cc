// Several processes of one attempt, each a rank with a trace of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "evidence/evidence.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// One step with `kernels` launches of `each_ns` on a GPU.
TraceBuilder Launches(int kernels, int device, int64_t each_ns = 2000) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  for (int i = 0; i < kernels; ++i) {
    builder.Call("cudaLaunchKernel", 10'000 + i * 5000, 500, i + 1);
    builder.Kernel("gemm", 11'000 + i * 5000, each_ns, i + 1, 7, device);
  }
  return builder;
}

TraceBuilder& Said(TraceBuilder& builder, int rank, int world_size) {
  return builder.Header(
      fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": {}}},)", rank, world_size));
}

TraceBuilder OfRank(int rank, int world_size, int kernels = 2, int64_t each_ns = 2000) {
  TraceBuilder builder = Launches(kernels, rank, each_ns);
  return Said(builder, rank, world_size);
}

// Of a rank that says neither its number nor how many there are.
TraceBuilder Collective(int64_t group_size) {
  TraceBuilder trace = Launches(2, 0);
  trace.Call("cudaLaunchKernelExC", 50'000, 500, 90);
  trace.Gpu("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL()", 51'000, 1000, 90,
            fmt::format(R"(, "Collective name": "allreduce", "Group size": {})", group_size), 17,
            0);
  return trace;
}

class RankEvidence : public testing::Test {
 protected:
  RankEvidence() {
    declared_.name = "ddp";
    declared_.argv = {"true"};
    declared_.windows.traced_iterations = 1;
    data_.attempt.case_name = "ddp";
    data_.samples.emplace();
  }
  void Add(const std::string& name, std::optional<int> named, const TraceBuilder& trace) {
    files_.emplace_back(name, trace.Json());
    data_.traces.push_back({files_.back().path(), named});
  }
  Evidence Run() const { return Extract(declared_, std::span(&data_, 1), "/out", {}); }

  Case declared_;
  AttemptData data_;
  std::deque<ScratchFile> files_;
};

TEST_F(RankEvidence, RanksThatDoTheSameWorkAreOneSetOfRowsWhereverTheyRan) {
  Add("trace-rank0.json", 0, OfRank(0, 2));
  Add("trace-rank1.json", 1, OfRank(1, 2));
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  ASSERT_EQ(evidence.kernels.size(), 1U);
  EXPECT_EQ(evidence.kernels[0].device, "cuda:0");
  EXPECT_THAT(evidence.kernels[0].count_per_step, ElementsAre(2, 2));
  EXPECT_TRUE(KernelSetIsStable(evidence));
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 2);
  EXPECT_EQ(evidence.key.fields.at("gpu_count"), "2");
  ASSERT_EQ(evidence.ranks.size(), 2U);
  EXPECT_EQ(evidence.ranks[1].rank, 1);
  EXPECT_EQ(evidence.ranks[1].world_size, 2);
  EXPECT_EQ(evidence.ranks[1].device, "cuda:1");
}

TEST_F(RankEvidence, EachRankHasItsValueAndTheSlowestCounts) {
  Add("trace-rank0.json", 0, OfRank(0, 3, 2, 2000));
  Add("trace-rank1.json", 1, OfRank(1, 3, 2, 3500));
  Add("trace-rank2.json", 2, OfRank(2, 3, 2, 2000));
  const Evidence evidence = Run();
  const MetricValue time = Summarise(evidence, MetricId::kGpuTime);
  EXPECT_EQ(time.value, 7000);
  EXPECT_THAT(time.by_rank, ElementsAre(Pair(0, 4000), Pair(1, 7000), Pair(2, 4000)));
  std::optional<RankSpread> spread;
  for (const RankSpread& each : SpreadOverRanks(evidence)) {
    EXPECT_NE(each.metric, MetricId::kKernels);  // all have two
    if (each.metric == MetricId::kGpuTime) spread = each;
  }
  ASSERT_TRUE(spread.has_value());
  EXPECT_EQ(spread->median, 4000);
  EXPECT_EQ(spread->least, 4000);
  EXPECT_EQ(spread->most, 7000);
  EXPECT_EQ(spread->most_rank, 1);
}

TEST_F(RankEvidence, ARankWithAnotherCountLeavesNoCommonValueAndIsNamed) {
  Add("trace-rank0.json", 0, OfRank(0, 3));
  Add("trace-rank1.json", 1, OfRank(1, 3));
  Add("trace-rank2.json", 2, OfRank(2, 3, 3));
  const Evidence evidence = Run();
  const MetricValue kernels = Summarise(evidence, MetricId::kKernels);
  EXPECT_FALSE(kernels.value.has_value());
  EXPECT_THAT(kernels.by_rank, ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 3)));
  EXPECT_THAT(evidence.notes, Contains(HasSubstr("the traced ranks disagree: kernels 2 (ranks 0, "
                                                 "1) / 3 (rank 2)")));
}

TEST_F(RankEvidence, TheRankThatWorksLongestIsNamed) {
  Add("trace-rank0.json", 0, OfRank(0, 3, 2, 20'000));
  Add("trace-rank1.json", 1, OfRank(1, 3, 2, 20'000));
  Add("trace-rank2.json", 2, OfRank(2, 3, 2, 60'000));
  EXPECT_THAT(Run().notes,
              Contains("rank 2 works longest: gpu_time 65.0 us a step, the ranks' median 25.0 us"));
}

TEST_F(RankEvidence, ARankThatLeftNoTraceMakesItIncomplete) {
  Add("trace-rank1.json", 1, OfRank(1, 4));
  Add("trace-rank2.json", 2, OfRank(2, 4));
  EXPECT_THAT(Run().incomplete_because, ElementsAre("2 of 4 ranks left no trace: ranks 0, 3"));
}

TEST_F(RankEvidence, ALoneTraceOfOneOfTwoRanksIsHalfOfThem) {
  Add("trace-rank0.json", 0, OfRank(0, 2));
  EXPECT_THAT(Run().incomplete_because, ElementsAre("1 of 2 ranks left no trace: rank 1"));
}

TEST_F(RankEvidence, SamplesMaySayHowManyRanksThereAre) {
  Add("trace-rank0.json", 0, Launches(2, 0));
  data_.samples->environment["world_size"] = "2";
  EXPECT_THAT(Run().incomplete_because, ElementsAre("1 of 2 ranks left no trace: rank 1"));
}

TEST_F(RankEvidence, AGapInTheNumbersIsARankThatIsMissing) {
  Add("trace-rank0.json", 0, Launches(2, 0));
  Add("trace-rank2.json", 2, Launches(2, 2));
  EXPECT_THAT(Run().incomplete_because, ElementsAre("1 of 3 ranks left no trace: rank 1"));
}

TEST_F(RankEvidence, AWorldBeyondReasonIsToldInFewWords) {
  Add("trace-rank0.json", 0, OfRank(0, INT32_MAX));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("2147483646 of 2147483647 ranks left no trace: ranks 1-2147483646"));
}

TEST_F(RankEvidence, TheLargestRankThatThereIsCountsThoseBelowIt) {
  Add("trace-rank2147483647.json", INT32_MAX, Launches(2, 0));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("2147483647 of 2147483648 ranks left no trace: ranks 0-2147483646"));
}

TEST_F(RankEvidence, ManyMissingRanksAreToldInFewWords) {
  for (int rank = 1; rank < 40; rank += 2) {
    Add(fmt::format("trace-rank{}.json", rank), rank, OfRank(rank, 50));
  }
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("30 of 50 ranks left no trace: ranks 0, 2, 4, 6, 8, 10, 12, 14 and 22 "
                          "others"));
}

TEST_F(RankEvidence, ACollectiveOfMoreRanksThanLeftATraceMakesItIncomplete) {
  TraceBuilder trace = Collective(2);
  Add("trace-rank0.json", 0, trace);
  EXPECT_THAT(Run().incomplete_because, ElementsAre("1 of 2 ranks left no trace: rank 1"));
  data_.traces.clear();
  Add("trace.json", {}, trace);
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("a collective is of 2 ranks, this process has 1 trace"));
  data_.traces.clear();
  Add("trace.json", {}, Said(trace, 0, 1));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("a collective is of 2 ranks, this process has 1 rank"));
}

TEST_F(RankEvidence, WhatAllRanksSayIsSaidOnceAndInTheirOrder) {
  declared_.windows.traced_iterations = 2;
  for (const int rank : {0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9}) {
    Add(fmt::format("trace-rank{}.json", rank), rank, OfRank(rank, 12));
  }
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because,
              ElementsAre("ranks 0-11: the trace marks 1 step, 2 were asked for"));
  for (int rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(evidence.ranks.at(static_cast<size_t>(rank)).rank, rank);
  }
}

TEST_F(RankEvidence, ARankWithAnotherTorchMakesItIncomplete) {
  for (const int rank : {0, 1, 2}) {
    TraceBuilder trace = OfRank(rank, 3);
    trace.Header(fmt::format(R"("perfgate_environment": {{"torch": "2.1{}.0", "gpu": "GPU {}"}},)",
                             rank == 2 ? 0 : 1, rank));
    Add(fmt::format("trace-rank{}.json", rank), rank, trace);
  }
  EXPECT_THAT(
      Run().incomplete_because,
      ElementsAre("rank 2: not the stack of the first traced process: torch: 2.11.0 / 2.10.0"));
}

TEST_F(RankEvidence, ProcessesOfOneCaseHaveTheSameRanks) {
  Add("trace-rank0.json", 0, OfRank(0, 2));
  Add("trace-rank1.json", 1, OfRank(1, 2));
  const AttemptData both = data_;
  const auto with_second = [&] {
    data_.attempt.process = 1;
    const AttemptData attempts[] = {both, data_};
    return Extract(declared_, attempts, "/out", {}).incomplete_because;
  };
  EXPECT_THAT(with_second(), IsEmpty());
  data_.traces.clear();
  Add("trace.json", {}, OfRank(0, 1));
  EXPECT_THAT(with_second(), ElementsAre("process 0 had ranks 0, 1, process 1 rank 0"));
  data_.traces.clear();
  Add("trace.json", {}, Launches(2, 0));
  EXPECT_THAT(with_second(),
              ElementsAre("process 0 had ranks 0, 1, process 1 1 trace without a rank"));
}

TEST_F(RankEvidence, TwoTracesOfOneRankMakeItIncomplete) {
  Add("trace-rank0-pid7.json", 0, OfRank(0, 2));
  Add("trace-rank0.json", 0, OfRank(0, 2));
  Add("trace-rank1.json", 1, OfRank(1, 2));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("trace-rank0-pid7.json, trace-rank0.json are all of rank 0"));
}

TEST_F(RankEvidence, AFileThatHoldsAnotherRankThanItsNameSaysMakesItIncomplete) {
  Add("trace-rank0.json", 0, OfRank(1, 2));
  Add("trace-rank1.json", 1, OfRank(0, 2));
  EXPECT_THAT(Run().incomplete_because, ElementsAre("trace-rank0.json holds the trace of rank 1",
                                                    "trace-rank1.json holds the trace of rank 0"));
}

TEST_F(RankEvidence, TracesThatDisagreeOnTheNumberOfRanksMakeItIncomplete) {
  Add("trace-rank0.json", 0, OfRank(0, 2));
  Add("trace-rank1.json", 1, OfRank(1, 3));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("the traces disagree on the number of ranks: 2 and 3",
                          "1 of 3 ranks left no trace: rank 2"));
}

TEST_F(RankEvidence, ARankBeyondTheLastMakesItIncomplete) {
  Add("trace-rank0.json", 0, OfRank(0, 2));
  Add("trace-rank1.json", 1, OfRank(1, 2));
  Add("trace-rank5.json", 5, OfRank(5, 2));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("trace-rank5.json is of rank 5, but there are 2 ranks"));
}

TEST_F(RankEvidence, ATraceThatDoesNotSayWhichOfTheRanksItIsMakesItIncomplete) {
  TraceBuilder nameless = Launches(2, 0);
  nameless.Header(R"("distributedInfo": {"world_size": 2},)");
  Add("trace.json", {}, nameless);
  Add("trace-rank1.json", 1, OfRank(1, 2));
  EXPECT_THAT(Run().incomplete_because, Contains("trace.json does not say its rank, one of 2"));
}

TEST_F(RankEvidence, ATraceThatIsJudgedAsItIsMayBeThatOfOneRank) {
  declared_.argv.clear();
  declared_.trace = "rank1.json";
  data_.samples.reset();
  Add("trace.json", {}, OfRank(1, 2));
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(evidence.ranks.at(0).rank, 1);
  EXPECT_EQ(evidence.kernels.at(0).device, "cuda:1");
}

TEST_F(RankEvidence, AWorldOfOneHasNoRanks) {
  Add("trace.json", {}, OfRank(0, 1));
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_THAT(evidence.ranks, IsEmpty());
}

TEST_F(RankEvidence, TheGpusOfAllRanksAreKept) {
  for (const int rank : {0, 1}) {
    TraceBuilder trace = OfRank(rank, 2);
    trace.Header(fmt::format(
        R"("perfgate_environment": {{"gpu": "NVIDIA H200", "gpu_uuid": "GPU-{}"}},)", rank));
    Add(fmt::format("trace-rank{}.json", rank), rank, trace);
  }
  const Evidence evidence = Run();
  EXPECT_EQ(evidence.ranks.at(1).gpu, "NVIDIA H200");
  EXPECT_EQ(evidence.ranks.at(1).gpu_uuid, "GPU-1");
  EXPECT_EQ(evidence.key.fields.at("gpu"), "NVIDIA H200");
  EXPECT_EQ(evidence.key.recorded.at("gpu_uuid"), "GPU-0, GPU-1");
}

TEST_F(RankEvidence, RanksOnGpusThatSeeThemselvesAsTheFirstAreTwoGpus) {
  TraceBuilder first = Launches(2, 0), second = Launches(2, 0);
  Add("trace-rank0.json", 0, Said(first, 0, 2));
  Add("trace-rank1.json", 1, Said(second, 1, 2));
  EXPECT_EQ(Run().key.fields.at("gpu_count"), "2");
}

TEST_F(RankEvidence, AWorkloadThatRanOnAnotherGpuThanDeclaredIsIncomplete) {
  declared_.device = "cuda:1";
  Add("trace.json", {}, Launches(2, 0));
  EXPECT_THAT(Run().incomplete_because,
              ElementsAre("the case declares `device: cuda:1`, but the workload ran on cuda:0"));
  data_.traces.clear();
  Add("trace.json", {}, Launches(2, 1));
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(evidence.kernels.at(0).device, "cuda:1");
  EXPECT_EQ(evidence.key.fields.at("gpu_count"), "1");
}

TEST_F(RankEvidence, JsonKeepsRanksAndCollectives) {
  for (const int rank : {0, 1}) {
    TraceBuilder trace = OfRank(rank, 2);
    trace.Call("cudaLaunchKernelExC", 50'000, 500, 90);
    trace.Gpu("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL()", 51'000, 1000, 90,
              R"(, "Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 4,
                 "Out msg nelems": 4, "Group size": 2)",
              17, rank);
    Add(fmt::format("trace-rank{}.json", rank), rank, trace);
  }
  const Evidence evidence = Run();
  ASSERT_EQ(evidence.collectives.size(), 1U);
  EXPECT_THAT(evidence.collectives[0].count_per_step, ElementsAre(1, 1));
  const Json json = ToJson(evidence);
  const Evidence read = EvidenceFromJson(json);
  EXPECT_EQ(WriteJson(ToJson(read), 1), WriteJson(json, 1));
  EXPECT_EQ(read.ranks.at(1).device, "cuda:1");
  EXPECT_EQ(read.collectives.at(0).bytes, 8);
  EXPECT_EQ(Summarise(read, MetricId::kKernels).by_rank,
            Summarise(evidence, MetricId::kKernels).by_rank);
}

TEST(FolderOfTraces, HoldsTheRanksOfOneCase) {
  const ScratchFile first("trace_rank0.json", OfRank(0, 2).Json());
  const std::filesystem::path folder = first.path().parent_path();
  const std::filesystem::path second = folder / "trace_rank1.json";
  std::ofstream(second) << OfRank(1, 2).Json();
  const Evidence evidence = ExtractTrace(folder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(evidence.case_name, folder.filename());
  EXPECT_EQ(evidence.ranks.size(), 2U);
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 2);
  std::filesystem::remove(second);
  EXPECT_EQ(ExtractTrace(folder).ranks.size(), 1U);
  std::filesystem::remove(first.path());
  try {
    ExtractTrace(folder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a folder, not a file"));
  }
}

TEST_F(RankEvidence, TwoRealRanksAreOneCase) {
  declared_.windows.traced_iterations = 3;
  for (const int rank : {0, 1}) {
    data_.traces.push_back(
        {fmt::format("{}/traces/ddp_train_rank{}.json.gz", PERFGATE_TEST_DATA, rank), rank});
  }
  const Evidence evidence = Run();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 24);
  EXPECT_EQ(Summarise(evidence, MetricId::kCommCount).value, 2);
  EXPECT_TRUE(KernelSetIsStable(evidence));
  EXPECT_THAT(evidence.notes,
              Contains("others wait for rank 0: collectives run 94.7 us a step there, "
                       "up to 909 us elsewhere (rank 1)"));
  data_.traces.pop_back();
  EXPECT_THAT(Run().incomplete_because, ElementsAre("1 of 2 ranks left no trace: rank 1"));
}

}  // namespace
}  // namespace perfgate
