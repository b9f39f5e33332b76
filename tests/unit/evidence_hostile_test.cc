// Traces that claim the impossible, and calls by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evidence/calls.h"
#include "evidence/evidence.h"
#include "trace_builder.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Evidence Extracted(const TraceBuilder& builder) {
  const ScratchFile file("t.json", builder.Json());
  return ExtractTrace(file.path());
}

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

TEST(Calls, AreKnownByNameWithAnySuffix) {
  EXPECT_EQ(ClassifyCall("cudaLaunchKernelExC_v11060"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("cuLaunchKernelEx"), CallKind::kKernelLaunch);
  EXPECT_EQ(ClassifyCall("hipModuleLaunchKernel"), CallKind::kKernelLaunch);
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
