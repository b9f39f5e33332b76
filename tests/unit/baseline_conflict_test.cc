#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baseline/baseline.h"

namespace perfgate {
namespace {

TEST(MergeConflict, SidesArePartedAtTheMarkersWithTheirNames) {
  const auto conflict = ParseConflict(
      "{\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"a\": 2\n>>>>>>> topic/x\n  \"b\": 3\n}\n");
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->ours.label, "HEAD");
  EXPECT_EQ(conflict->theirs.label, "topic/x");
  EXPECT_THAT(conflict->ours.text, testing::StartsWith("{\n  \"a\": 1\n  \"b\": 3\n}\n"));
  EXPECT_THAT(conflict->theirs.text, testing::StartsWith("{\n  \"a\": 2\n  \"b\": 3\n}\n"));
}

TEST(MergeConflict, WhatStoodThereBeforeBothIsOfNoSide) {
  const auto conflict =
      ParseConflict("<<<<<<< HEAD\r\n1\r\n||||||| 1a2b3c4\r\n0\r\n=======\r\n2\r\n>>>>>>> b\r\n");
  ASSERT_TRUE(conflict);
  EXPECT_THAT(conflict->ours.text, testing::StartsWith("1\r\n"));
  EXPECT_THAT(conflict->ours.text, testing::Not(testing::HasSubstr("0")));
  EXPECT_THAT(conflict->theirs.text, testing::StartsWith("2\r\n"));
  EXPECT_THAT(conflict->theirs.text, testing::Not(testing::HasSubstr("0")));
}

TEST(MergeConflict, MarkersThatAreCutOffAreAConflictToo) {
  EXPECT_TRUE(ParseConflict("{\n<<<<<<< HEAD\n  1\n"));
  EXPECT_TRUE(ParseConflict("{\n<<<<<<< HEAD\n  1\n=======\n  2\n}\n"));
}

TEST(MergeConflict, LinesThatLookLikeMarkersInsideOfABaselineAreNone) {
  EXPECT_FALSE(ParseConflict("{\n  \"reason\": \"<<<<<<< HEAD\"\n}\n"));
  EXPECT_FALSE(ParseConflict("=======\n>>>>>>> topic\n"));
  EXPECT_FALSE(ParseConflict("<<<<<<<HEAD\n"));
}

}  // namespace
}  // namespace perfgate
