// Traces that claim the impossible, and calls by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/calls.h"
#include "evidence/evidence.h"
#include "evidence/path_text.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(HostileTrace, TimesBeyondReasonOverflowNothing) {
  for (const char* time :
       {"9223372036854775.807", "-9223372036854775.807", "1e300", "4e15", "-4e15",
        "99999999999999999999999", "1e12", "0", "-0.001", "null", "[]"}) {
    TraceBuilder builder;
    builder.Step(1, 0, 100'000).Launch("k", 10'000, 1);
    for (const char* category : {"kernel", "cuda_runtime", "cpu_op", "user_annotation",
                                 "gpu_memcpy", "overhead", "cpu_instant_event"}) {
      for (const char* key : {"ts", "dur"}) {
        builder.Raw(fmt::format(
            R"({{"ph":"X","cat":"{}","name":"ProfilerStep#99999999999999999","pid":1,"tid":1,"ts":5,"dur":1,"{}":{},"args":{{"correlation":1,"bytes":9223372036854775807}}}})",
            category, key, time));
      }
    }
    const Evidence evidence = Extracted(builder);
    EXPECT_EQ(evidence.steps.size(), 1U) << time;
  }
}

// GPUs that are each idle for longer than half of what a number can hold.
TEST(HostileTrace, IdleTimesOfSeveralDevicesStayLarge) {
  constexpr int64_t kFarNs = 3'900'000'000'000'000'000;
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  for (int device = 0; device < 3; ++device) {
    const int64_t id = 2 * device;
    builder.Call("cudaLaunchKernel", 1000 * id + 1000, 500, id + 1)
        .Kernel("a", -kFarNs, 2000, id + 1, 7, device)
        .Call("cudaLaunchKernel", 1000 * id + 2000, 500, id + 2)
        .Kernel("b", kFarNs, 2000, id + 2, 7, device);
  }
  const Evidence evidence = Extracted(builder);
  constexpr auto kLargest = static_cast<double>(INT64_MAX);
  EXPECT_EQ(Summarise(evidence, MetricId::kGpuIdle).largest, kLargest);
  EXPECT_THAT(evidence.idle.launch_ns, ElementsAre(INT64_MAX));
  EXPECT_THAT(evidence.idle.queued_ns, ElementsAre(INT64_MAX));
}

TEST(HostileTrace, BusyTimesOfManyDevicesStayLarge) {
  constexpr int64_t kLongestNs = 1'000'000'000'000'000;
  constexpr auto kLargest = static_cast<double>(INT64_MAX);
  for (const auto& [name, metric] : {std::pair{"k", MetricId::kGpuTime},
                                     std::pair{"ncclKernel_AllReduce", MetricId::kCommTime}}) {
    TraceBuilder builder;
    builder.Step(1, 0, 100'000'000);
    for (int device = 0; device < 9300; ++device) {
      builder.Call("cudaLaunchKernel", 10'000 * device + 1000, 500, device + 1)
          .Kernel(name, 10'000 * device + 2000, kLongestNs, device + 1, 7, device);
    }
    EXPECT_EQ(Summarise(Extracted(builder), metric).largest, kLargest) << name;
  }
}

TEST(HostileTrace, ManyNamesOverManyStepsAreRefusedNotHeld) {
  TraceBuilder builder;
  for (int i = 0; i < 4000; ++i) {
    builder.Step(i, i * 10'000, 10'000).Op(fmt::format("custom::op{}", i), i * 10'000 + 100, 100);
  }
  EXPECT_THAT(Extracted(builder).incomplete_because, Contains(HasSubstr("than can be kept")));
}

TEST(HostileTrace, ACaptureWithoutAnEndExcusesNothing) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Launch("k", 5000, 1)
      .Call("cudaStreamBeginCapture", 10'000, 500, 2)
      .Call("cudaLaunchKernel", 20'000, 500, 3);
  EXPECT_THAT(Extracted(builder).incomplete_because,
              Contains(HasSubstr("1 launch without GPU work")));
}

TEST(HostileTrace, DeepNestingCostsNoRecursion) {
  TraceBuilder builder;
  builder.Step(1, 0, 1'000'000);
  for (int i = 0; i < 20'000; ++i) builder.Op("custom::deep", 100 + i, 900'000 - 2 * i);
  builder.Launch("k", 400'000, 1);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(Summarise(evidence, MetricId::kRootOps).value, 1);
}

// Each row holds the text of its path: long names, deep nesting and many rows in one small file
// must not multiply.
TEST(HostileTrace, LongNamesDoNotMultiplyByTheRows) {
  constexpr int kLevels = 20, kRows = 100;
  const std::string tail(20'000, 'x');
  TraceBuilder builder;
  builder.Step(1, 0, 1'000'000);
  for (int level = 0; level < kLevels; ++level) {
    const int64_t start_ns = 1000 + 10 * level, duration_ns = 900'000 - 20 * level;
    builder.Op(fmt::format("custom::{}{}", level, tail), start_ns, duration_ns)
        .Host("python_function", fmt::format("nn.Module: M{}{}", level, tail), start_ns,
              duration_ns)
        .Host("user_annotation", fmt::format("a{}{}", level, tail), start_ns, duration_ns);
  }
  for (int row = 0; row < kRows; ++row) {
    builder.Launch(fmt::format("k{}", row), 10'000 + 5000 * row, row + 1);
  }
  const Evidence evidence = Extracted(builder);
  ASSERT_THAT(evidence.kernels, SizeIs(kRows));
  for (const KernelRow& row : evidence.kernels) {
    EXPECT_LE(row.op_path.size(), kLongestPath);
    ASSERT_THAT(row.modules, SizeIs(1));
    EXPECT_LE(row.modules[0].place.size(), kLongestPath);
    ASSERT_THAT(row.annotations, SizeIs(1));
    EXPECT_LE(row.annotations[0].place.size(), kLongestPath);
    EXPECT_THAT(PathElements(row.op_path).front(), StartsWith("custom::0xxx"));
    EXPECT_THAT(row.Operator(), StartsWith("custom::19xxx"));
  }
  EXPECT_LT(WriteJson(ToJson(evidence)).size(), builder.Json().size() + kRows * 4 * kLongestPath);
}

TEST(HostileTrace, ALongNameOfAForwardOperatorStandsCutInItsBackwardRows) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Host("cpu_op", "custom::" + std::string(60'000, 'f'), 10'000, 9000,
            R"("Sequence number": 7, "Fwd thread id": 0)")
      .Host("cpu_op", "CustomBackward0", 50'000, 20'000,
            R"("Sequence number": 7, "Fwd thread id": 1)", 2)
      .Host("cuda_runtime", "cudaLaunchKernel", 53'000, 500, R"("correlation": 2)", 2)
      .Kernel("k", 55'000, 2000, 2);
  const Evidence evidence = Extracted(builder);
  ASSERT_THAT(evidence.kernels, SizeIs(1));
  EXPECT_THAT(evidence.kernels[0].backward_of, StartsWith("custom::fff"));
  EXPECT_LE(evidence.kernels[0].backward_of.size(), kLongestElement);
}

TEST(HostileTrace, LongNamesThatDifferInTheirMiddleStayApart) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  const std::string half(1000, 'x');
  builder.Op("custom::" + half + "1" + half, 10'000, 9000).Launch("k", 11'000, 1);
  builder.Op("custom::" + half + "2" + half, 30'000, 9000).Launch("k", 31'000, 2);
  const Evidence evidence = Extracted(builder);
  ASSERT_THAT(evidence.kernels, SizeIs(2));
  EXPECT_NE(evidence.kernels[0].op_path, evidence.kernels[1].op_path);
  EXPECT_LE(evidence.kernels[0].op_path.size(), kLongestElement);
  EXPECT_THAT(evidence.operators,
              Contains(Field(&OperatorRow::name, "custom::" + half + "1" + half)));
}

TEST(PathText, KeepsItsEndsAndTellsWhatIsBetween) {
  const auto path = [](char middle) {
    std::vector<std::string> names;
    for (int i = 0; i < 41; ++i)
      names.push_back(fmt::format("level{}{}", i, std::string(190, 'y')));
    names[20].back() = middle;
    return PathText(std::vector<std::string_view>(names.begin(), names.end()));
  };
  const std::string text = path('a');
  EXPECT_LE(text.size(), kLongestPath);
  EXPECT_GT(text.size(), kLongestPath / 2);
  EXPECT_THAT(text, StartsWith("level0y"));
  EXPECT_THAT(text, HasSubstr("y > ... 23 levels #"));
  EXPECT_THAT(Innermost(text), StartsWith("level40y"));
  EXPECT_NE(text, path('b'));
  EXPECT_EQ(PathText(std::vector<std::string_view>{"aten::linear", "aten::addmm"}),
            "aten::linear > aten::addmm");
}

TEST(PathElement, IsTheNameUnlessItIsTooLong) {
  const std::string longest(kLongestElement, 'n');
  EXPECT_EQ(PathElement("aten::addmm"), "aten::addmm");
  EXPECT_EQ(PathElement(longest), longest);
  const std::string cut = PathElement(longest + "n");
  EXPECT_EQ(cut.size(), kLongestElement);
  EXPECT_THAT(cut, HasSubstr("n...n"));
  EXPECT_NE(cut, PathElement(longest + "nn"));
}

TEST(Calls, AreKnownByNameWithAnySuffix) {
  EXPECT_EQ(ClassifyCall("cudaLaunchKernelExC_v11060"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("cuLaunchKernelEx"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("hipModuleLaunchKernel"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("hipDrvLaunchKernelEx"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("hipLaunchByPtr"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("cudaGraphLaunch_v10000"), CallKind::kGraphLaunch);
  EXPECT_EQ(ClassifyCall("cudaMemcpyAsync"), CallKind::kTransfer);
  EXPECT_EQ(ClassifyCall("cudaMemsetAsync"), CallKind::kTransfer);
  EXPECT_EQ(ClassifyCall("cudaMemcpy"), CallKind::kBlockingCopy);
  EXPECT_EQ(ClassifyCall("cuStreamSynchronize"), CallKind::kSync);
  EXPECT_EQ(ClassifyCall("cudaMallocHost"), CallKind::kOther);
  EXPECT_EQ(ClassifyCall("cudaMallocAsync_v11020"), CallKind::kDeviceMalloc);
  EXPECT_EQ(ClassifyCall("cudaEventQuery"), CallKind::kOther);
  EXPECT_EQ(ClassifyCall("custom"), CallKind::kOther);
}

TEST(Calls, ABlockingCopyIsWorkAndAWait) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000)
      .Call("cudaMemcpy", 10'000, 5000, 1)
      .Gpu("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 11'000, 1000, 1, R"(, "bytes": 8)")
      .Call("cudaEventQuery", 20'000, 500, 2);
  const Evidence evidence = Extracted(builder);
  EXPECT_THAT(evidence.incomplete_because, IsEmpty());
  EXPECT_EQ(Summarise(evidence, MetricId::kSyncs).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kMemcpyDtoHBytes).value, 8);
  EXPECT_EQ(Summarise(evidence, MetricId::kLaunches).value, 0);
}

}  // namespace
}  // namespace perfgate
