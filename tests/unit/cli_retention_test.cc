#include "cli/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfgate::cli {
namespace {

using testing::ElementsAre;

RunFacts Finished(const std::string& started) {
  RunFacts run;
  run.id = started;
  run.started = started;
  run.finished = true;
  run.of_this_suite = true;
  return run;
}

RunFacts Interrupted(const std::string& started) {
  RunFacts run = Finished(started);
  run.finished = false;
  return run;
}

TEST(Retention, TheNewestStayAndAnInterruptedRunTakesNoPlace) {
  const std::vector<RunFacts> runs = {Interrupted("6"), Finished("5"),    Interrupted("4"),
                                      Finished("3"),    Interrupted("2"), Finished("1")};
  EXPECT_THAT(WhyKept(runs, {2, {}}), ElementsAre("of the newest 2", "the newest",
                                                  "of the newest 2", "of the newest 2", "", ""));
}

TEST(Retention, YoungOnesStayToTheSecond) {
  const std::vector<RunFacts> runs = {
      Finished("2027-01-31T10:15:02Z"), Finished("2027-01-31T10:15:01Z"),
      Finished("2027-01-31T10:15:00Z"), Finished("2027-01-31T10:14:59Z")};
  EXPECT_THAT(WhyKept(runs, {{}, "2027-01-31T10:15:00Z"}),
              ElementsAre("the newest", "young", "young", ""));
}

TEST(Retention, EitherReasonIsEnough) {
  const std::vector<RunFacts> runs = {Finished("5"), Finished("4"), Finished("3"), Finished("2")};
  EXPECT_THAT(WhyKept(runs, {2, "3"}), ElementsAre("the newest", "of the newest 2", "young", ""));
}

TEST(Retention, TheNewestFinishedRunStaysWhateverIsAsked) {
  const std::vector<RunFacts> runs = {Interrupted("3"), Finished("2"), Finished("1")};
  EXPECT_THAT(WhyKept(runs, {}), ElementsAre("", "the newest", ""));
}

TEST(Retention, AcceptedRunsAndThoseOfOtherSuitesStayAndTakeTheirPlacesOnlyAmongTheirOwn) {
  std::vector<RunFacts> runs = {Finished("5"), Finished("4"), Finished("3"), Finished("2"),
                                Finished("1")};
  runs[0].of_this_suite = false;
  runs[3].accepted = true;
  EXPECT_THAT(WhyKept(runs, {1, {}}),
              ElementsAre("of another suite", "the newest", "", "a baseline is from it", ""));
}

TEST(Retention, WhatARuleComparesWithSinceACommitStays) {
  std::vector<RunFacts> runs = {Finished("3"), Finished("2"), Finished("1")};
  runs[2].since = true;
  EXPECT_THAT(WhyKept(runs, {1, {}}),
              ElementsAre("the newest", "", "a rule compares with it ('since')"));
}

TEST(Retention, WhatMayBeRunningStays) {
  std::vector<RunFacts> runs = {Finished("2"), Interrupted("1")};
  runs[1].may_be_running = true;
  EXPECT_THAT(WhyKept(runs, {1, {}}), ElementsAre("the newest", "not finished: it may be running"));
}

}  // namespace
}  // namespace perfgate::cli
