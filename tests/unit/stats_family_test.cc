// Which pairs count for which verdict, over the rounds of a comparison.
#include <gtest/gtest.h>

#include <vector>

#include "stats/stats.h"

namespace perfgate {
namespace {

// Ratios of head to base less 1: `count` about the same one, `spread` apart from the next.
std::vector<double> About(double shift, int count, double spread) {
  std::vector<double> shifts;
  for (int i = 0; i < count; ++i) shifts.push_back(shift + spread * (i - (count - 1) / 2.0));
  return shifts;
}

PairsOfRound PairsOf(const std::vector<double>& shifts) {
  PairsOfRound pairs{static_cast<int>(shifts.size()), {}, {}};
  for (const double shift : shifts) {
    pairs.base.push_back(100);
    pairs.head.push_back(100 * (1 + shift));
  }
  return pairs;
}

PairedMetric Measured(const std::vector<std::vector<double>>& rounds) {
  PairedMetric metric{0.02, {}, 0};
  for (const std::vector<double>& shifts : rounds) metric.rounds.push_back(PairsOf(shifts));
  return metric;
}

PairedTimes TimesOf(const std::vector<std::vector<double>>& rounds) {
  return CompareFamily(std::vector{Measured(rounds)}).front();
}

const std::vector<double> kSuspicious = About(0.015, 5, 0.004);

TEST(AConfirmation, PassesByAllPairsAndShowsTheirNumbers) {
  const PairedTimes times = TimesOf({kSuspicious, About(0, 12, 0.002)});
  EXPECT_EQ(times.comparison.verdict, PairsVerdict::kPass);
  EXPECT_EQ(times.round, 1);
  EXPECT_EQ(times.planned, 12);
  EXPECT_EQ(times.comparison.pairs, 17);
  EXPECT_EQ(times.earlier, 5);
  EXPECT_NEAR(times.head, 100.5, 0.11);  // the middle one of the 17
  EXPECT_FALSE(times.wants_pairs);
}

TEST(AConfirmation, ThatIsTooNoisyAlonePassesWithThePairsBeforeIt) {
  const std::vector<double> noisy = About(0, 8, 0.012);
  const PairsOfRound alone = PairsOf(noisy);
  ASSERT_EQ(ComparePairs(alone.base, alone.head, {.tolerance = 0.02}).verdict,
            PairsVerdict::kInconclusive);
  EXPECT_EQ(TimesOf({About(0.011, 5, 0.0005), noisy}).comparison.verdict, PairsVerdict::kPass);
}

TEST(AConfirmation, DoesNotPassAgainstThePairsBeforeIt) {
  const std::vector<double> same = About(0, 12, 0.001);
  const PairedTimes times = TimesOf({About(0.10, 5, 0.004), same});
  EXPECT_EQ(times.comparison.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(times.comparison.pairs, 17);
  EXPECT_GT(*times.comparison.upper, 0.02);
  EXPECT_EQ(times.earlier, 5);
  EXPECT_EQ(times.comparison.pairs_to_decide, std::nullopt);
  EXPECT_TRUE(times.wants_pairs);
}

TEST(AConfirmation, OutvotesPairsThatWereALittleSlower) {
  const std::vector<double> same = About(0, 12, 0.001);
  EXPECT_EQ(TimesOf({About(0.03, 5, 0.004), same, same}).comparison.verdict, PairsVerdict::kPass);
}

TEST(AConfirmation, NeverFailsByThePairsBeforeIt) {
  const std::vector<double> unproven = About(0.025, 12, 0.008);
  const PairedTimes times = TimesOf({About(0.10, 5, 0.004), unproven});
  EXPECT_EQ(times.comparison.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(times.comparison.pairs, 12);  // the numbers are of the round that could have failed
  EXPECT_EQ(times.earlier, 0);
  EXPECT_LT(*times.comparison.lower, 0);
}

TEST(AConfirmation, OfTwoGroupsDoesNotPassByThePairsBeforeIt) {
  std::vector<double> modes = About(0, 9, 0.0002);
  for (int i = 0; i < 3; ++i) modes.push_back(0.05 + 0.0002 * i);
  const PairedTimes times = TimesOf({About(0.011, 5, 0.0005), modes});
  EXPECT_EQ(times.comparison.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(times.comparison.undecided, Undecided::kBimodal);
  EXPECT_FALSE(times.wants_pairs);
}

TEST(AConfirmation, DoesNotPassWhatOnlyTheSizeOfTheFamilyKeptFromFailing) {
  std::vector<PairedMetric> family(200, Measured({About(0, 5, 0)}));
  family.front() =
      Measured({About(0.03, 5, 0.0001), About(0.03, 12, 0.0001), About(0.015, 12, 0.0001)});
  const PairedTimes times = CompareFamily(family).front();
  EXPECT_EQ(times.comparison.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(times.comparison.pairs, 29);
  EXPECT_EQ(times.comparison.pairs_to_decide, std::nullopt);
}

}  // namespace
}  // namespace perfgate
