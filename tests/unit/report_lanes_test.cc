// Time lines and latencies of the HTML page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report_pages.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kFiveMegabytes = 5'000'000;

TEST(HtmlLanes, ShowASpanWithItsOperatorShapesAndTimes) {
  Evidence evidence = EvidenceOf("geglu", 1);
  evidence.time_line = LineOf(2, 500);
  const std::string page = EvidenceAsHtml(evidence);
  EXPECT_THAT(page, HasSubstr("<title>my_kernel, 500 ns at 1.00 us, called by aten::mm, with "
                              "[[2, 3]]</title></rect>"));
  EXPECT_THAT(page, AllOf(HasSubstr(">CPU, thread 1</text>"), HasSubstr(">GPU 0, stream 7</text>"),
                          HasSubstr("<desc>3 spans in 2 lanes;")));
}

TEST(HtmlLanes, BothSidesAreDrawnOnOneScaleOfTime) {
  CasePair pair = PairOf("geglu", 2);
  pair.base->time_line = LineOf(2, 500);  // 2 us: half of the width
  pair.head.time_line = LineOf(4, 500);
  const std::string page = PageOf({pair}, Status::kFail);
  const size_t base = page.find("<title>base: one step over time</title>");
  const size_t head = page.find("<title>head: one step over time</title>");
  ASSERT_LT(base, head);
  ASSERT_NE(head, std::string::npos);
  EXPECT_THAT(page.substr(base, head - base), HasSubstr("width=\"600.0\""));
  EXPECT_THAT(page.substr(head), HasSubstr("width=\"1200.0\""));
}

TEST(HtmlLanes, DrawFiveThousandKernelsByJoiningWhatIsNarrowerThanAPixel) {
  Evidence evidence = EvidenceOf("geglu", 1);
  evidence.time_line = LineOf(5000, 400);
  const std::string page = EvidenceAsHtml(evidence);
  EXPECT_LT(page.size(), 500'000U);
  EXPECT_THAT(page, AllOf(HasSubstr("5000 spans narrower than a pixel are drawn together"),
                          HasSubstr("<title>8 spans, together 3.20 us; the longest: my_kernel")));
}

TEST(HtmlLanes, OfASideWithoutATraceShowItsKernelsAndSaySo) {
  const std::string page = EvidenceAsHtml(EvidenceOf("geglu", 3));
  EXPECT_THAT(page, AllOf(HasSubstr("no trace was read for this side"),
                          HasSubstr(">kernels, one after another</text>")));
}

TEST(HtmlLanes, AChangedKernelIsOutlined) {
  CasePair pair = PairOf("geglu", 0);
  pair.head.kernels = {Row("my_kernel", "aten::mm", 500)};
  pair.head.time_line = LineOf(1, 500);
  pair.diff = Compare(*pair.base, pair.head);
  EXPECT_THAT(PageOf({pair}, Status::kFail), AllOf(HasSubstr("<rect class=\"other changed\""),
                                                   HasSubstr("; in a change</title>")));
}

TEST(HtmlLatency, ShowsEachProcessWithItsPercentilesAndATickASample) {
  CasePair pair = PairOf("geglu", 1);
  for (const auto& [metric, ns] :
       {std::pair{MetricId::kLatencyP50, 1e6}, std::pair{MetricId::kLatencyP95, 2e6}}) {
    pair.base->values.push_back({metric, Side::kHead, 0, 0, {ns}});
    pair.head.values.push_back({metric, Side::kHead, 0, 1, {2 * ns}});
  }
  pair.head.timed = {{Side::kHead, 0, 1, {1'500'000, 2'000'000, 99'000'000}}};
  const std::string page = PageOf({pair}, Status::kFail);
  // Of the base only the percentiles are kept.
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">base, process 0</th><td class=\"n\">–</td><td "
                              "class=\"n\">–</td><td class=\"n\">1.00 ms</td><td "
                              "class=\"n\">2.00 ms</td><td class=\"n\">–</td>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">head, process 1</th><td class=\"n\">3</td><td "
                              "class=\"n\">1.50 ms</td><td class=\"n\">2.00 ms</td>"));
  // From 1 ms to the edge, three times the larger median: 6 ms. The slowest sample lies beyond.
  EXPECT_THAT(page, AllOf(HasSubstr("1 sample beyond the right edge"),
                          HasSubstr("d=\"M273.0 33v12M376.0 33v12\"/>")));
}

TEST(HtmlLatency, IsNotShownWhereNoneWasMeasured) {
  EXPECT_THAT(EvidenceAsHtml(EvidenceOf("geglu", 1)), Not(HasSubstr("<h3>Latency</h3>")));
}

TEST(HtmlPage, LeavesOutTimeLinesBeforeTables) {
  std::vector<CasePair> pairs;
  for (int i = 0; i < 50; ++i) {
    pairs.push_back(PairOf(fmt::format("geglu[tokens={}]", i), 20));
    pairs.back().base->time_line = pairs.back().head.time_line = LineOf(500, 900);
  }
  const std::string page = PageOf(pairs, Status::kFail);
  EXPECT_LT(page.size(), kFiveMegabytes);
  EXPECT_THAT(page, AllOf(HasSubstr("base: one step over time"),
                          HasSubstr("<p>The time line is left out here"),
                          Not(HasSubstr("The tables are left out here"))));
}

}  // namespace
}  // namespace perfgate
