// Rows of one name whose operators were called with other element types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff_rows.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KernelRow Generated(std::string_view name, std::string_view type) {
  KernelRow row = Row(name, "triton_poi_fused_gelu_mul");
  row.info.in_dtype = type;
  return row;
}

constexpr std::string_view kFirst = "triton_poi_fused_gelu_mul_0";
constexpr std::string_view kSecond = "triton_poi_fused_gelu_mul_1";

TEST(Types, ThatChangedUnderOneNameAreAChange) {
  const Diff wider = Compare(With({Generated(kFirst, "bf16")}), With({Generated(kFirst, "fp32")}));
  EXPECT_THAT(Lines(wider), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_FALSE(wider.changes[0].narrower);
  EXPECT_THAT(wider.changes[0].text, HasSubstr("another element type (bf16 to fp32)"));
  EXPECT_TRUE(Closes(wider));
  const Diff narrower =
      Compare(With({Generated(kFirst, "fp32")}), With({Generated(kFirst, "bf16")}));
  ASSERT_THAT(Lines(narrower), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_TRUE(narrower.changes[0].narrower);
}

TEST(Types, OfOneTensorAmongSeveralAreAChangeToo) {
  const Diff wider =
      Compare(With({Generated(kFirst, "bf16")}), With({Generated(kFirst, "bf16+fp32")}));
  ASSERT_THAT(Lines(wider), ElementsAre("dtype_changed +0: gelu mul"));
  EXPECT_FALSE(wider.changes[0].narrower);
  for (const std::string_view narrower : {"bf16+fp32", "bf16"}) {
    const Diff diff =
        Compare(With({Generated(kFirst, "fp32")}), With({Generated(kFirst, narrower)}));
    ASSERT_THAT(Lines(diff), ElementsAre("dtype_changed +0: gelu mul"));
    EXPECT_TRUE(diff.changes[0].narrower);
  }
}

TEST(Types, ThatOneSideDoesNotSayHaveNotChanged) {
  for (const auto& [base, head] : {std::pair{"", "fp32"}, std::pair{"fp32", ""}}) {
    const Diff diff = Compare(With({Generated(kFirst, base)}), With({Generated(kFirst, head)}));
    EXPECT_THAT(Lines(diff), IsEmpty()) << base << " " << head;
    EXPECT_TRUE(Closes(diff));
  }
}

// A kernel more in front shifts the numbers of all that follow.
TEST(Types, GoBeforeNumbering) {
  const Diff diff = Compare(With({Generated(kFirst, "bf16"), Generated(kSecond, "fp32")}),
                            With({Generated(kFirst, "fp32"), Generated(kSecond, "bf16")}));
  EXPECT_THAT(Lines(diff), IsEmpty());
}

}  // namespace
}  // namespace perfgate
