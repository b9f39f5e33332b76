// Collectives by name and bytes, and the part of them that nothing hides; expected values by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kAllGather =
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

std::string MessageOf(std::string_view collective, std::string_view dtype, int64_t in,
                      int64_t out) {
  return fmt::format(
      R"(, "Collective name": "{}", "dtype": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": 2)",
      collective, dtype, in, out);
}

// Two steps of 100 us; times in microseconds from here on.
class Trace {
 public:
  Trace() { builder_.Step(1, 0, 100'000).Step(2, 100'000, 100'000); }

  Trace& Compute(int64_t launch, int64_t start, int64_t end, int device = 0) {
    builder_.Call("cudaLaunchKernel", launch * 1000, 500, ++id_);
    builder_.Kernel("gemm", start * 1000, (end - start) * 1000, id_, 7, device);
    return *this;
  }
  Trace& Copy(int64_t launch, int64_t start, int64_t end) {
    builder_.Call("cudaMemcpyAsync", launch * 1000, 500, ++id_);
    builder_.Gpu("gpu_memcpy", "Memcpy DtoD (Device -> Device)", start * 1000, (end - start) * 1000,
                 id_, R"(, "bytes": 8)");
    return *this;
  }
  Trace& Collective(int64_t launch, int64_t start, int64_t end,
                    std::string_view kernel = kAllReduce, std::string_view message = "",
                    int stream = 17) {
    builder_.Call("cudaLaunchKernelExC", launch * 1000, 500, ++id_);
    builder_.Gpu("kernel", kernel, start * 1000, (end - start) * 1000, id_, message, stream);
    return *this;
  }

  Evidence Read() const { return Extracted(builder_); }

 private:
  TraceBuilder builder_;
  int64_t id_ = 0;
};

std::vector<double> Exposed(const Trace& trace) {
  return Summarise(trace.Read(), MetricId::kCommExposed).per_step;
}

TEST(ExposedCommunication, IsWhatNoKernelOfTheGpuRunsBeside) {
  // 10..30 beside 10..20: ten remain. 40..50 lies in 35..60: none. Step 2 has all of its 10.
  const Trace trace = Trace()
                          .Compute(1, 10, 20)
                          .Collective(2, 10, 30)
                          .Compute(3, 35, 60)
                          .Collective(4, 40, 50)
                          .Compute(101, 110, 120)
                          .Collective(102, 130, 140);
  EXPECT_THAT(Exposed(trace), ElementsAre(10'000, 10'000));
  EXPECT_THAT(Summarise(trace.Read(), MetricId::kCommTime).per_step, ElementsAre(30'000, 10'000));
}

TEST(ExposedCommunication, SeveralGapsOfOneCollectiveAddUp) {
  // 10..60 less 15..20, 25..40 and 39..45: 5 + 5 + 15.
  EXPECT_THAT(Exposed(Trace()
                          .Collective(1, 10, 60)
                          .Compute(2, 15, 20)
                          .Compute(3, 39, 45)
                          .Compute(4, 25, 40)
                          .Compute(101, 110, 120)),
              ElementsAre(25'000, 0));
}

TEST(ExposedCommunication, TwoCollectivesAtOnceAreExposedOnce) {
  EXPECT_THAT(Exposed(Trace()
                          .Collective(1, 10, 30)
                          .Collective(2, 20, 40, kAllReduce, "", 18)
                          .Compute(101, 110, 120)),
              ElementsAre(30'000, 0));
}

TEST(ExposedCommunication, NeitherCopiesNorAnotherGpuHideIt) {
  EXPECT_THAT(Exposed(Trace()
                          .Collective(1, 10, 30)
                          .Copy(2, 10, 30)
                          .Compute(3, 10, 30, 1)
                          .Compute(101, 110, 120)),
              ElementsAre(20'000, 0));
}

TEST(ExposedCommunication, KernelsOfTheNextStepHideWhatRunsIntoIt) {
  // Launched in step 1, runs 90..120; step 2 computes 100..115.
  EXPECT_THAT(Exposed(Trace().Compute(1, 10, 20).Collective(80, 90, 120).Compute(100, 100, 115)),
              ElementsAre(15'000, 0));
}

TEST(Collectives, HaveTheNameTypeAndBytesOfTheirMessage) {
  const std::string reduced = MessageOf("allreduce", "BFloat16", 1000, 1000);
  const std::string gathered = MessageOf("_allgather_base", "Float", 10, 20);
  const std::string scattered = MessageOf("_reduce_scatter_base", "Half", 30, 15);
  const Evidence evidence = Trace()
                                .Collective(1, 10, 12, kAllReduce, reduced)
                                .Collective(2, 12, 14, kAllReduce, reduced)
                                .Collective(3, 14, 17, kAllGather, gathered)
                                .Collective(101, 110, 111, kAllReduce, scattered)
                                .Read();
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  const auto is = [](std::string name, std::string dtype, int64_t bytes,
                     std::vector<int64_t> counts, std::vector<int64_t> times) {
    return testing::AllOf(
        testing::Field(&CollectiveRow::name, name), testing::Field(&CollectiveRow::dtype, dtype),
        testing::Field(&CollectiveRow::bytes, bytes), testing::Field(&CollectiveRow::group_size, 2),
        testing::Field(&CollectiveRow::count_per_step, counts),
        testing::Field(&CollectiveRow::time_ns_per_step, times));
  };
  EXPECT_THAT(evidence.collectives,
              ElementsAre(is("all_gather", "fp32", 80, {1, 0}, {3000, 0}),
                          is("all_reduce", "bf16", 2000, {2, 0}, {4000, 0}),
                          is("reduce_scatter", "fp16", 60, {0, 1}, {0, 1000})));
  EXPECT_THAT(Summarise(evidence, MetricId::kCommCount).per_step, ElementsAre(3, 1));
  EXPECT_THAT(Summarise(evidence, MetricId::kCommBytes).per_step, ElementsAre(4080, 60));
}

TEST(Collectives, WithoutAMessageAreKnownByTheirKernelAndTheirBytesAreNotZero) {
  const Evidence evidence =
      Trace().Collective(1, 10, 12).Collective(101, 110, 112, kAllGather).Read();
  ASSERT_EQ(evidence.collectives.size(), 2U);
  EXPECT_EQ(evidence.collectives[0].name, "all_gather");
  EXPECT_EQ(evidence.collectives[0].dtype, "");
  EXPECT_EQ(evidence.collectives[1].name, "all_reduce");
  EXPECT_EQ(evidence.collectives[1].dtype, "bf16");
  EXPECT_EQ(evidence.collectives[1].bytes, std::nullopt);
  EXPECT_THAT(Summarise(evidence, MetricId::kCommCount).per_step, ElementsAre(1, 1));
  EXPECT_EQ(Summarise(evidence, MetricId::kCommBytes).unavailable,
            "the trace does not say the bytes of 2 collectives");
}

TEST(Collectives, OfAnUnknownElementTypeHaveNoBytes) {
  const Evidence evidence =
      Trace().Collective(1, 10, 12, kAllReduce, MessageOf("allreduce", "Quaternion", 4, 4)).Read();
  EXPECT_EQ(evidence.collectives[0].bytes, std::nullopt);
  EXPECT_THAT(Summarise(evidence, MetricId::kCommBytes).unavailable, HasSubstr("1 collective"));
}

TEST(Collectives, OfWhichOneSizeIsUnreadableHaveNoBytes) {
  for (const auto& [in, out] : {std::pair(-5, 4), std::pair(4, -5)}) {
    const Evidence evidence =
        Trace().Collective(1, 10, 12, kAllReduce, MessageOf("allreduce", "Float", in, out)).Read();
    EXPECT_EQ(evidence.collectives[0].bytes, std::nullopt);
    EXPECT_EQ(Summarise(evidence, MetricId::kCommBytes).unavailable,
              "the trace does not say the bytes of 1 collective");
  }
}

TEST(Collectives, OfAGroupThatNoMachineHasAreOfAnUnknownOne) {
  for (const char* size : {"4611686018427387904", "-5"}) {
    const std::string message = fmt::format(R"(, "Group size": {})", size);
    const Evidence evidence = Trace().Collective(1, 10, 12, kAllReduce, message).Read();
    EXPECT_EQ(evidence.collectives[0].group_size, 0);
  }
}

TEST(Collectives, OfSizesThatNoMachineHasDoNotOverflow) {
  const Evidence evidence =
      Trace()
          .Collective(1, 10, 12, kAllReduce, MessageOf("allreduce", "Double", INT64_MAX, 4))
          .Read();
  EXPECT_EQ(evidence.collectives[0].bytes, std::nullopt);
}

TEST(Collectives, AreNoneInATraceWithoutThem) {
  const Evidence evidence = Trace().Compute(1, 10, 20).Compute(101, 110, 120).Read();
  EXPECT_THAT(evidence.collectives, IsEmpty());
  for (const MetricId id : {MetricId::kCommCount, MetricId::kCommBytes, MetricId::kCommExposed}) {
    EXPECT_THAT(Summarise(evidence, id).per_step, ElementsAre(0, 0));
  }
}

TEST(Collectives, OfARealDataParallelStepAreItsTwoBuckets) {
  const Evidence evidence = ExtractTrace(PERFGATE_TEST_DATA "/traces/ddp_train_rank1.json.gz");
  ASSERT_EQ(evidence.collectives.size(), 2U);
  EXPECT_EQ(evidence.collectives[0].name, "all_reduce");
  EXPECT_EQ(evidence.collectives[0].dtype, "bf16");
  EXPECT_EQ(evidence.collectives[0].bytes, 2 * 4'195'328);
  EXPECT_EQ(evidence.collectives[1].bytes, 2 * 4'198'400);
  EXPECT_EQ(Summarise(evidence, MetricId::kCommBytes).value, 2 * (4'195'328 + 4'198'400));
}

}  // namespace
}  // namespace perfgate
