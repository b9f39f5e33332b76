#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

std::string MessageOf(std::string_view text) {
  try {
    ParseJson(text, "x.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInput);
    return error.what();
  }
  return "no error";
}

TEST(JsonText, ReadsBackWhatItWrote) {
  Json json;
  json.Set("name", "geglu \"x\" \n\t\\ µ");
  json.Set("big", std::numeric_limits<int64_t>::max());
  json.Set("small", std::numeric_limits<int64_t>::min());
  json.Set("third", 1.0 / 3);
  json.Set("none", Json());
  json.Set("yes", true);
  json.Set("rows", Json::ArrayOf(std::vector<int>{1, 2, 3}));
  json.Set("empty", Json(Json::Object{}));
  for (const int depth : {0, 1, 2, 1000}) {
    EXPECT_EQ(ParseJson(WriteJson(json, depth), "x.json"), json);
  }
}

TEST(JsonText, RowsStandOnOneLineFromTheGivenDepth) {
  Json row;
  row.Set("a", 1).Set("b", 2);
  Json json;
  json.Set("rows", Json(Json::Array{row, row}));
  EXPECT_EQ(WriteJson(json, 2),
            "{\n  \"rows\": [\n    {\"a\": 1, \"b\": 2},\n    {\"a\": 1, \"b\": 2}\n  ]\n}\n");
}

TEST(JsonText, NotANumberIsNullAndBadBytesAreReplaced) {
  EXPECT_EQ(WriteJson(Json(std::numeric_limits<double>::quiet_NaN())), "null\n");
  EXPECT_EQ(WriteJson(Json("a\xFF")), "\"a\xEF\xBF\xBD\"\n");
}

TEST(JsonErrors, SayFileLineColumnAndReason) {
  EXPECT_THAT(MessageOf("{\"a\": 1,\n \"b\": }"), HasSubstr("x.json:2:7: "));
  EXPECT_THAT(MessageOf(""), HasSubstr("empty"));
  EXPECT_THAT(MessageOf("{} {}"), HasSubstr("not be followed"));
  EXPECT_THAT(MessageOf("{\"a\":1,\"a\":2}"), HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(MessageOf(std::string(100000, '[')), HasSubstr("deeper than 256"));
  EXPECT_NE(MessageOf("[1e999]"), "no error");
  EXPECT_EQ(MessageOf("[NaN]"),
            "x.json:1:2: NaN is not JSON (Python's json.dump writes it): write null or leave the "
            "key out");
  EXPECT_THAT(MessageOf("{\"a\": Infinity}"), HasSubstr("x.json:1:7: Infinity is not JSON"));
  EXPECT_THAT(MessageOf("[1, -Infinity]"), HasSubstr("-Infinity is not JSON"));
  EXPECT_THAT(MessageOf("[-x]"), HasSubstr("Invalid value"));
  EXPECT_NE(MessageOf("[\"\xFF\"]"), "no error");
  EXPECT_NE(MessageOf(std::string_view("[\"a\0b\"]", 7)), "no error");
}

TEST(JsonErrors, WrongKindsAreNamed) {
  const Json json = ParseJson("{\"a\": \"x\", \"b\": 1.5}", "x.json");
  EXPECT_THROW(
      {
        try {
          json.At("b").AsInt();
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(), "expected a whole number, found a number");
          throw;
        }
      },
      Error);
  EXPECT_THROW(json.At("c"), Error);
  EXPECT_EQ(json.Find("c"), nullptr);
  EXPECT_EQ(json.At("a").Find("b"), nullptr);
}

TEST(JsonErrors, ACountThatIsNoneIsToldWithItsKey) {
  const auto message_of = [](const Json& json, int64_t most) {
    try {
      AsCount(json, "count", most);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(AsCount(Json(0), "count"), 0);
  EXPECT_EQ(AsCount(Json(INT64_MAX), "count"), INT64_MAX);
  EXPECT_EQ(message_of(Json(-1), INT64_MAX), "count: expected a whole number from 0 on, found -1");
  EXPECT_EQ(message_of(Json(8), 7), "count: expected a whole number from 0 to 7, found 8");
  EXPECT_EQ(message_of(Json(1.5), 7), "count: expected a whole number from 0 to 7, found a number");
  EXPECT_EQ(message_of(Json(), 7), "count: expected a whole number from 0 to 7, found null");
}

// Hundreds of digits before an exponent led RapidJSON outside of a table.
TEST(JsonNumbers, OfManyDigitsAreReadOrRefused) {
  const std::string digits(200, '1');
  EXPECT_THROW(ParseJson("[-" + digits + "e308]", "x.json"), Error);
  EXPECT_DOUBLE_EQ(ParseJson("[" + digits + "e-199]", "x.json").AsArray()[0].AsNumber(),
                   1.1111111111111112);
  EXPECT_EQ(ParseJson("[1e-400]", "x.json").AsArray()[0].AsNumber(), 0);
  EXPECT_EQ(ParseJson("[9223372036854775807]", "x.json").AsArray()[0].AsInt(), 9223372036854775807);
}

}  // namespace
}  // namespace perfgate
