// What the reader mends, cuts off and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "trace/trace.h"
#include "trace_reading.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Repair {
  const char* what;
  std::string event;
  const char* name;  // of the event as read
  const char* warning;
};

class Repairs : public testing::TestWithParam<Repair> {};

TEST_P(Repairs, AreMadeAndReported) {
  TraceBuilder builder;
  builder.Raw(GetParam().event).Raw(std::string(kOp));
  const TraceData trace = Read(builder.Json());
  ASSERT_EQ(trace.events.size(), 2U) << trace.incomplete;
  EXPECT_EQ(trace.Text(trace.events[0].name), GetParam().name);
  EXPECT_EQ(trace.incomplete, "");
  EXPECT_THAT(trace.warnings, Contains(HasSubstr(GetParam().warning)));
}

std::string Named(const std::string& name, const std::string& args = "") {
  return R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,"args":{)" + args +
         R"(},"name":")" + name + "\"}";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Repairs,
    testing::Values(
        Repair{"windows_path", Named(R"(torch\cuda\__init__)"), R"(torch\cuda\__init__)",
               "2 invalid escapes"},
        Repair{"short_unicode", Named(R"(a\u12 b)"), R"(a\u12 b)",
               "1 invalid escape inside strings, taken literally"},
        Repair{"half_a_character", Named(R"(a\ud83d b)"), "a\xEF\xBF\xBD b",
               "1 invalid escape inside strings, taken literally"},
        Repair{"control_byte", Named("a\x01z"), "a z", "1 control byte "},
        Repair{"nul_byte", Named(std::string("a\0z", 3)), "a z", "1 control byte "},
        Repair{"raw_newline", Named("a\nz"), "a z", "1 control byte "},
        Repair{"not_utf8", Named("a\xFFz"), "a\xEF\xBF\xBDz", "1 name that is not UTF-8"},
        Repair{"bare_inf", Named("a", R"x("memory bandwidth (GB/s)": inf)x"), "a",
               "1 bare inf or nan value,"},
        Repair{"bare_nan", Named("a", R"("x": [NaN, -Infinity])"), "a",
               "2 bare inf or nan values,"},
        Repair{"stray_comma", Named("a", R"("x": 1,, "y": 2)"), "a",
               "1 comma without a value before, left out"},
        Repair{"long_number", Named("a", "\"x\": " + std::string(5000, '7')), "a",
               "1 number longer"},
        Repair{"negative",
               R"({"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":1,"dur":-1})", "n",
               "1 event with a negative or impossible duration"}),
    [](const auto& named) { return named.param.what; });

TEST(TraceReader, TakesATrailingCommaAndAByteOrderMark) {
  const TraceData trace =
      Read("\xEF\xBB\xBF{\"traceEvents\": [" + std::string(kOp) + ",], \"x\": {\"y\": 1,},}");
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.incomplete, "");
  EXPECT_THAT(trace.warnings, Contains(HasSubstr("byte order mark")));
}

TEST(TraceReader, KeepsACharacterOfTwoHalves) {
  EXPECT_EQ(ReadOne(Named(R"(\ud83d\ude00 \u00e9)")).Text(1), "\xF0\x9F\x98\x80 \xC3\xA9");
}

TEST(TraceReader, IgnoresNumbersBeyondInt64InFieldsItDoesNotUse) {
  const TraceData trace =
      ReadOne(Named("a", R"("Comms Id": 18446744073709551615, "n": 999999999999999999999999)"));
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.incomplete, "");
}

TEST(TraceReader, CutsAStringOfMegabytes) {
  const TraceData trace = ReadOne(Named(std::string(3'000'000, 'k')));
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_LE(trace.Text(trace.events[0].name).size(), 65536U);
  EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 string longer than 256 KiB, cut")));
}

TEST(TraceReader, CutsALongNameBetweenTwoCharacters) {
  std::string name = "k";
  while (name.size() < 70'000) name += "\xF0\x9F\x98\x80";
  const TraceData trace = ReadOne(Named(name));
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.Text(trace.events[0].name), name.substr(0, 65'533));
  EXPECT_THAT(trace.warnings, testing::IsEmpty());
}

TEST(TraceReader, RefusesDepthWithoutRecursion) {
  const TraceData trace = ReadOne(Named("a", "\"x\": " + std::string(100'000, '[')));
  EXPECT_THAT(trace.incomplete, HasSubstr("nested deeper than 512 levels"));
}

TEST(TraceReader, ATextWithBracketsEndsNothing) {
  const TraceData trace =
      Read("{\"traceName\": \"[Strategy]}\", \"traceEvents\": [" + std::string(kOp) + "]}");
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.incomplete, "");
}

TEST(TraceReader, BrokenTextBehindTheEventsIsAWarning) {
  TraceBuilder builder;
  builder.Raw(std::string(kOp)).Footer(R"(, "INFO": [STAGE: warm-up])");
  const TraceData trace = Read(builder.Json());
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.incomplete, "");
  EXPECT_THAT(trace.warnings, Contains(HasSubstr("behind the events, not used")));
}

TEST(TraceReader, BrokenTextBeforeTheEventsIsNot) {
  TraceBuilder builder;
  builder.Raw(std::string(kOp)).Header(R"("INFO": [STAGE: warm-up],)");
  EXPECT_THAT(Read(builder.Json()).incomplete, HasSubstr("broken JSON at byte"));
}

TEST(TraceReader, QuotesInsideLogLinesAreMendedWhereverTheyStand) {
  const std::string log = R"("INFO": ["id "event_id": 64", "a, "b""])";
  for (const bool before : {true, false}) {
    TraceBuilder builder;
    builder.Raw(std::string(kOp));
    if (before) {
      builder.Header(log + ",");
    } else {
      builder.Footer(", " + log);
    }
    const TraceData trace = Read(builder.Json());
    EXPECT_EQ(trace.events.size(), 1U);
    EXPECT_EQ(trace.incomplete, "");
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("4 quotes inside strings")));
  }
}

TEST(TraceReader, AListInPlaceOfAnEventIsNoEvidence) {
  TraceBuilder builder;
  builder.Raw(std::string(kOp)).Raw("[" + std::string(kOp) + ", {\"ts\": 1.5}]");
  const TraceData trace = Read(builder.Json());
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.incomplete, "1 list stands in place of an event: what it holds is not read");
}

TEST(TraceReader, WhatAListInPlaceOfAnEventHoldsIsNoFieldOfAnEvent) {
  const std::string whole = R"({"ts": 10, "ph": "X", "cat": "cpu_op", "name": "a", "dur": 1})";
  const TraceData trace = Read("{\"traceEvents\": [" + whole + R"(, {"ts": 1}, [1.5]]})");
  EXPECT_TRUE(trace.whole_microseconds);
}

TEST(TraceReader, ASecondDocumentIsNoWholeTrace) {
  TraceBuilder builder;
  builder.Raw(std::string(kOp));
  EXPECT_THAT(Read(builder.Json() + builder.Json()).incomplete,
              HasSubstr("a second document follows at byte"));
}

}  // namespace
}  // namespace perfgate
