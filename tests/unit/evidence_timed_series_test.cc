// What the iterations of timed windows show after the fact.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "stats_noise.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// 200 iterations of a machine at rest.
std::vector<int64_t> Times(const std::function<double(int)>& level) {
  Noise noise(1);
  std::vector<int64_t> times;
  for (const double ripple : noise.Iterations(Machine(), 200)) {
    times.push_back(static_cast<int64_t>(level(static_cast<int>(times.size())) * ripple));
  }
  return times;
}

std::vector<int64_t> Flat() {
  return Times([](int) { return 100'000.0; });
}
std::vector<int64_t> Rising() {
  return Times([](int i) { return 100'000.0 + 200 * i; });
}
std::vector<int64_t> Mixed() {
  return Times([](int i) { return i * 7 % 5 < 2 ? 130'000.0 : 100'000.0; });
}

// The warm-up of the first `restless` processes did not get steady, as they say.
std::vector<AttemptData> AttemptsOf(const std::vector<std::vector<int64_t>>& latencies,
                                    int restless) {
  std::vector<AttemptData> attempts;
  for (const std::vector<int64_t>& latency_ns : latencies) {
    AttemptData data;
    data.attempt.process = static_cast<int>(attempts.size());
    data.attempt.phase = Phase::kTimed;
    data.samples.emplace();
    data.samples->steady = data.attempt.process >= restless;
    data.samples->warmup_iterations = 20;
    data.samples->latency_ns = latency_ns;
    attempts.push_back(std::move(data));
  }
  return attempts;
}

Evidence EvidenceOf(const std::vector<std::vector<int64_t>>& latencies, bool until_steady = true,
                    int restless = 0) {
  Case declared;
  declared.name = "geglu";
  declared.argv = {"true"};
  declared.windows.warmup_until_steady = until_steady;
  return Extract(declared, AttemptsOf(latencies, restless), "/out", {});
}

TEST(TimedSeriesOfProcesses, ThatAreFlatAreSteadyAtOnce) {
  const Evidence evidence = EvidenceOf({Flat()});
  ASSERT_EQ(evidence.timed_series.size(), 1U);
  const TimedSeries& series = evidence.timed_series[0];
  EXPECT_EQ(series.name, "latency");
  EXPECT_EQ(series.steady, "yes");
  EXPECT_EQ(series.warmup_iterations, 0);
  EXPECT_EQ(evidence.not_steady, "");
  EXPECT_EQ(Summarise(evidence, MetricId::kWarmupIterations).value, 20);
}

TEST(TimedSeriesOfProcesses, WithWarmUpLeftCountItAsWarmUp) {
  const Evidence evidence =
      EvidenceOf({Times([](int i) { return i < 60 ? 140'000.0 : 100'000.0; })});
  EXPECT_EQ(evidence.timed_series[0].steady, "yes");
  EXPECT_NEAR(evidence.timed_series[0].warmup_iterations, 60, 2);
  EXPECT_EQ(evidence.not_steady, "");
  EXPECT_EQ(Summarise(evidence, MetricId::kWarmupIterations).value,
            20 + evidence.timed_series[0].warmup_iterations);
}

TEST(TimedSeriesOfProcesses, CountNoWarmUpInTheirPercentilesAndOutliers) {
  const Evidence evidence =
      EvidenceOf({Times([](int i) { return i < 120 ? 140'000.0 : 100'000.0; })});
  EXPECT_EQ(evidence.timed_series[0].steady, "yes");
  EXPECT_NEAR(evidence.timed_series[0].warmup_iterations, 120, 2);
  EXPECT_NEAR(*Summarise(evidence, MetricId::kLatencyP50).value, 100'000, 2000);
  EXPECT_LT(*Summarise(evidence, MetricId::kLatencyP95).value, 110'000);
  EXPECT_EQ(evidence.timed_series[0].far_outliers, 0);
  EXPECT_EQ(evidence.not_steady, "");
}

TEST(TimedSeriesOfProcesses, TakeWarmUpIntoAPercentileThatNeedsIt) {
  std::vector<int64_t> times;
  for (int i = 0; i < 400; ++i) times.push_back((i < 200 ? 140'000 : 100'000) + i * 37 % 100);
  const Evidence evidence = EvidenceOf({times});
  EXPECT_EQ(evidence.timed_series[0].warmup_iterations, 200);
  EXPECT_LT(*Summarise(evidence, MetricId::kLatencyP95).value, 100'100);
  // 299 iterations are needed, 200 follow the warm-up.
  EXPECT_GT(*Summarise(evidence, MetricId::kLatencyP99).value, 140'000);
}

TEST(TimedSeriesOfProcesses, ThatDriftAreSaidToDrift) {
  const Evidence evidence = EvidenceOf({Rising()});
  EXPECT_EQ(evidence.timed_series[0].steady, "drifting");
  EXPECT_THAT(evidence.not_steady, HasSubstr("latencies are not steady: they drift by +"));
  EXPECT_THAT(evidence.notes_on_times, Contains(evidence.not_steady));
  EXPECT_EQ(evidence.dispatch_not_steady, "");
}

TEST(TimedSeriesOfProcesses, ThatMixTwoLevelsAreBimodal) {
  const Evidence evidence = EvidenceOf({Mixed(), Rising()});
  EXPECT_EQ(evidence.timed_series[0].steady, "bimodal");
  EXPECT_THAT(evidence.not_steady,
              HasSubstr("not steady in 2 of 2 processes: they go between two levels, they drift"));
}

TEST(TimedSeriesOfProcesses, OfWhichFewAreDisturbedAreNotedOnly) {
  const Evidence evidence = EvidenceOf({Flat(), Mixed()});
  EXPECT_EQ(evidence.not_steady, "");
  EXPECT_THAT(evidence.notes_on_times,
              Contains("latencies are not steady in 1 of 2 processes: they go between two levels"));
}

TEST(TimedSeriesOfProcesses, CountTheWordOfTheWorkloadOnItsWarmUpProcessByProcess) {
  const Evidence one = EvidenceOf({Flat(), Flat(), Flat()}, true, 1);
  EXPECT_EQ(one.not_steady, "");
  EXPECT_THAT(one.notes_on_times,
              Contains("latencies are not steady in 1 of 3 processes: their warm-up did not reach "
                       "a steady state"));
  EXPECT_NE(EvidenceOf({Flat(), Flat(), Flat()}, true, 2).not_steady, "");
  EXPECT_EQ(EvidenceOf({Flat()}, true, 1).not_steady,
            "latencies are not steady: their warm-up did not reach a steady state");
}

TEST(TimedSeriesOfProcesses, OnTwoLevelsByProcessAreNoted) {
  std::vector<std::vector<int64_t>> processes;
  for (int i = 0; i < 12; ++i) {
    processes.emplace_back(200, (i * 7 % 12 < 5 ? 130'000 : 100'000) + i);
  }
  const Evidence evidence = EvidenceOf(processes);
  EXPECT_THAT(evidence.notes_on_times,
              Contains("median latencies of 12 processes lie on two levels: 7 near 100 us, 5 near "
                       "130 us"));
  EXPECT_EQ(evidence.not_steady, "");
}

TEST(TimedSeriesOfProcesses, AreTakenFromTheSamplesAgainInPlaceOfWhatEvidenceSays) {
  const Evidence fresh = EvidenceOf({Flat(), Mixed(), Rising()});
  Evidence stored = EvidenceFromJson(ToJson(EvidenceOf({Flat(), Flat()})));
  TakeTimes(Case(), AttemptsOf({Flat(), Mixed(), Rising()}, 0), stored);
  EXPECT_EQ(WriteJson(ToJson(stored).At("metrics").At("latency.p50"), 0),
            WriteJson(ToJson(fresh).At("metrics").At("latency.p50"), 0));
  EXPECT_EQ(stored.not_steady, fresh.not_steady);
  EXPECT_EQ(stored.notes_on_times, fresh.notes_on_times);
  EXPECT_EQ(stored.timed.size(), 3U);
  EXPECT_EQ(stored.timed_series.size(), 3U);
  TakeTimes(Case(), {}, stored);
  EXPECT_EQ(stored.timed_series.size(), 3U);
}

TEST(TimesOfProcesses, ThatOneOfThemDidNotReportAreUnavailableAndSayHowMany) {
  std::vector<AttemptData> attempts = AttemptsOf({Flat(), Flat(), Flat(), Flat(), Flat()}, 0);
  attempts[2].samples->load_ns = 1000;
  Evidence evidence;
  TakeTimes(Case(), attempts, evidence);
  EXPECT_EQ(Summarise(evidence, MetricId::kColdStartLoad).unavailable,
            "4 of 5 timed processes did not report it");
  EXPECT_TRUE(Summarise(evidence, MetricId::kLatencyP50).value);
  attempts[4].samples.reset();
  TakeTimes(Case(), attempts, evidence);
  EXPECT_EQ(Summarise(evidence, MetricId::kLatencyP50).unavailable,
            "1 of 5 timed processes did not report it");
}

TEST(TimesOfProcesses, ThatAllOfOnePhaseReportAreAvailable) {
  std::vector<AttemptData> attempts = AttemptsOf({Flat(), Flat(), Flat()}, 0);
  attempts[2].attempt.phase = Phase::kTraced;
  for (int i : {0, 1}) attempts[static_cast<size_t>(i)].samples->load_ns = 1000;
  Evidence evidence;
  TakeTimes(Case(), attempts, evidence);
  EXPECT_EQ(Summarise(evidence, MetricId::kColdStartLoad).value, 1000);
}

TEST(TimedSeriesOfProcesses, OfASuiteThatAsksForNoSteadyStateAreShownOnly) {
  const Evidence evidence = EvidenceOf({Rising()}, false);
  EXPECT_EQ(evidence.timed_series[0].steady, "drifting");
  EXPECT_EQ(evidence.not_steady, "");
  EXPECT_THAT(evidence.notes_on_times, IsEmpty());
}

TEST(TimedSeriesOfProcesses, SayPercentilesWithIntervalsOrWhatTheyNeed) {
  const Evidence evidence = EvidenceOf({Flat()});
  const std::vector<SeriesPercentile>& percentiles = evidence.timed_series[0].percentiles;
  ASSERT_EQ(percentiles.size(), 3U);
  EXPECT_NEAR(static_cast<double>(*percentiles[0].value), 100'000, 2000);
  EXPECT_LT(percentiles[0].low, percentiles[0].value);
  EXPECT_GT(percentiles[0].high, percentiles[0].value);
  EXPECT_GT(percentiles[1].high, percentiles[1].value);
  EXPECT_FALSE(percentiles[2].value);
  EXPECT_EQ(percentiles[2].needs, 299);
  EXPECT_EQ(percentiles[2].interval_needs, 368);
}

TEST(TimedSeriesOfProcesses, NameOutliersAndKeepThem) {
  std::vector<int64_t> times;
  for (int i = 0; i < 200; ++i) times.push_back(i % 10 == 0 ? 900'000 : 100'000 + i * 37 % 100);
  const Evidence evidence = EvidenceOf({times});
  EXPECT_EQ(evidence.timed_series[0].steady, "yes");
  EXPECT_EQ(evidence.timed_series[0].outliers, 20);
  EXPECT_EQ(evidence.timed_series[0].far_outliers, 20);
  EXPECT_EQ(evidence.timed_series[0].percentiles[1].value, 900'000);
}

TEST(TimedSeriesOfProcesses, OfFewIterationsSayNothing) {
  const Evidence evidence = EvidenceOf({std::vector<int64_t>(29, 1000)});
  EXPECT_EQ(evidence.timed_series[0].steady, "");
  EXPECT_EQ(evidence.not_steady, "");
  EXPECT_THAT(evidence.timed_series[0].percentiles[1].value, testing::Eq(std::nullopt));
}

TEST(TimedSeriesOfProcesses, AreTheSameAfterJson) {
  const Evidence evidence = EvidenceOf({Rising(), Rising()});
  const Json json = ToJson(evidence);
  const Evidence read = EvidenceFromJson(json);
  EXPECT_EQ(read.timed_series.size(), 2U);
  EXPECT_EQ(read.not_steady, evidence.not_steady);
  EXPECT_EQ(WriteJson(ToJson(read), 1), WriteJson(json, 1));
}

}  // namespace
}  // namespace perfgate
