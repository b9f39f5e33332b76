#include "run/machine.h"

#include <gtest/gtest.h>

namespace perfgate {
namespace {

TEST(ValueInLines, ReadsCpuinfoAndOsRelease) {
  const std::string text =
      "processor\t: 0\nmodel name\t: AMD EPYC: 9654\nPRETTY_NAME=\"Debian 12\"\nmodel\t: 1\n";
  EXPECT_EQ(ValueInLines(text, "model name", ':'), "AMD EPYC: 9654");
  EXPECT_EQ(ValueInLines(text, "model", ':'), "1");
  EXPECT_EQ(ValueInLines(text, "PRETTY_NAME", '='), "Debian 12");
  EXPECT_EQ(ValueInLines(text, "flags", ':'), "");
}

}  // namespace
}  // namespace perfgate
