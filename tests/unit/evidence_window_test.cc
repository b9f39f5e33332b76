// Steps found by time, and operators nested by thread.
#include "evidence/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evidence/host.h"

namespace perfgate {
namespace {

using ::testing::ElementsAre;

TEST(StepCursor, FindsTheStepsThatTheWindowFindsWhateverItFoundLast) {
  // Side by side, with a gap, one without length, and one inside another.
  const Window window{{{0, 10}, {10, 20}, {25, 25}, {25, 40}, {30, 35}, {50, 60}}, true};
  std::mt19937 random(1);
  StepCursor cursor(window);
  for (int i = 0; i < 10'000; ++i) {
    const int64_t ns = static_cast<int64_t>(random() % 70) - 5;
    ASSERT_EQ(cursor.At(ns), window.StepAt(ns)) << ns;
  }
}

TEST(HostTree, NestsThreadsThatTakeTurnsInTheFile) {
  TraceData trace;
  const auto add = [&trace](std::string_view thread, int64_t start_ns, int64_t duration_ns) {
    TraceEvent event;
    event.name = trace.texts.Intern("aten::linear");
    event.thread = trace.texts.Intern(thread);
    event.start_ns = start_ns;
    event.duration_ns = duration_ns;
    trace.events.Push(event);
  };
  add("7", 0, 100);
  add("5", 10, 100);
  add("7", 20, 10);
  add("5", 30, 10);
  add("7", 10, 50);
  const HostTree host = BuildHostTree(trace);
  EXPECT_THAT(host.order, ElementsAre(0, 4, 2, 1, 3));
  EXPECT_THAT(host.parent, ElementsAre(kNoOperator, kNoOperator, 4, 1, 0));
}

}  // namespace
}  // namespace perfgate
