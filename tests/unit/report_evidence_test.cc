#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "report/report.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

KernelRow Row(const std::string& name, std::vector<int64_t> count, std::vector<int64_t> time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = "aten::linear > aten::addmm";
  row.device = "cuda:0";
  row.count_per_step = std::move(count);
  row.time_ns_per_step = std::move(time_ns);
  row.info = DecodeKernelName(name);
  return row;
}

Evidence TwoSteps() {
  Evidence evidence;
  evidence.case_name = "geglu";
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  evidence.key.fields = {{"torch", "2.11.0"}};
  evidence.steps = {2};
  evidence.kernels = {Row("small_kernel", {1, 2}, {1000, 1000}),
                      Row("large_kernel", {1, 1}, {9000, 9000})};
  evidence.values = {{MetricId::kKernels, Side::kHead, 0, 0, {2, 3}},
                     {MetricId::kLaunches, Side::kHead, 0, 0, {2, 2}}};
  evidence.unavailable = {{MetricId::kAllocations, "needs a trace taken with profile_memory"},
                          {MetricId::kPeakBytes, "needs a trace taken with profile_memory"}};
  evidence.explain = {"3 views were left out"};
  return evidence;
}

TEST(EvidenceText, TheFirstLineSaysWhetherItIsComplete) {
  EXPECT_THAT(EvidenceAsText(TwoSteps(), {}, false),
              StartsWith("COMPLETE  geglu      2 steps · NVIDIA H200 · torch 2.11.0\n"));
  Evidence evidence = TwoSteps();
  evidence.incomplete_because = {"1 launch without its kernel"};
  EXPECT_THAT(
      EvidenceAsText(evidence, {}, false),
      AllOf(StartsWith("INCOMPLETE"), HasSubstr("incomplete   1 launch without its kernel")));
}

TEST(EvidenceText, KernelsAreListedByTimeWithWhatVaries) {
  const std::string text = EvidenceAsText(TwoSteps(), {}, false);
  EXPECT_LT(text.find("large_kernel"), text.find("small_kernel"));
  EXPECT_THAT(text, AllOf(HasSubstr("1..2"), HasSubstr("90 %"), HasSubstr("varies: 2 to 3"),
                          HasSubstr("aten::addmm")));
}

TEST(EvidenceText, ExplainSaysWhatIsNotAvailableAndWhatWasLeftOut) {
  const std::string brief = EvidenceAsText(TwoSteps(), {}, false);
  EXPECT_THAT(brief, AllOf(HasSubstr("2 metrics are not available: --explain says why"),
                           Not(HasSubstr("3 views"))));
  EXPECT_THAT(EvidenceAsText(TwoSteps(), {}, true),
              AllOf(HasSubstr("allocations, peak_bytes: needs a trace taken with profile_memory"),
                    HasSubstr("3 views were left out")));
}

TEST(EvidenceText, HostileNamesAreHarmless) {
  Evidence evidence = TwoSteps();
  evidence.case_name = "\x1b]0;x\x07";
  evidence.kernels[0] = Row("k\x1b[31m\n::error::x|y`z", {1, 1}, {1, 1});
  EXPECT_THAT(EvidenceAsText(evidence, {}, true),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n::error"))));
  EXPECT_THAT(EvidenceAsMarkdown(evidence, true),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("x|y"))));
}

TEST(EvidenceMarkdown, HasMetricsAndKernels) {
  EXPECT_THAT(EvidenceAsMarkdown(TwoSteps(), false),
              AllOf(HasSubstr("| `launches` | 2 |"), HasSubstr("### Kernels, a step"),
                    HasSubstr("large_kernel")));
}

TEST(EvidenceText, SaysWhereAKernelWasCalledFrom) {
  Evidence evidence = TwoSteps();
  evidence.kernels[0].modules = {{"Net_0 > MLP_0 > Linear_0", 3, 2000}};
  evidence.kernels[0].backward_of = "aten::addmm";
  evidence.kernels[0].annotations = {{"train > step", 3, 2000}};
  for (const bool explain : {false, true}) {
    const std::string text = EvidenceAsText(evidence, {}, explain);
    EXPECT_THAT(text, HasSubstr("aten::addmm, backward of aten::addmm, in MLP_0 > Linear_0\n"));
    const bool annotated = text.find("under the annotation: train > step") != std::string::npos;
    EXPECT_EQ(annotated, explain);
  }
  EXPECT_THAT(EvidenceAsMarkdown(evidence, false), HasSubstr("backward of aten::addmm, in MLP"));
}

TEST(EvidenceText, NamesWhoAskedForACopyAndItsShapes) {
  Evidence evidence = TwoSteps();
  KernelRow& copy = evidence.kernels[0];
  copy.name =
      "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda"
      "(at::TensorIteratorBase&)::{lambda()#3}>(int)";
  copy.op_path = "aten::contiguous > aten::clone > aten::copy_";
  copy.info = DecodeKernelName(copy.name);
  copy.shapes = {{"[[4, 2], [4, 2]]", 2, 1500}, {"[[8], [8]]", 1, 500}};
  copy.input_types = "[float, float]";
  EXPECT_THAT(EvidenceAsText(evidence, {}, false), HasSubstr("aten::copy_ for aten::contiguous\n"));
  EXPECT_THAT(EvidenceAsText(evidence, {}, true),
              HasSubstr("called with: [[4, 2], [4, 2]] of [float, float], and 1 other shape\n"));
}

// Whatever a file has wrong, what is shown of it is text without control characters.
TimedSeries Latency(int process) {
  TimedSeries series;
  series.name = "latency";
  series.process = process;
  series.samples = 60;
  series.steady = "drifting";
  series.warmup_iterations = 60;
  series.drift = -0.062;
  series.outliers = 4;
  series.far_outliers = 1;
  series.percentiles = {{0.50, 75'100, 5, 74'200, 75'900, 6},
                        {0.95, 92'000, 59, {}, {}, 72},
                        {0.99, {}, 299, {}, {}, 368}};
  return series;
}

TEST(EvidenceText, SaysOfEachPercentileItsIntervalOrWhatItNeeds) {
  Evidence evidence = TwoSteps();
  evidence.timed_series = {Latency(0)};
  TextStyle wide;
  wide.width = 200;
  EXPECT_THAT(EvidenceAsText(evidence, wide, false),
              HasSubstr("  latency              p50 75.1 us (74.2 us to 75.9 us); p95 92.0 us "
                        "(interval n/a: 60 < 72); p99 n/a (60 < 299); steady: drifting, -6.2 %; "
                        "4 outliers, 1 of them far\n"));
  EXPECT_THAT(EvidenceAsMarkdown(evidence, false), HasSubstr("\n- latency: p50 75.1 us"));
}

TEST(EvidenceText, SaysWhichProcessWarmedUpForHowLong) {
  Evidence evidence = TwoSteps();
  evidence.timed_series = {Latency(0), Latency(1)};
  evidence.timed_series[0].steady = "";
  evidence.timed_series[1].steady = "yes";
  evidence.timed_series[1].warmup_iterations = 20;
  TextStyle wide;
  wide.width = 200;
  const std::string text = EvidenceAsText(evidence, wide, false);
  EXPECT_THAT(text, HasSubstr("  latency, process 0   p50"));
  EXPECT_THAT(text, HasSubstr("steady: too few iterations"));
  EXPECT_THAT(text, HasSubstr("  latency, process 1   p50"));
  EXPECT_THAT(text, HasSubstr("steady: yes, after 20 of 60"));
}

TEST(EvidenceText, OfEveryDefectIsHarmless) {
  int shown = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PERFGATE_TEST_DATA) / "defects")) {
    Evidence evidence;
    try {
      evidence = ExtractTrace(entry.path());
    } catch (const Error&) {
      continue;  // no trace
    }
    for (const std::string& text :
         {EvidenceAsText(evidence, {}, true), EvidenceAsMarkdown(evidence, true)}) {
      for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        EXPECT_EQ(Printable(line), line) << entry.path();
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      }
    }
    EXPECT_THAT(EvidenceAsText(evidence, {}, true),
                StartsWith(evidence.Complete() ? "COMPLETE" : "INCOMPLETE"));
    ++shown;
  }
  EXPECT_GT(shown, 90);
}

}  // namespace
}  // namespace perfgate
