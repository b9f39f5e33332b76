#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stats/stats.h"

namespace perfgate {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TensorError Of(const std::vector<float>& values, const std::vector<float>& reference) {
  TensorErrorSum sum;
  sum.Add(values, reference);
  return sum.Total();
}

TEST(TensorErrors, TheRelativeErrorIsThatOfTheNorms) {
  const TensorError error = Of({3, 4.5F, 0}, {3, 4, 0});
  EXPECT_DOUBLE_EQ(error.relative, 0.5 / 5);
  EXPECT_DOUBLE_EQ(error.largest, 0.5);
  EXPECT_EQ(error.at, 1);
  EXPECT_EQ(error.value, 4.5F);
  EXPECT_EQ(error.reference, 4.0F);
  EXPECT_EQ(error.compared, 3);
  EXPECT_EQ(error.numbers, 3);
}

TEST(TensorErrors, PiecesGiveTheSameAsTheWhole) {
  TensorErrorSum pieces;
  pieces.Add(std::vector<float>{1, 2}, std::vector<float>{1, 2});
  pieces.Add(std::vector<float>{}, std::vector<float>{});
  pieces.Add(std::vector<float>{3, 4}, std::vector<float>{3, 5});
  const TensorError whole = Of({1, 2, 3, 4}, {1, 2, 3, 5});
  EXPECT_EQ(pieces.Total().relative, whole.relative);
  EXPECT_EQ(pieces.Total().at, 3);
  EXPECT_EQ(whole.at, 3);
}

TEST(TensorErrors, EqualTensorsHaveNone) {
  const TensorError error = Of({0, -1}, {0, -1});
  EXPECT_EQ(error.relative, 0);
  EXPECT_EQ(error.largest, 0);
  EXPECT_EQ(Of({}, {}).compared, 0);
  EXPECT_EQ(Of({}, {}).relative, 0);
}

TEST(TensorErrors, ANanThatTheReferenceHasNotIsInfinitelyFar) {
  const TensorError error = Of({1, 9, kNan, kNan}, {1, 2, 3, 4});
  EXPECT_EQ(error.relative, kInf);
  EXPECT_EQ(error.largest, kInf);
  EXPECT_EQ(error.unlike, 2);
  EXPECT_EQ(error.at, 2);
  EXPECT_TRUE(std::isnan(error.value));
  EXPECT_EQ(error.reference, 3.0F);
}

TEST(TensorErrors, ANanThatOnlyTheReferenceHasIsInfinitelyFarToo) {
  EXPECT_EQ(Of({1, 2}, {1, kNan}).relative, kInf);
  EXPECT_EQ(Of({1, 2}, {1, kInf}).relative, kInf);
}

TEST(TensorErrors, InfinitiesOfOtherSignsAndNanAgainstInfinityAreUnlike) {
  EXPECT_EQ(Of({kInf}, {-kInf}).unlike, 1);
  EXPECT_EQ(Of({kInf}, {kNan}).unlike, 1);
}

TEST(TensorErrors, NanInBothPlacesIsNoDifferenceAndNoNumber) {
  const TensorError error = Of({kNan, kInf, -kInf, 2}, {kNan, kInf, -kInf, 1});
  EXPECT_EQ(error.unlike, 0);
  EXPECT_EQ(error.numbers, 1);
  EXPECT_EQ(error.compared, 4);
  EXPECT_EQ(error.relative, 1);
  EXPECT_EQ(error.at, 3);
  EXPECT_EQ(Of({kNan}, {kNan}).numbers, 0);
}

TEST(TensorErrors, WhatIsNotZeroIsInfinitelyFarFromZeros) {
  const TensorError error = Of({0, 1e-6F}, {0, 0});
  EXPECT_EQ(error.relative, kInf);
  EXPECT_EQ(error.largest, 1e-6F);
  EXPECT_EQ(error.at, 1);
}

TEST(TensorErrors, TheLargestNumbersOfFloatDoNotOverflow) {
  const float most = std::numeric_limits<float>::max();
  const TensorError error = Of({most, -most}, {-most, most});
  EXPECT_DOUBLE_EQ(error.relative, 2);
  EXPECT_DOUBLE_EQ(error.largest, 2 * double{most});
}

}  // namespace
}  // namespace perfgate
