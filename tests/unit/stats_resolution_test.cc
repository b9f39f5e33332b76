// What pairs of a known noise can show, held against simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stats/stats.h"
#include "stats_noise.h"

namespace perfgate {
namespace {

TEST(Rate, OfNothingInFiftyNineIsBelowFivePercent) {  // statistics: 0 of 59, 0 of 299
  EXPECT_LT(UpperBoundOfRate(0, 59), 0.05);
  EXPECT_GT(UpperBoundOfRate(0, 58), 0.05);
  EXPECT_LT(UpperBoundOfRate(0, 299), 0.01);
  EXPECT_GT(UpperBoundOfRate(0, 298), 0.01);
  EXPECT_NEAR(UpperBoundOfRate(1, 10), 0.3942, 0.0001);  // Clopper and Pearson's table
  EXPECT_EQ(UpperBoundOfRate(0, 0), 1);
  EXPECT_EQ(UpperBoundOfRate(4, 4), 1);
}

TEST(Tolerance, NeedsFourTimesThePairsForHalfOfIt) {
  EXPECT_EQ(PairsToResolve(0.04, 0.04), 9);             // (2.8 * 0.04 / log(1.04))^2 = 8.2
  EXPECT_EQ(PairsToResolve(0.04, 0.02), 32);            // 31.99
  EXPECT_EQ(PairsToResolve(0.01, 0.02), kFewestPairs);  // 2 would do, but prove nothing
  EXPECT_EQ(PairsToResolve(0, 0.02), kFewestPairs);
  EXPECT_NEAR(ResolvableTolerance(0.04, 32), 0.02, 0.0001);
}

struct Tally {
  int asked = 0;              // for a confirmation
  int first = 0, second = 0;  // passed by the first one, by the first or the second
};

Tally PassesOfUnchangedCode(double noise, double tolerance) {
  Noise chance(11);
  Tally tally;
  const Machine machine{.name = "normal", .run = noise / std::sqrt(2.0), .iteration = 0};
  for (int i = 0; i < 1000; ++i) {
    int rounds = 0;
    const PairsVerdict verdict = DecideInRounds(tolerance, [&](int count) {
      ++rounds;
      return MeasurePairs(chance, machine, count, 0);
    });
    tally.asked += rounds > 1;
    tally.first += verdict == PairsVerdict::kPass && rounds == 2;
    tally.second += verdict == PairsVerdict::kPass && rounds > 1;
  }
  return tally;
}

TEST(Tolerance, ThatPairsResolvePassesUnchangedCodeAsPromised) {
  const Tally tally = PassesOfUnchangedCode(0.03, ResolvableTolerance(0.03, kComparisonPairs));
  EXPECT_GT(tally.asked, 700);  // the screening passes few
  EXPECT_GT(tally.first, tally.asked * 3 / 4);
  EXPECT_GT(tally.second, tally.asked * 19 / 20);
}

// Of 500 comparisons of 12 pairs of 3 % noise, with the change that they should find.
int FoundOf500(double tolerance) {
  Noise chance(12);
  const Machine machine{.name = "normal", .run = 0.03 / std::sqrt(2.0), .iteration = 0};
  const double change = DetectableChange(0.03, 12, tolerance);
  int found = 0;
  for (int i = 0; i < 500; ++i) {
    const Pairs measured = MeasurePairs(chance, machine, 12, change);
    found += ComparePairs(measured.base, measured.head, {.tolerance = tolerance}).verdict ==
             PairsVerdict::kFail;
  }
  return found;
}

TEST(Change, ThatIsDetectableIsFoundNineTimesInTen) {
  EXPECT_GT(FoundOf500(0.001), 420);
  EXPECT_GT(FoundOf500(0.08), 425);
}

TEST(Change, IsFoundThreeTimesInFourWhereToleranceAndNoiseAreEquallyHard) {
  EXPECT_GT(FoundOf500(0.02), 350);
}

TEST(Family, PlansMorePairsWhereTheNoiseIsKnownToAskForThem) {
  const PairedMetric suspicious{0.02, {{5, {100, 100, 100, 100, 100}, {105, 106, 104, 105, 106}}}};
  PairedMetric noisy = suspicious, hopeless = suspicious;
  noisy.known_noise = 0.04;
  hopeless.known_noise = 1;
  const auto times = CompareFamily(std::vector{suspicious, noisy, hopeless});
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].pairs_wanted, kComparisonPairs);
  EXPECT_EQ(times[1].pairs_wanted, 32);
  EXPECT_EQ(times[2].pairs_wanted, kMostPlannedPairs);
}

}  // namespace
}  // namespace perfgate
