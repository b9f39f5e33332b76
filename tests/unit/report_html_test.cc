// The HTML page: one file that loads nothing, whatever names it is given.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "report/report.h"
#include "report_pages.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;
using testing::StartsWith;

constexpr size_t kFiveMegabytes = 5'000'000;

TEST(HtmlPage, SaysTheVerdictBothCommitsTheGpuAndTheFindingInFull) {
  const std::string page = PageOf({PairOf("geglu", 4)}, Status::kFail);
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const char* said :
       {">FAIL</span> 1 of 1 rule failed", "NVIDIA H200 · head 1a2b3c4 against baseline of 5d6e7f8",
        "kernels 4 -&gt; 5 a step (at most +0)",
        "<dt>operator</dt><dd><code>aten::gelu</code></dd>",
        "<dt>why</dt><dd>An extra kernel is a launch.</dd>",
        "--case &#39;geglu&#39; --reason &#39;…&#39;</code></dd>", "<h3>The four questions</h3>"}) {
    EXPECT_THAT(page, HasSubstr(said));
  }
}

TEST(HtmlPage, TheTimesOfChangesAddUpToTheLineOverThem) {
  CasePair pair = PairOf("geglu", 4);
  Change kernel, copy;
  kernel.kind = copy.kind = ChangeKind::kAdded;
  kernel.text = "1 kernel came";
  kernel.count = 1;
  kernel.time_ns = 5'000;
  copy.text = "1 copy came";
  copy.transfers = {1, 4096, 7'000};
  pair.diff->changes = {kernel, copy};
  pair.diff->slower.clear();
  pair.diff->kernel_time_ns = 5'000;
  pair.diff->unchanged_time_ns = 0;
  pair.diff->transfers = copy.transfers;
  const std::string page = PageOf({pair}, Status::kFail);
  EXPECT_THAT(page, HasSubstr("the changes +5.00 us, kernels without a change"));
  EXPECT_THAT(page, HasSubstr("the changes +7.00 us, copies and fills without a change"));
  EXPECT_THAT(page, testing::ContainsRegex(">kernel time</th>.*>copy time</th>"));
  EXPECT_THAT(page, testing::ContainsRegex("1 kernel came.*>\\+5.00 us</td><td[^>]*></td></tr>"));
  EXPECT_THAT(page, testing::ContainsRegex("1 copy came.*></td><td[^>]*>\\+7.00 us</td></tr>"));
}

TEST(HtmlPage, SaysOfAWarningWhyItMatters) {
  EXPECT_THAT(PageOf({PairOf("geglu", 4)}, Status::kWarn),
              HasSubstr("<td>kernels 4 -&gt; 5 a step (at most +0)<br><small>An extra kernel is a "
                        "launch.</small></td>"));
}

TEST(HtmlPage, SaysOneCommandThatAcceptsWhatSeveralRulesSay) {
  const CasePair pair = PairOf("geglu", 4);
  CaseVerdict item = CaseOf(pair, Status::kFail);
  item.findings.push_back(item.findings[0]);
  for (const char* rule : {"a", "b"}) {
    Finding& finding = item.findings[rule[0] - 'a'];
    finding.rule = rule;
    finding.next =
        fmt::format("perfgate baseline accept --case 'geglu' --rule '{}' --reason '…'", rule);
  }
  Verdict verdict;
  verdict.cases = {item};
  Settle(verdict);
  EXPECT_THAT(
      VerdictAsHtml(verdict, {}),
      HasSubstr("<li>if meant: <code>perfgate baseline accept --case &#39;geglu&#39; --rule "
                "&#39;a&#39; --rule &#39;b&#39; --reason &#39;…&#39;</code></li>"));
}

TEST(HtmlPage, AColumnInWhichNothingStandsIsLeftOut) {
  CasePair pair = PairOf("geglu", 4);
  const std::string without = PageOf({pair}, Status::kFail);
  EXPECT_THAT(without,
              HasSubstr("<th scope=\"col\">called by</th><th scope=\"col\" class=\"n\">launches"));
  EXPECT_THAT(without, Not(HasSubstr(">copy time</th>")));
  pair.diff->changes[0].places = {"model.py(12): forward"};
  EXPECT_THAT(PageOf({pair}, Status::kFail),
              HasSubstr("<th scope=\"col\">called by</th><th scope=\"col\">where</th>"));
}

TEST(HtmlPage, LoadsNothingAndAllowsNoScriptButItsOwn) {
  const std::string page = PageOf({PairOf("geglu", 4)}, Status::kFail);
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-"));
  for (const char* loading : {" src=", "<link", "@import", "url(", "http://", "https://",
                              " style=", "onclick", "unsafe-inline"}) {
    EXPECT_THAT(page, Not(HasSubstr(loading)));
  }
}

TEST(HtmlPage, TheWorstCasesStandFirstInTheIndexAndOnThePage) {
  Verdict verdict;
  const std::vector<CasePair> pairs = {PairOf("fine", 2), PairOf("broken", 2), PairOf("slow", 2)};
  verdict.cases = {CaseOf(pairs[0], Status::kPass), CaseOf(pairs[1], Status::kError),
                   CaseOf(pairs[2], Status::kFail)};
  verdict.cases[1].incomplete_because = {"killed by SIGSEGV"};
  Settle(verdict);
  const std::string page = VerdictAsHtml(verdict, pairs);
  EXPECT_THAT(page, HasSubstr("<a href=\"#case-0\">broken</a>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#case-1\">slow</a>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#case-2\">fine</a>"));
  EXPECT_LT(page.find("<h2 id=\"name-0\"><code>broken"), page.find("<h2 id=\"name-2\"><code>fine"));
  EXPECT_THAT(page, HasSubstr("<strong>incomplete</strong>: killed by SIGSEGV"));
}

TEST(HtmlPage, NamesFromOutsideStayText) {
  const std::string hostile =
      "</code></script><script>alert(1)</script><img onerror='x' \"]]>&amp;"
      "\x1b[31m\n::error::##[group]\xE2\x80\xAE" +
      std::string("\0\xFF", 2);
  CasePair pair = PairOf(hostile, 2);
  pair.head.kernels.push_back(Row(hostile, hostile, 5));
  pair.head.kernels.back().input_types = hostile;
  pair.head.key.fields[hostile] = hostile;
  pair.head.explain = {hostile};
  pair.diff = Compare(*pair.base, pair.head);
  CaseVerdict item = CaseOf(pair, Status::kFail);
  for (std::string* text :
       {&item.findings[0].rule, &item.findings[0].message, &item.findings[0].limit,
        &item.findings[0].why, &item.findings[0].next, &item.plant}) {
    *text = hostile;
  }
  item.notes = item.attempts = item.key_differences = {hostile};
  item.fallback = {{hostile, hostile}};
  Verdict verdict;
  verdict.cases = {item};
  verdict.suite = verdict.device = verdict.head_label = hostile;
  verdict.problems = {hostile};
  Settle(verdict);
  for (const std::string& page :
       {VerdictAsHtml(verdict, std::span(&pair, 1)), EvidenceAsHtml(pair.head)}) {
    EXPECT_THAT(page, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<img")),
                            Not(HasSubstr("onerror='")), Not(HasSubstr("]]>"))));
    EXPECT_THAT(page,
                AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n::error")), Not(HasSubstr("##[")),
                      Not(HasSubstr("\xE2\x80\xAE")), Not(HasSubstr("\xFF"))));
    EXPECT_EQ(page.find('\0'), std::string::npos);
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  }
}

TEST(HtmlPage, OfFiftyCasesStaysBelowFiveMegabytesWithEveryCaseWhole) {
  std::vector<CasePair> pairs;
  for (int i = 0; i < 50; ++i) {
    pairs.push_back(PairOf(fmt::format("geglu[tokens={}]", i), 60));
    pairs.back().base->time_line = pairs.back().head.time_line = LineOf(60, 900);
  }
  const std::string page = PageOf(pairs, Status::kFail);
  EXPECT_LT(page.size(), kFiveMegabytes);
  EXPECT_THAT(page, Not(HasSubstr("left out here, because")));
}

TEST(HtmlPage, OfFiveThousandKernelsSaysWhatItLeavesOut) {
  const std::string page = PageOf({PairOf("large", 5000)}, Status::kFail);
  EXPECT_LT(page.size(), kFiveMegabytes);
  EXPECT_THAT(page, HasSubstr("The 400 rows with the longest times; 4601 more are left out here"));
}

TEST(HtmlPage, ThatWouldBeTooLargeKeepsEveryVerdictAndSaysWhichTablesAreLeftOut) {
  std::vector<CasePair> pairs;
  for (int i = 0; i < 50; ++i) pairs.push_back(PairOf(fmt::format("geglu[tokens={}]", i), 500));
  const std::string page = PageOf(pairs, Status::kFail);
  EXPECT_LT(page.size(), kFiveMegabytes);
  EXPECT_THAT(page, HasSubstr("<h2 id=\"name-49\">"));
  EXPECT_THAT(page,
              HasSubstr("<p>The tables are left out here, because the page would be too large"));
}

TEST(HtmlPage, AKernelThatKeptItsNameStandsInOneRowWhateverOperatorCallsIt) {
  CasePair pair = PairOf("geglu", 0);
  pair.base->kernels = {Row("my_kernel", "graph", 3000)};
  pair.head.kernels = {Row("my_kernel", "aten::mm", 5000)};
  pair.diff = Compare(*pair.base, pair.head);
  const std::string page = PageOf({pair}, Status::kPass);
  EXPECT_THAT(page, HasSubstr("data-key=\"3000\">3.00 us</td><td class=\"n\" data-key=\"2\">1</td>"
                              "<td class=\"n\" data-key=\"5000\">5.00 us</td>"
                              "<td class=\"n\" data-key=\"2000\">+2.00 us</td>"));
}

TEST(HtmlPage, ShowsRanksAndCollectivesOfBothSides) {
  CasePair pair = PairOf("ddp", 1);
  for (Evidence* evidence : {&*pair.base, &pair.head}) {
    CollectiveRow row;
    row.name = "all_reduce";
    row.dtype = "bf16";
    row.bytes = 8'000'000;
    row.group_size = 2;
    row.count_per_step = {3, 3};
    row.time_ns_per_step = {1000, 3000};
    evidence->collectives = {row};
  }
  pair.head.ranks = {{0, 1, 2, "cuda:1", "NVIDIA H200", ""}};
  const std::string page = PageOf({pair}, Status::kPass);
  EXPECT_THAT(page, HasSubstr("<li>rank 1 on cuda:1, NVIDIA H200</li>"));
  EXPECT_THAT(page, AllOf(HasSubstr("<caption>Collectives, a step, base</caption>"),
                          HasSubstr("<caption>Collectives, a step, head</caption>"),
                          HasSubstr("<th scope=\"row\">all_reduce bf16, 7.63 MiB, 2 ranks</th><td "
                                    "class=\"n\">3</td><td class=\"n\">2.00 us</td>")));
}

TEST(HtmlPage, SaysHowManyFieldsOfTheEnvironmentDiffer) {
  CasePair pair = PairOf("geglu", 1);
  pair.base->key.fields = {{"torch", "2.10.0"}, {"cuda", "13.0"}};
  pair.head.key.fields = {{"torch", "2.11.0"}, {"cuda", "13.0"}};
  pair.base->key.recorded = {{"driver", "580"}};
  const std::string page = PageOf({pair}, Status::kPass);
  EXPECT_THAT(page, HasSubstr("<summary>Environment: 2 differences</summary>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">torch</th><td>must be equal</td><td>2.10.0</td>"
                              "<td>2.11.0</td><td>differs</td>"));
}

TEST(HtmlPage, OfARunThatCouldNotStartSaysWhy) {
  Verdict verdict;
  verdict.result = Result::kError;
  verdict.exit_code = 2;
  verdict.problems = {"perfgate.yaml:3:5: unknown key <x>"};
  EXPECT_THAT(VerdictAsHtml(verdict, {}),
              AllOf(HasSubstr(">ERROR</span>"), HasSubstr("unknown key &lt;x&gt;")));
}

TEST(HtmlPage, OfOneTraceHasItsTablesAndNoSecondSide) {
  const std::string page = EvidenceAsHtml(EvidenceOf("geglu", 3));
  EXPECT_THAT(page, AllOf(HasSubstr(">COMPLETE</span>"), HasSubstr("<caption>Kernels, a step"),
                          Not(HasSubstr("base: time"))));
}

// Relative luminance and contrast as WCAG 2.2 defines them.
double Luminance(const std::string& hex) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double Contrast(const std::string& a, const std::string& b) {
  const double x = Luminance(a), y = Luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// The colours `--name: #rrggbb` of a piece of CSS.
void ReadColours(std::string_view css, std::map<std::string, std::string>* colours) {
  for (size_t at = css.find("--"); at != std::string_view::npos; at = css.find("--", at + 2)) {
    const size_t colon = css.find(": #", at);
    const std::string_view name = css.substr(at + 2, colon - at - 2);
    if (colon == std::string_view::npos || name.find_first_of(" );") != std::string_view::npos) {
      continue;
    }
    (*colours)[std::string(name)] = css.substr(colon + 2, 7);
  }
}

TEST(HtmlPage, TextIsReadableInLightAndDark) {
  const std::string page = EvidenceAsHtml(EvidenceOf("geglu", 1));
  const std::string_view css = page;
  const size_t dark_at = css.find("@media (prefers-color-scheme: dark)");
  ASSERT_NE(dark_at, std::string_view::npos);
  std::map<std::string, std::string> light, dark;
  ReadColours(css.substr(0, dark_at), &light);
  dark = light;
  ReadColours(css.substr(dark_at, css.find("}\n}", dark_at) - dark_at), &dark);
  EXPECT_NE(light["page"], dark["page"]);
  const std::pair<const char*, const char*> pairs[] = {
      {"text", "page"},       {"quiet", "page"},      {"bad", "page"},
      {"good", "page"},       {"look", "page"},       {"link", "page"},
      {"text", "panel"},      {"quiet", "panel"},     {"bad", "panel"},
      {"text", "bad-panel"},  {"quiet", "bad-panel"}, {"bad", "bad-panel"},
      {"link", "bad-panel"},  {"text", "look-panel"}, {"quiet", "look-panel"},
      {"link", "look-panel"}, {"on-mark", "bad"},     {"on-mark", "good"},
      {"on-mark", "look"},    {"on-span", "gemm"},    {"on-span", "compute"},
      {"on-span", "memory"},  {"on-span", "other"},   {"on-span", "cpu"},
      {"on-span", "call"}};
  for (auto* colours : {&light, &dark}) {
    for (const auto& [text, ground] : pairs) {
      ASSERT_TRUE(colours->contains(text) && colours->contains(ground)) << text << " " << ground;
      EXPECT_GE(Contrast((*colours)[text], (*colours)[ground]), 4.5)
          << text << " on " << ground << (colours == &dark ? ", dark" : ", light");
    }
  }
}

}  // namespace
}  // namespace perfgate
