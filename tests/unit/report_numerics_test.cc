// Outputs and their errors, as `perfgate inspect` and a page show them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/numerics.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

OutputRow Output(const std::string& name, int process, double relative) {
  OutputRow row;
  row.name = name;
  row.dtype = "bf16";
  row.shape = {2, 3};
  row.process = process;
  row.nan_count = row.inf_count = 0;
  OutputError error;
  error.relative = relative;
  error.largest = relative * 4;
  error.index = {1, 2};
  error.value = 1.5;
  error.reference = 1.25;
  row.error = error;
  return row;
}

Evidence Compared() {
  Evidence evidence;
  evidence.reference = "geglu[dtype=fp32]";
  evidence.outputs = {Output("y", 0, 0.01), Output("logits", 0, 0), Output("y", 1, 0.02)};
  return evidence;
}

TEST(NumericsText, EachOutputIsTheWorstOfItsProcesses) {
  EXPECT_EQ(
      NumericsAsText(Compared()),
      "\noutputs against geglu[dtype=fp32]\n"
      " relative   absolute\n"
      "     0.02       0.08  y bf16 [2, 3], furthest at [1, 2]: 1.5 for 1.25, NaN 0, infinite 0\n"
      "        0          0  logits bf16 [2, 3], equal everywhere, NaN 0, infinite 0\n");
}

TEST(NumericsText, WithoutAReferenceOnlyWhatIsNotFiniteIsSaid) {
  Evidence evidence;
  EXPECT_EQ(NumericsAsText(evidence), "");
  evidence.outputs = {Output("y", 0, 0)};
  evidence.outputs[0].error.reset();
  evidence.outputs[0].nan_count = 3;
  evidence.outputs[0].inf_count = -1;
  EXPECT_THAT(NumericsAsText(evidence),
              AllOf(HasSubstr("\noutputs\n"), HasSubstr("y bf16 [2, 3], NaN 3, infinite unknown"),
                    Not(HasSubstr("relative"))));
}

TEST(NumericsText, AnInfiniteErrorIsCalledInfinite) {
  Evidence evidence = Compared();
  OutputError& error = *evidence.outputs[0].error;
  error.relative = error.largest = std::numeric_limits<double>::infinity();
  error.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(NumericsAsText(evidence),
              HasSubstr(" infinite   infinite  y bf16 [2, 3], furthest at "
                        "[1, 2]: NaN for 1.25"));
}

TEST(NumericsMarkdown, IsATableInWhichHostileNamesAreHarmless) {
  Evidence evidence = Compared();
  evidence.outputs[0].name = "y|<b>@you\n";
  const std::string text = NumericsAsMarkdown(evidence);
  EXPECT_THAT(text, HasSubstr("| 0.01 | 0.04 |"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_THAT(text, Not(HasSubstr("@you")));
}

TEST(NumericsHtml, IsATableInWhichHostileNamesAreHarmless) {
  Evidence evidence = Compared();
  evidence.outputs[0].name = "<script>";
  const std::string text = NumericsAsHtml(evidence);
  EXPECT_THAT(text, AllOf(HasSubstr("outputs against geglu[dtype=fp32]"), HasSubstr("0.01"),
                          HasSubstr("&lt;script&gt;"), Not(HasSubstr("<script>"))));
}

}  // namespace
}  // namespace perfgate
