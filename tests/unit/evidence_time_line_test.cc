// The step that a report draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "evidence_traces.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

// "lane: name +start duration, depth", a line a span.
std::vector<std::string> Lines(const TimeLine& line) {
  std::vector<std::string> lines;
  for (const Span& span : line.spans) {
    lines.push_back(fmt::format("{}: {} +{} {} depth {}", line.texts[span.lane],
                                line.texts[span.name], span.start_ns, span.duration_ns,
                                span.depth));
  }
  return lines;
}

TraceBuilder DrawnSteps() {
  TraceBuilder builder;
  builder.Step(1, 0, 10'000)
      .Op("aten::mm", 1000, 2000)
      .Call("cudaLaunchKernel", 2000, 500, 1)
      .Kernel("early", 3000, 2000, 1)
      .Step(2, 20'000, 10'000)
      .Op("aten::linear", 21'000, 4000)
      .Op("aten::mm", 22'000, 2000, "[[2, 3], [3, 4]]")
      .Call("cudaLaunchKernel", 23'000, 500, 2)
      .Kernel("late", 29'000, 5000, 2);
  return builder;
}

TEST(TimeLine, IsOfTheLastStepWithTimesFromItsStart) {
  const TimeLine line = Extracted(DrawnSteps()).time_line;
  EXPECT_EQ(line.step_ns, 10'000);
  EXPECT_EQ(line.left_out, 0);
  EXPECT_THAT(Lines(line), ElementsAre("CPU, thread 1: aten::linear +1000 4000 depth 0",
                                       "CPU, thread 1: aten::mm +2000 2000 depth 1",
                                       "CPU, thread 1: cudaLaunchKernel +3000 500 depth 2",
                                       "GPU 0, stream 7: late +9000 5000 depth 0"));
}

TEST(TimeLine, GpuWorkSaysWhoLaunchedItAndWithWhichShapes) {
  const TimeLine line = Extracted(DrawnSteps()).time_line;
  ASSERT_THAT(line.spans, SizeIs(4));
  const Span& kernel = line.spans.back();
  EXPECT_TRUE(kernel.gpu);
  EXPECT_EQ(line.texts[kernel.op_path], "aten::linear > aten::mm");
  EXPECT_EQ(line.texts[kernel.input_dims], "[[2, 3], [3, 4]]");
  EXPECT_THAT(line.spans[2], AllOf(Field(&Span::call, true), Field(&Span::gpu, false)));
}

TEST(TimeLine, LeavesOutWhatIsNestedTooDeep) {
  TraceBuilder builder;
  builder.Step(1, 0, 100'000);
  for (int depth = 0; depth < 6; ++depth) {
    builder.Op(fmt::format("aten::op{}", depth), 1000 + 1000 * depth, 50'000 - 2000 * depth);
  }
  EXPECT_THAT(Lines(Extracted(builder).time_line),
              ElementsAre("CPU, thread 1: aten::op0 +1000 50000 depth 0",
                          "CPU, thread 1: aten::op1 +2000 48000 depth 1",
                          "CPU, thread 1: aten::op2 +3000 46000 depth 2",
                          "CPU, thread 1: aten::op3 +4000 44000 depth 3"));
}

TEST(TimeLine, IsBoundedAndSaysHowMuchIsLeftOut) {
  TraceBuilder builder;
  builder.Step(1, 0, 1'000'000'000);
  for (int i = 0; i < 10'003; ++i) builder.Op("aten::mm", 1000 + 2000 * i, 1000);
  const TimeLine line = Extracted(builder).time_line;
  EXPECT_THAT(line.spans, SizeIs(10'000));
  EXPECT_EQ(line.left_out, 3);
}

TEST(TimeLine, IsNoPartOfTheJsonForm) {
  const Evidence evidence = Extracted(DrawnSteps());
  EXPECT_THAT(EvidenceFromJson(ToJson(evidence)).time_line.spans, SizeIs(0));
}

}  // namespace
}  // namespace perfgate
