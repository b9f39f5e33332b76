// A against A: what the noise of a machine is, and what rules it can resolve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "calibration/calibration.h"
#include "stats/stats.h"
#include "stats_noise.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using enum MetricId;

const Facts kDesk = {{"cpu", "Some CPU"}, {"cpu_isa", "avx2"}, {"cores", "2"}, {"host", "desk"}};

Evidence MeasuredTwice(const std::vector<double>& base, const std::vector<double>& head) {
  Evidence evidence, other;
  evidence.case_name = "gelu";
  evidence.key.fields = {{"device", "cpu"}, {"torch", "2.11.0"}, {"definition", "d1"}};
  for (size_t i = 0; i < base.size(); ++i) {
    const int pair = static_cast<int>(i);
    other.values.push_back({kLatencyP50, Side::kBase, pair, pair, {base[i]}});
    evidence.values.push_back({kLatencyP50, Side::kHead, pair, pair, {head[i]}});
  }
  evidence.base_side = std::make_shared<const Evidence>(std::move(other));
  return evidence;
}

Calibration Of(const Machine& machine, int pairs, uint64_t seed = 1) {
  Noise noise(seed);
  const Pairs measured = MeasurePairs(noise, machine, pairs, 0);
  return Calibrate(MeasuredTwice(measured.base, measured.head), kDesk, "2027-01-31T10:15:00Z")
      .front();
}

Rule P50(double tolerance) {
  Rule rule;
  rule.full_id = "mine.yaml/p50";
  rule.where = {"mine.yaml", 3, 9};
  rule.metrics = {kLatencyP50};
  rule.check = RegressionCheck{tolerance};
  return rule;
}

TEST(Calibrating, FindsTheNoiseOfAPair) {
  // Two processes, each of 1.5 %, and the spread of their medians.
  const Calibration shared = Of({.name = "shared", .run = .015, .iteration = .001}, 200);
  EXPECT_NEAR(shared.noise, 0.015 * std::sqrt(2), 0.003);
  EXPECT_NEAR(shared.median, 1, 0.01);
  EXPECT_FALSE(shared.levels);
  EXPECT_EQ(shared.Pairs(), 200);
}

TEST(Calibrating, NeedsAsManyPairsAsAScreening) {
  const std::vector<double> four(4, 100.0), five(5, 100.0);
  EXPECT_THAT(Calibrate(MeasuredTwice(four, four), kDesk, "2027-01-31T10:15:00Z"), IsEmpty());
  EXPECT_THAT(Calibrate(MeasuredTwice(five, five), kDesk, "2027-01-31T10:15:00Z"), SizeIs(1));
}

TEST(Calibrating, TakesNothingFromEvidenceThatIsIncomplete) {
  const std::vector<double> five(5, 100.0);
  Evidence evidence = MeasuredTwice(five, five);
  evidence.incomplete_because = {"exit code 1"};
  EXPECT_THAT(Calibrate(evidence, kDesk, "2027-01-31T10:15:00Z"), IsEmpty());
}

TEST(Calibrating, SeesThatProcessesGoOneOfTwoWays) {
  EXPECT_TRUE(Of({.name = "two ways", .run = .002, .iteration = .002, .mode = .5}, 24).levels);
}

TEST(ACalibration, IsTheSameAfterItWasWrittenAndRead) {
  const Calibration before = Of(Machines()[1], 12);
  const std::optional<Calibration> after = CalibrationFromJson(ToJson(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(ToJson(*after), ToJson(before));
  EXPECT_EQ(after->Fingerprint(), before.Fingerprint());
}

TEST(ACalibration, OfAnotherSchemaIsRefused) {
  Json json = ToJson(Of(Machines()[1], 12));
  json.Set("schema", "perfgate.calibration/2");
  EXPECT_THROW(CalibrationFromJson(json), Error);
}

TEST(ACalibration, HoldsForThisMachineStackAndDefinitionOnly) {
  const std::vector<double> five(5, 100.0);
  const Evidence evidence = MeasuredTwice(five, five);
  const std::vector<Calibration> all = Calibrate(evidence, kDesk, "2027-01-31T10:15:00Z");
  Case declared;
  declared.name = "gelu";
  declared.digest = "d1";
  EXPECT_THAT(CalibrationsOf(declared, kDesk, nullptr, all), SizeIs(1));
  EXPECT_THAT(CalibrationsOf(declared, kDesk, &evidence, all), SizeIs(1));

  Facts renamed = kDesk, larger = kDesk;
  renamed["host"] = "another container";
  larger["cores"] = "64";
  EXPECT_THAT(CalibrationsOf(declared, renamed, &evidence, all), SizeIs(1));
  EXPECT_THAT(CalibrationsOf(declared, larger, &evidence, all), IsEmpty());

  Evidence upgraded = evidence;
  upgraded.key.fields["torch"] = "2.12.0";
  EXPECT_THAT(CalibrationsOf(declared, kDesk, &upgraded, all), IsEmpty());
  declared.digest = "d2";
  EXPECT_THAT(CalibrationsOf(declared, kDesk, nullptr, all), IsEmpty());
}

TEST(ACalibration, GivesWayToANewerOne) {
  const std::vector<double> five(5, 100.0);
  const Evidence evidence = MeasuredTwice(five, five);
  std::vector<Calibration> all = Calibrate(evidence, kDesk, "2027-01-31T10:15:00Z");
  all.push_back(Calibrate(evidence, kDesk, "2027-02-28T10:15:00Z").front());
  Case declared;
  declared.name = "gelu";
  const auto chosen = CalibrationsOf(declared, kDesk, &evidence, all);
  ASSERT_THAT(chosen, SizeIs(1));
  EXPECT_EQ(chosen[0].measured, "2027-02-28T10:15:00Z");
}

TEST(ARule, ThatAQuietMachineResolvesIsNotComplainedOf) {
  const std::vector<Rule> rules = {P50(0.05)};
  const auto resolved = Resolve(rules, std::vector{Of(Machines()[0], 24)});
  ASSERT_THAT(resolved, SizeIs(1));
  EXPECT_EQ(resolved[0].why_not, "");
  EXPECT_EQ(resolved[0].pairs_needed, kFewestPairs);
}

TEST(ARule, ThatNeedsMorePairsThanAreEverRunCannotBeResolved) {
  // 6 % of noise: (2.8 * 0.06 / log(1.01))^2 = 285.1 pairs for 1 %.
  Calibration noisy = Of(Machines()[1], 24);
  noisy.noise = 0.06;
  const auto resolved = Resolve(std::vector<Rule>{P50(0.01)}, std::vector{noisy});
  ASSERT_THAT(resolved, SizeIs(1));
  EXPECT_EQ(resolved[0].pairs_needed, 286);
  EXPECT_EQ(resolved[0].why_not,
            "latency.p50 varies by 6 % from pair to pair: 1 % would need 286 pairs, at most 48 are "
            "run, which resolve 2.5 %");
  EXPECT_EQ(resolved[0].next,
            "measure on a quieter machine, or set 'tolerance: 5%' in mine.yaml:3:9");
}

TEST(ARule, OnTimesThatNeverGotSteadyCannotBeResolved) {
  Calibration drifting = Of(Machines()[0], 24);
  drifting.doubt = "2 of 48 processes did not get steady";
  const auto resolved = Resolve(std::vector<Rule>{P50(0.05)}, std::vector{drifting});
  ASSERT_THAT(resolved, SizeIs(1));
  EXPECT_THAT(resolved[0].why_not, HasSubstr("did not get steady"));
}

TEST(ARule, ThatIsOffOrForAnotherCaseOrDeviceIsNotAsked) {
  Rule off = P50(0.05), other = P50(0.05), gpu = P50(0.05);
  off.severity = Severity::kOff;
  other.cases = "linear*";
  gpu.device = DeviceFilter::kCuda;
  EXPECT_THAT(Resolve(std::vector<Rule>{off, other, gpu}, std::vector{Of(Machines()[0], 24)}),
              IsEmpty());
}

TEST(SwappedLabels, HardlyEverFailAndAreRarelyUndecidedOnAQuietMachine) {
  const Calibration quiet = Of(Machines()[0], 24);
  Resolution resolution = Resolve(std::vector<Rule>{P50(0.05)}, std::vector{quiet}).front();
  SwapLabels(quiet, 500, 7, resolution);
  EXPECT_EQ(resolution.swaps, 500);
  EXPECT_EQ(resolution.failed, 0);
  EXPECT_EQ(resolution.inconclusive, 0);
}

TEST(SwappedLabels, AreUndecidedAndDoNotFailWhereTheMachineIsTooNoisy) {
  const Calibration noisy = Of(Machines()[2], 24);
  Resolution resolution = Resolve(std::vector<Rule>{P50(0.005)}, std::vector{noisy}).front();
  SwapLabels(noisy, 500, 7, resolution);
  EXPECT_LE(resolution.failed, 5);  // 1 %
  EXPECT_GT(resolution.inconclusive, 400);
}

TEST(SwappedLabels, GiveTheSameNumbersForTheSameSeed) {
  const Calibration noisy = Of(Machines()[2], 24);
  Resolution first = Resolve(std::vector<Rule>{P50(0.02)}, std::vector{noisy}).front();
  Resolution second = first;
  SwapLabels(noisy, 200, 7, first);
  SwapLabels(noisy, 200, 7, second);
  EXPECT_EQ(first.inconclusive, second.inconclusive);
}

TEST(Percent, IsRoundedUpToWhatAPersonReads) {
  EXPECT_EQ(PercentUp(0.00312), "0.32 %");
  EXPECT_EQ(PercentUp(0.0401), "4.1 %");
  EXPECT_EQ(PercentUp(0.04), "4 %");
  EXPECT_EQ(PercentUp(0.231), "24 %");
}

}  // namespace
}  // namespace perfgate
