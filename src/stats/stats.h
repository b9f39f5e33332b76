// Plain numbers in and out: no files, no clocks, no random numbers. The same values give the same
// answer on every machine. What each function promises was simulated: tests/bench/stats_bench.cc.
//
// One process run is one value: iterations of one process are not independent, so they are first
// reduced to that run's percentile, and runs are what is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace perfgate {

// ---- One sample --------------------------------------------------------------------------------

// The middle value; of an even number of values the mean of the two in the middle. 0 of none.
double Median(std::vector<double> values);

// The middle value; of an even number of values the lower of the two in the middle, so that it is
// one that was measured. 0 of none.
int64_t LowerMedian(std::vector<int64_t> values);

// The median of the distances from the median, in the unit of the values; times 1.4826 it estimates
// the standard deviation of normal values. 0 of none.
double MedianAbsoluteDeviation(std::vector<double> values);

// The nearest-rank percentile, or nothing below the minimum sample count at which the one-sided
// 95 % bound of that percentile exists (statistics: n >= ln(0.05)/ln(p)): p50 5, p95 59, p99 299.
std::optional<int64_t> Percentile(std::span<const int64_t> samples, double p);

// The least number of samples for Percentile(p).
int MinimumSamples(double p);

// Two measured values between which the percentile of the whole population lies.
struct PercentileInterval {
  int64_t low = 0, high = 0;
};

// The distribution-free interval of a percentile from order statistics, equal tails, of independent
// samples (David & Nagaraja, Order Statistics, 7.1); or nothing below the least number of samples.
// Iterations of one process are seldom independent: between 300 of them with a correlation of 0.5
// the interval is too narrow by a factor of 1.7. To be shown beside a percentile, not to be judged.
std::optional<PercentileInterval> IntervalOfPercentile(std::span<const int64_t> samples, double p,
                                                       double confidence = 0.95);

// The least number of samples for IntervalOfPercentile; at 95 %: p50 6, p95 72, p99 368.
int MinimumSamplesOfInterval(double p, double confidence = 0.95);

// Two groups of values, by their medians.
struct TwoLevels {
  double low = 0, high = 0;
  int low_count = 0, high_count = 0;
};

// The two groups that values of runs fall into: between them, with at least a fifth of the values
// on each side, is a gap over 8 times the mean of the other gaps and over 2 % of the median. Of 12
// normal values 0.3 % of samples look so by chance; two groups 8 standard deviations apart are seen
// in 8 of 10. Nothing of one group, or of fewer than 10 values.
std::optional<TwoLevels> FindTwoLevels(std::vector<double> values);

// ---- Pairs of runs -----------------------------------------------------------------------------

// The Hodges-Lehmann estimate of the centre of symmetric differences: the median of the n(n+1)/2
// Walsh averages (d_i + d_j)/2, i <= j. 0 of none.
double HodgesLehmann(std::span<const double> differences);

// Which of the sorted Walsh averages of n differences, from 1, is their centre's lower bound with
// an error of at most alpha, one-sided, exactly (Hollander & Wolfe, Nonparametric Statistical
// Methods, 3.3); the upper bound is the same one from the other end. 0: n is too small for any.
int SignedRankBound(int n, double alpha);

// The least n with a bound: at 5 % 5, at 1 % 7.
int MinimumPairs(double alpha);

// Wilcoxon's exact one-sided p value that the differences are centred at 0 or below. It inverts the
// bound: p <= alpha where the lower bound is above 0. Zeros and ties count against a shift.
double SignedRankP(std::span<const double> differences);

// Holm's step-down correction: adjusted p values in the order given. A family of tests of which
// those with an adjusted p <= alpha are believed has a false one with a probability of at most
// alpha, however the tests depend on each other (Holm 1979).
std::vector<double> AdjustByHolm(std::span<const double> p);

enum class PairsVerdict { kPass, kFail, kInconclusive };

// What keeps pairs of runs from a verdict.
enum class Undecided {
  kNothing,      // they have one
  kTooFewPairs,  // no exact bound exists for so few
  kTooWide,      // the interval holds both "unchanged" and "slower than tolerated"
  kBimodal,  // runs go one of two ways, by chance: the ratios of head to base fall in two groups
  kFamily,   // among so many comparisons, chance alone explains one like this
  kNotPositive,  // a value is zero, negative or not finite: there is no ratio
};

struct ComparisonSettings {
  double tolerance = 0.05;   // a rise up to this is tolerated, as a ratio less 1
  double alpha_fail = 0.01;  // error of the lower bound
  double alpha_pass = 0.05;  // error of the upper bound
};

struct Comparison {
  PairsVerdict verdict = PairsVerdict::kInconclusive;
  Undecided undecided = Undecided::kNothing;
  bool improved = false;  // passed, and faster by more than the tolerance, at alpha_fail
  int pairs = 0;
  // Ratios of head to base less 1: 0.05 is 5 % slower. Bounds exist from MinimumPairs on.
  double shift = 0;
  std::optional<double> lower, upper;
  double p = 1;       // one-sided, that head is not slower; to be corrected by ApplyHolm
  double noise = 0;   // standard deviation of one pair's log ratio, robust
  double spread = 0;  // the same, to which a single wild pair counts
  // The change that would be found 9 times in 10 with so many pairs of this noise.
  double detectable = 0;
  // If inconclusive: how many pairs would decide if shift and noise stay as they are, all measured
  // afresh; nothing where no number would: the shift is the tolerance itself, or there is no ratio.
  std::optional<int> pairs_to_decide;
};

// Compares pairs of runs by their values (base[i] and head[i] were measured side by side; any unit,
// lower is better). Fails if the lower bound of the Hodges-Lehmann shift of the log ratios is above
// 0 *and* the shift is above the tolerance; passes if the upper bound is below the tolerance, and
// so many pairs of this noise can tell it (ResolvableTolerance) or head is faster beyond doubt, and
// no group of pairs apart from the others is slower than tolerated; is inconclusive else. Unchanged
// code fails with a probability of at most alpha_fail, in practice under a tenth of that; a change
// of exactly the tolerance fails every second time. Throws Error(kBug) if the sides have different
// sizes or the tolerance is not above 0.
Comparison ComparePairs(std::span<const double> base, std::span<const double> head,
                        const ComparisonSettings& settings = {});

// Takes the fails back that a family of so many comparisons does not support: Holm over all of
// them, with `alpha` for the family.
void ApplyHolm(std::vector<Comparison>& family, double alpha = 0.05);

// A first look with few pairs: whether they call for a comparison with *fresh* pairs. Not so, the
// metric passes as screened, a weaker word than passed: a change of just the tolerance goes unseen
// in 1 of 100, one of twice that hardly ever. Pairs of a screening may not be used again to fail
// it.
bool IsSuspicious(std::span<const double> base, std::span<const double> head, double tolerance);
inline constexpr int kScreeningPairs = 5;
inline constexpr int kComparisonPairs = 12;
// Comparisons, each of fresh pairs, that one suspicion may get: the errors are shared out among
// them.
inline constexpr int kMostComparisons = 2;
// Fewer prove nothing with the share of the errors that one of them has.
inline constexpr int kFewestPairs = 8;

// The pairs of one round of a metric: its screening, or a confirmation by fresh pairs.
struct PairsOfRound {
  int planned = 0;
  std::vector<double> base, head;  // of the pairs in which both sides have a value
};

// One of a run's comparisons: its rounds so far, the screening first.
struct PairedMetric {
  double tolerance = 0.05;
  std::vector<PairsOfRound> rounds;
  double known_noise = 0;  // of a pair, from a calibration; 0: unknown
};

// What its pairs say of it, by the last round that counts: the numbers are of the pairs that
// decide, of a pass all so far, else those of the round; all too where only they keep it from a
// pass.
struct PairedTimes {
  int round = 0;              // that the numbers are of; 0: the screening, which can only pass
  int planned = 0;            // pairs of that round
  int earlier = 0;            // pairs of rounds before it, among those that the numbers are of
  int pairs_wanted = 0;       // of a confirmation, by the number of comparisons and known noise
  bool wants_pairs = false;   // undecided, and a confirmation by fresh pairs is left
  double base = 0, head = 0;  // medians over those pairs
  Comparison comparison;
};

// The verdicts of all of a run's comparisons, which are one family: the more there are, the surer a
// single one must be. What a screening does not pass is decided by a confirmation, the errors of
// which are shared out among kMostComparisons: it fails by its own pairs, and passes by all so far.
// Those before it were followed up because head looked slow in them: they would make a fail too
// easy, and a pass harder, if anything. Every member needs a screening.
std::vector<PairedTimes> CompareFamily(std::span<const PairedMetric> family);

// ---- What pairs of a known noise can show ------------------------------------------------------

// The change, as a ratio less 1, that so many pairs with this noise (the standard deviation of one
// pair's log ratio) find about 9 times in 10, where up to `tolerance` is tolerated; 3 times in 4
// where to be significant and to be above the tolerance are equally hard.
double DetectableChange(double noise, int pairs, double tolerance = 0);

// The least tolerance that so many pairs can tell from no change: with it a confirmation passes
// unchanged code in 3 of 4 cases, two of them in 19 of 20.
double ResolvableTolerance(double noise, int pairs);

// How many pairs of a confirmation resolve a tolerance; at least kFewestPairs.
int PairsToResolve(double noise, double tolerance);
// More than so many are never planned: what needs more, a machine cannot resolve.
inline constexpr int kMostPlannedPairs = 48;

// The upper bound of a rate of which `events` were seen in `trials` independent trials, exact
// (Clopper & Pearson 1934), one-sided. 1 without a trial.
double UpperBoundOfRate(int events, int trials, double confidence = 0.95);

// ---- Series ------------------------------------------------------------------------------------

struct ChangePoint {
  size_t index = 0;              // of the first value after the change
  double before = 0, after = 0;  // medians of the stretches on both sides
  double gain = 0;  // how much better two levels fit than one, in units of what chance gives; > 1
};

struct ChangePointSettings {
  size_t minimum_segment = 5;   // values between two changes, and before the first
  double minimum_size = 0.01;   // smaller changes of the median, relative to it, are left out
  bool autocorrelated = false;  // neighbours are alike without a change: ask for more
};

// Where the level of a series changes: the partition of its ranks that fits best (optimal
// partitioning, Jackson et al. 2005, of Kruskal-Wallis' statistic, Lung-Yut-Fong et al. 2015), with
// a price for each change such that of 100 series that only vary at random at most one shows any,
// whatever the distribution; again inside each stretch. It finds changes that were taken back too.
// A clean step is found once 5 values lie behind it, of 13 or more. Slow drift shows as steps.
// Time: n^2; a series of over 2000 values is searched in its last 2000.
std::vector<ChangePoint> FindChangePoints(std::span<const double> values,
                                          const ChangePointSettings& settings = {});

// The least number of values in which FindChangePoints can find anything with the default settings.
inline constexpr size_t kMinimumSeries = 13;

// The least number of sessions that a series must have before a rule compares with it.
inline constexpr int kHistorySessions = 20;

enum class HistoryVerdict {
  kPass,
  kFail,
  kInconclusive,  // slower than tolerated, and within what the sessions vary by
  kUnconfirmed,   // slower than tolerated, and not measured a second time
};

// Ratios to the median of the past less 1: 0.05 is 5 % slower.
struct HistoryComparison {
  HistoryVerdict verdict = HistoryVerdict::kPass;
  double median = 0;             // of the past, in its unit
  double noise = 0;              // standard deviation of one session, robust
  double limit = 0;              // beyond it both sessions fail
  double first = 0;              // of the session
  std::optional<double> second;  // of the one that was to confirm it
  bool bimodal = false;          // the past falls into two groups: nothing fails
};

// Compares a session (one value, lower is better) with those of a stored series. Passes unless it
// is above the median by more than the tolerance and a second, fresh session is too; fails if both
// are beyond the limit: the tolerance, 3 standard deviations of a session, or the second slowest of
// the past, whatever is the largest. Nothing fails where the past falls into two groups; the second
// slowest is for machines of which one group is seldom.
// Simulated, 20 sessions that vary by 2 %, tolerance 5 %: unchanged code fails in 0.01 % of runs,
// code that is 10 % slower in 89 %, code that is 5 % slower in 15 %: for gross changes.
// Throws Error(kBug) for fewer than 2 sessions, for a value that is not above 0 and for a tolerance
// that is not.
HistoryComparison CompareWithHistory(std::span<const double> past, double first,
                                     std::optional<double> second, double tolerance);

enum class Steadiness {
  kSteady,
  kNotSteady,  // the level changed too late, or again and again
  kDrifting,   // slowly slower or faster until the end
  kBimodal,    // two levels by turns
};
std::string_view ToString(Steadiness steadiness);  // "yes", "no", "drifting", "bimodal"

struct SteadyLevel {
  Steadiness steadiness = Steadiness::kNotSteady;
  int warmup_iterations = 0;  // until the steady level began; all, if there is none
  double drift = 0;           // over the last level, or its last steps, relative to it
};

// Judges the times of a process' iterations, in order, any unit. Steady: from some iteration on, in
// at least the last third, all but less than a fifth lie on levels within `tolerance`, without a
// slope of more than that over the series and without two groups (after Barrett et al. 2017,
// "Virtual machine warmup blows hot and cold"). A short disturbance is no level, wherever it lies:
// it moves no median. The tolerance is the usual one of a rule on times: machines at rest move by
// 3 % within 200 iterations. Nothing below 30 iterations.
std::optional<SteadyLevel> FindSteadyState(std::span<const int64_t> iterations,
                                           double tolerance = 0.05);

// Values beyond Tukey's fences: 1.5 and 3 interquartile ranges from the quartiles. They are counted
// and named, never left out.
struct Outliers {
  int beyond = 0;      // 1.5 and more, the far ones too
  int far_beyond = 0;  // 3 and more
};
Outliers CountOutliers(std::span<const int64_t> samples);

// ---- Tensors -----------------------------------------------------------------------------------

// How far a tensor is from another one, element by element. NaN in both places, and infinities of
// one sign in both, are alike: no difference.
struct TensorError {
  int64_t compared = 0;  // pairs of elements
  int64_t numbers = 0;   // pairs of two finite elements
  int64_t unlike = 0;    // pairs of which not both are finite, and that are not alike
  // ||values - reference|| / ||reference||, 2-norms in double over the pairs of numbers. Infinity
  // if any pair is unlike, or the reference is all zeros and the values are not.
  double relative = 0;
  double largest = 0;  // of |value - reference|; infinity if any pair is unlike
  // The pair that is furthest apart, by its place in what was fed: the first that is unlike, if
  // any, else the first with the largest difference.
  int64_t at = 0;
  float value = 0, reference = 0;
};

// Sums up the error of a tensor that is fed in pieces, so that none need be held whole.
class TensorErrorSum {
 public:
  // The next elements of both, equally many.
  void Add(std::span<const float> values, std::span<const float> reference);
  TensorError Total() const;

 private:
  void AddUnlike(int64_t at, float value, float reference);
  void AddNumbers(int64_t at, float value, float reference);

  TensorError error_;
  double square_sum_ = 0, reference_square_sum_ = 0;
};

}  // namespace perfgate
