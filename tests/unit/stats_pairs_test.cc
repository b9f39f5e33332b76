#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

// Hamilton's depression scores before and after, of the help page of R's wilcox.test (Hollander &
// Wolfe 1973, table 3.1). R: wilcox.test(x, y, paired = TRUE, alternative = "greater", conf.int =
// TRUE) gives V = 40, p-value = 0.01953, pseudomedian 0.46.
const std::vector<double> kDepression = {.952, -.147, 1.022, .430, .620, .590, .490, -.080, .010};

// SciPy 1.17: wilcoxon(d, alternative="greater", method="exact") gives 71 and 0.004638671875.
const std::vector<double> kTwelve = {.012, -.003, .021, .008, .015,  -.001,
                                     .03,  .004,  .009, .017, -.006, .011};

TEST(SignedRanks, GiveTheShiftAndThePValueThatRAndSciPyGive) {
  EXPECT_NEAR(HodgesLehmann(kDepression), 0.46, 1e-12);
  EXPECT_DOUBLE_EQ(SignedRankP(kDepression), 0.01953125);
  EXPECT_NEAR(HodgesLehmann(kTwelve), 0.00975, 1e-12);
  EXPECT_DOUBLE_EQ(SignedRankP(kTwelve), 0.004638671875);
  EXPECT_EQ(HodgesLehmann({}), 0);
  EXPECT_EQ(SignedRankP({}), 1);
}

// Hollander & Wolfe, table A.4, by the same indices as the bounds of wilcox.test in R.
TEST(SignedRanks, BoundsAreTheTabledWalshAverages) {
  const std::vector<int> sizes = {7, 8, 9, 10, 11, 12, 14, 16, 20, 24};
  const auto bounds = [&](double alpha) {
    std::vector<int> found;
    for (const int n : sizes) found.push_back(SignedRankBound(n, alpha));
    return found;
  };
  EXPECT_THAT(bounds(0.05), ElementsAre(4, 6, 9, 11, 14, 18, 26, 36, 61, 92));
  EXPECT_THAT(bounds(0.01), ElementsAre(1, 2, 4, 6, 8, 10, 16, 24, 44, 70));
  EXPECT_THAT(bounds(0.001), ElementsAre(0, 0, 0, 1, 2, 3, 7, 12, 27, 46));
}

TEST(SignedRanks, NeedAtLeastAsManyPairsAsTheErrorAsksFor) {
  EXPECT_EQ(MinimumPairs(0.05), 5);
  EXPECT_EQ(MinimumPairs(0.01), 7);
  EXPECT_EQ(SignedRankBound(MinimumPairs(0.01) - 1, 0.01), 0);
  EXPECT_EQ(SignedRankBound(MinimumPairs(0.01), 0.01), 1);
  EXPECT_EQ(SignedRankBound(0, 0.5), 0);
}

TEST(SignedRanks, CountPairsWithoutADifferenceAgainstAShift) {
  EXPECT_EQ(SignedRankP(std::vector<double>(12, 0.0)), 1);
  EXPECT_GT(SignedRankP(std::vector<double>{0, 0, 0, 0, .1, .1, .1, .1}), 0.05);
}

// R: p.adjust(c(.01, .04, .03, .005, .2), "holm").
TEST(HolmsCorrection, GivesWhatRGives) {
  EXPECT_THAT(AdjustByHolm(std::vector<double>{.01, .04, .03, .005, .2}),
              Pointwise(DoubleNear(1e-12), {.04, .09, .09, .025, .2}));
  EXPECT_THAT(AdjustByHolm({}), ElementsAre());
}

// `count` pairs of which head is slower by `change`, give or take `noise`.
struct Measured {
  std::vector<double> base, head;
};
Measured Pairs(int count, double change, double noise) {
  Measured pairs;
  for (int i = 0; i < count; ++i) {
    const double machine = 1 + 0.1 * (i % 3);  // common to both
    pairs.base.push_back(100 * machine);
    pairs.head.push_back(100 * machine * (1 + change) * std::exp(noise * ((i * 5) % 7 - 3) / 2));
  }
  return pairs;
}
Comparison Compared(const Measured& pairs, double tolerance = 0.05) {
  return ComparePairs(pairs.base, pairs.head, {.tolerance = tolerance});
}

TEST(Comparisons, FailOnlyWhatIsSlowerForSureAndByMoreThanTheTolerance) {
  const Comparison slower = Compared(Pairs(12, 0.08, 0.01));
  EXPECT_EQ(slower.verdict, PairsVerdict::kFail);
  EXPECT_EQ(slower.undecided, Undecided::kNothing);
  EXPECT_NEAR(slower.shift, 0.08, 0.005);
  EXPECT_GT(*slower.lower, 0.05);
  EXPECT_LT(slower.p, 0.001);
  EXPECT_EQ(slower.pairs, 12);

  const Comparison tolerated = Compared(Pairs(12, 0.02, 0.005));
  EXPECT_GT(*tolerated.lower, 0);
  EXPECT_EQ(tolerated.verdict, PairsVerdict::kPass);
  EXPECT_FALSE(tolerated.improved);
}

TEST(Comparisons, PassWhatIsFasterAndSaySo) {
  const Comparison faster = Compared(Pairs(12, -0.1, 0.01));
  EXPECT_EQ(faster.verdict, PairsVerdict::kPass);
  EXPECT_TRUE(faster.improved);
  EXPECT_NEAR(faster.shift, -0.1, 0.005);
}

TEST(Comparisons, OfFewPairsAreInconclusiveAndSayHowManyWouldDecide) {
  const Comparison few = Compared(Pairs(6, 0.3, 0.01));
  EXPECT_EQ(few.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(few.undecided, Undecided::kTooFewPairs);
  EXPECT_EQ(few.lower, std::nullopt);
  EXPECT_EQ(few.pairs_to_decide, 7);
  EXPECT_EQ(Compared({}).undecided, Undecided::kTooFewPairs);
  EXPECT_EQ(Compared({}).pairs_to_decide, std::nullopt);
}

TEST(Comparisons, OfNoisyPairsAreInconclusiveAndMorePairsDecide) {
  const Comparison noisy = Compared(Pairs(8, 0.02, 0.08));
  EXPECT_EQ(noisy.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(noisy.undecided, Undecided::kTooWide);
  ASSERT_TRUE(noisy.pairs_to_decide);
  EXPECT_GT(*noisy.pairs_to_decide, 8);
  Measured more;  // the same noise, without steps that look like groups
  for (int i = 0; i < 2 * *noisy.pairs_to_decide; ++i) {
    more.base.push_back(100);
    more.head.push_back(102 * std::exp(0.24 * (std::fmod(0.618034 * i, 1) - 0.5)));
  }
  EXPECT_EQ(Compared(more).verdict, PairsVerdict::kPass);
  EXPECT_GT(noisy.detectable, 0.05);
}

TEST(Comparisons, OfAShiftThatIsTheToleranceAreNotDecidedByMorePairs) {
  const Comparison between = Compared(Pairs(14, 0.0499, 0.05));
  EXPECT_EQ(between.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(between.pairs_to_decide, std::nullopt);
}

TEST(Comparisons, DoNotFailWhereASideRunsInTwoWays) {
  Measured pairs;
  for (int i = 0; i < 12; ++i) {
    pairs.base.push_back(80 + 0.01 * i);
    pairs.head.push_back((i % 3 == 0 ? 82 : 125) + 0.01 * i);
  }
  const Comparison bimodal = Compared(pairs, 0.02);
  EXPECT_GT(*bimodal.lower, 0);
  EXPECT_EQ(bimodal.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(bimodal.undecided, Undecided::kBimodal);
}

// The slower way of a quarter of the runs is no noise, though the others outvote it.
TEST(Comparisons, DoNotPassWhereSomeRunsAreSlowerThanTolerated) {
  Measured pairs;
  for (int i = 0; i < 12; ++i) {
    pairs.base.push_back(100 + 0.01 * i);
    pairs.head.push_back((i % 4 == 0 ? 103.8 : 100) + 0.01 * (12 - i));
  }
  const Comparison some = Compared(pairs, 0.02);
  EXPECT_LT(*some.upper, 0.02);
  EXPECT_EQ(some.verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(some.undecided, Undecided::kBimodal);
  EXPECT_EQ(Compared(pairs, 0.05).verdict, PairsVerdict::kPass);
}

TEST(Comparisons, OfTwoZerosAreOfEqualTimes) {
  const Measured nothing{std::vector<double>(12, 0), std::vector<double>(12, 0)};
  EXPECT_EQ(Compared(nothing).verdict, PairsVerdict::kPass);
  EXPECT_FALSE(IsSuspicious(nothing.base, nothing.head, 0.05));
}

TEST(Comparisons, OfValuesWithoutARatioAreInconclusive) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, kNan, kInfinity}) {
    for (const bool in_head : {false, true}) {
      Measured pairs = Pairs(12, 0, 0.01);
      (in_head ? pairs.head : pairs.base)[3] = value;
      EXPECT_EQ(Compared(pairs).verdict, PairsVerdict::kInconclusive) << value;
      EXPECT_EQ(Compared(pairs).undecided, Undecided::kNotPositive) << value;
      EXPECT_EQ(Compared(pairs).pairs_to_decide, std::nullopt) << value;
      EXPECT_TRUE(IsSuspicious(pairs.base, pairs.head, 0.05)) << value;
    }
  }
}

TEST(Comparisons, RefuseSidesOfDifferentSizesAndNoTolerance) {
  const std::vector<double> one = {1}, two = {1, 2};
  EXPECT_THROW(ComparePairs(one, two), Error);
  EXPECT_THROW(ComparePairs(two, two, {.tolerance = 0}), Error);
  EXPECT_THROW(IsSuspicious(two, two, std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(Comparisons, OfEqualTimesPass) {
  const Comparison equal = Compared(Pairs(8, 0, 0));
  EXPECT_EQ(equal.verdict, PairsVerdict::kPass);
  EXPECT_EQ(equal.shift, 0);
  EXPECT_EQ(equal.noise, 0);
}

TEST(AFamilyOfComparisons, TakesFailsBackThatItsSizeExplains) {
  const Comparison fail = Compared(Pairs(8, 0.2, 0.01));
  ASSERT_EQ(fail.verdict, PairsVerdict::kFail);
  ASSERT_DOUBLE_EQ(fail.p, 1.0 / 256);
  std::vector<Comparison> small(12, Compared(Pairs(8, 0, 0.01)));
  std::vector<Comparison> large(13, Compared(Pairs(8, 0, 0.01)));
  small.back() = large.back() = fail;
  ApplyHolm(small);
  ApplyHolm(large);
  EXPECT_EQ(small.back().verdict, PairsVerdict::kFail);
  EXPECT_EQ(large.back().verdict, PairsVerdict::kInconclusive);
  EXPECT_EQ(large.back().undecided, Undecided::kFamily);
  EXPECT_EQ(large.back().pairs_to_decide, 10);
  EXPECT_EQ(large.front().verdict, PairsVerdict::kPass);
}

TEST(AScreening, PassesOnlySmallShifts) {
  const Measured same = Pairs(kScreeningPairs, 0.01, 0.002);
  const Measured slower = Pairs(kScreeningPairs, 0.05, 0.002);
  EXPECT_FALSE(IsSuspicious(same.base, same.head, 0.05));
  EXPECT_TRUE(IsSuspicious(slower.base, slower.head, 0.05));
  EXPECT_TRUE(IsSuspicious({}, {}, 0.05));
}

TEST(Runs, AreBimodalWithAGapBetweenTwoLargeGroups) {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back((i % 2 == 0 ? 80 : 125) + 0.1 * ((i * 5) % 12));
  const std::optional<TwoLevels> levels = FindTwoLevels(values);
  ASSERT_TRUE(levels);
  EXPECT_NEAR(levels->low, 80, 2);
  EXPECT_NEAR(levels->high, 125, 2);
  EXPECT_EQ(levels->low_count, 6);
  EXPECT_EQ(levels->high_count, 6);
  for (double& value : values) value = value > 100 ? value - 45 : value;
  EXPECT_FALSE(FindTwoLevels(values));
  values[3] = values[4] = 125;  // two of twelve are outliers
  EXPECT_FALSE(FindTwoLevels(values));
  EXPECT_FALSE(FindTwoLevels({1, 1, 1, 2, 2, 2}));
  EXPECT_FALSE(FindTwoLevels({}));
}

}  // namespace
}  // namespace perfgate
