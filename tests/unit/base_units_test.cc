#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/units.h"

namespace perfgate {
namespace {

void ExpectQuantity(std::string_view text, double value, Unit unit) {
  const auto quantity = ParseQuantity(text);
  ASSERT_TRUE(quantity.has_value()) << text;
  EXPECT_DOUBLE_EQ(quantity->value, value) << text;
  EXPECT_EQ(quantity->unit, unit) << text;
}

TEST(Quantities, CarryUnits) {
  ExpectQuantity("30s", 30e9, Unit::kNanoseconds);
  ExpectQuantity("200us", 200e3, Unit::kNanoseconds);
  ExpectQuantity("1.5 ms", 1.5e6, Unit::kNanoseconds);
  ExpectQuantity("2min", 120e9, Unit::kNanoseconds);
  ExpectQuantity("64MiB", 64.0 * 1048576, Unit::kBytes);
  ExpectQuantity("+3%", 0.03, Unit::kRatio);
  ExpectQuantity("-2us", -2e3, Unit::kNanoseconds);
  ExpectQuantity("+0", 0, Unit::kCount);
  EXPECT_TRUE(ParseQuantity("5%")->percent);
  EXPECT_FALSE(ParseQuantity("0.01")->percent);
}

TEST(Quantities, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "s", "5 parsecs", "++3", "+-3", "nan", "inf", "1e999", "3 %%", "0x10", "5 5", "five"}) {
    EXPECT_FALSE(ParseQuantity(text).has_value()) << text;
  }
}

TEST(Values, ReadWell) {
  EXPECT_EQ(FormatValue(640, Unit::kNanoseconds), "640 ns");
  EXPECT_EQ(FormatValue(12345, Unit::kNanoseconds), "12.3 us");
  EXPECT_EQ(FormatValue(1200000, Unit::kNanoseconds), "1.20 ms");
  EXPECT_EQ(FormatValue(999600, Unit::kNanoseconds), "1.00 ms");
  EXPECT_EQ(FormatValue(2.5e9, Unit::kNanoseconds), "2.50 s");
  EXPECT_EQ(FormatValue(67108864, Unit::kBytes), "64 MiB");
  EXPECT_EQ(FormatValue(1000, Unit::kBytes), "1000 B");
  EXPECT_EQ(FormatValue(5, Unit::kCount), "5");
  EXPECT_EQ(FormatValue(5.5, Unit::kCount), "5.50");
  EXPECT_EQ(FormatValue(0.0025, Unit::kRatio), "0.0025");
  EXPECT_EQ(FormatValue(std::numeric_limits<double>::quiet_NaN(), Unit::kCount), "nan");
}

}  // namespace
}  // namespace perfgate
