// Which runs a rule on a series is judged against.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "store/store.h"
#include "store_runs.h"

namespace perfgate {
namespace {

using testing::IsEmpty;

// Two finished runs of main, one of a topic and one that was interrupted.
void FillSeries(Store& store) {
  for (const char* id : {"a", "b", "topic", "interrupted"}) {
    RunRecord run = SomeRun(id, std::string("2027-01-31T10:15:00Z-") + id);
    run.branch = run.id == "topic" ? "topic" : "main";
    run.finished = run.id != "interrupted";
    store.AddRun(run, {SomeEvidence(run.id == "a" ? 5 : 6)}, {{SomeAttempt(run)}});
  }
}

SeriesQuery SomeQuery() {
  return {{{kCase, SomeEvidence(5).key}}, {"main"}, "", "2027-02-01T00:00:00Z", {}};
}

TEST_F(StoreTest, ASeriesHasItsFinishedRunsOldestFirstWithTheirValuesAndWithoutRows) {
  Store store(file_);
  FillSeries(store);
  const std::vector<StoredRun> runs = store.Series(SomeQuery());
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].run.id, "a");
  EXPECT_EQ(runs[0].run.cases.size(), 1U);
  ASSERT_EQ(runs[1].cases.size(), 1U);
  const Evidence& evidence = runs[1].cases[0];
  EXPECT_EQ(Summarise(evidence, MetricId::kKernels).value, 6);
  EXPECT_EQ(evidence.key.recorded.at("driver"), "580.1");
  EXPECT_EQ(evidence.plant, "clone");
  EXPECT_THAT(evidence.kernels, IsEmpty());
  EXPECT_EQ(Summarise(evidence, MetricId::kColdStart).value, 5);  // from the raw samples
}

TEST_F(StoreTest, ASeriesNamesWhatIsOfAnotherBranchOrKeyAndReadsNothingOfIt) {
  Store store(file_);
  FillSeries(store);
  const std::vector<StoredRun> runs = store.Series(SomeQuery());
  EXPECT_EQ(runs.at(2).run.branch, "topic");
  EXPECT_EQ(runs[2].cases.at(0).case_name, kCase);
  EXPECT_THAT(runs[2].cases[0].values, IsEmpty());
  SeriesQuery other = SomeQuery();
  other.cases[kCase]->fields["torch"] = "2.12.0";
  EXPECT_THAT(store.Series(other).at(0).cases.at(0).values, IsEmpty());
  other.cases[kCase] = std::nullopt;
  EXPECT_FALSE(store.Series(other).at(0).cases.at(0).values.empty());
  other.cases = {{"other", Key()}};
  for (const StoredRun& run : store.Series(other)) EXPECT_THAT(run.cases, IsEmpty());
  other.most = 20;
  EXPECT_THAT(store.Series(other), IsEmpty());
}

TEST_F(StoreTest, ASeriesHoldsWhatBeganBeforeARunSoThatItIsJudgedAlikeLater) {
  Store store(file_);
  FillSeries(store);
  SeriesQuery query = SomeQuery();
  query.run = "b";
  query.started = "2027-01-31T10:15:00Z-b";
  query.most = 1;
  const std::vector<StoredRun> runs = store.Series(query);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].run.id, "a");
}

TEST_F(StoreTest, ASeriesOfRunsOfOneSecondHoldsThoseStoredBefore) {
  Store store(file_);
  for (const char* id : {"z", "m", "a"}) {
    store.AddRun(SomeRun(id, "2027-01-31T10:15:00Z"), {SomeEvidence(5)});
  }
  const auto ids = [&](const std::string& run) {
    SeriesQuery query = SomeQuery();
    query.run = run;
    query.started = "2027-01-31T10:15:00Z";
    std::string before;
    for (const StoredRun& stored : store.Series(query)) before += stored.run.id;
    return before;
  };
  EXPECT_EQ(ids("z"), "");
  EXPECT_EQ(ids("a"), "zm");
  EXPECT_EQ(ids("not stored yet"), "zma");
}

TEST_F(StoreTest, ASeriesEndsWithTheMostThatIsAskedFor) {
  Store store(file_);
  FillSeries(store);
  SeriesQuery query = SomeQuery();
  query.most = 1;
  const std::vector<StoredRun> runs = store.Series(query);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].run.id, "b");
  EXPECT_EQ(runs[1].run.id, "topic");
}

// Oldest first: `count` finished runs of the branch, that began in a minute of their own.
void AddRuns(Store& store, int count, int hour, const std::string& branch,
             const std::function<void(RunRecord&, Evidence&)>& change = {}) {
  for (int i = 0; i < count; ++i) {
    const std::string id = branch + std::to_string(hour) + "-" + std::to_string(i);
    RunRecord run =
        SomeRun(id, "2027-01-31T" + std::to_string(hour) + ":" + std::to_string(10 + i) + ":00Z");
    run.branch = branch;
    run.finished = true;
    Evidence evidence = SomeEvidence(5);
    if (change) change(run, evidence);
    store.AddRun(run, {evidence}, {{SomeAttempt(run)}});
  }
}

// Of the case in them, with its values.
int Read(const std::vector<StoredRun>& runs, const std::string& branch) {
  return static_cast<int>(std::count_if(runs.begin(), runs.end(), [&](const StoredRun& stored) {
    return stored.run.branch == branch && !stored.cases.at(0).values.empty();
  }));
}

TEST_F(StoreTest, ASeriesOfABranchIsNotUsedUpByNewerRunsOfAnotherOne) {
  Store store(file_);
  AddRuns(store, 3, 10, "rel");
  AddRuns(store, 6, 11, "main");
  SeriesQuery query = SomeQuery();
  query.branches = {"main", "rel"};
  query.most = 2;
  const std::vector<StoredRun> runs = store.Series(query);
  EXPECT_EQ(Read(runs, "rel"), 2);
  EXPECT_EQ(Read(runs, "main"), 2);
}

TEST_F(StoreTest, ASeriesIsNotUsedUpByRunsThatDoNotCount) {
  Store store(file_);
  AddRuns(store, 3, 10, "main");
  AddRuns(store, 4, 11, "main", [](RunRecord& run, Evidence&) { run.dirty = true; });
  AddRuns(store, 4, 12, "main",
          [](RunRecord&, Evidence& evidence) { evidence.not_steady = "it drifts"; });
  SeriesQuery query = SomeQuery();
  query.most = 2;
  query.may_count = [](const RunRecord& run, const Evidence&) { return !run.dirty; };
  query.counts = [](const RunRecord& run, const Evidence&) { return run.id.starts_with("main10"); };
  const std::vector<StoredRun> runs = store.Series(query);
  ASSERT_EQ(runs.size(), 10U);
  EXPECT_EQ(runs[0].run.id, "main10-1");
  EXPECT_FALSE(runs[0].cases.at(0).values.empty());
  EXPECT_TRUE(runs[2].run.dirty);
  EXPECT_THAT(runs[2].cases.at(0).values, IsEmpty());
  EXPECT_EQ(runs[2].cases[0].key.recorded.at("driver"), "580.1");
}

TEST_F(StoreTest, ASeriesOfAGpuIsNotUsedUpByRunsOnOtherOnes) {
  Store store(file_);
  AddRuns(store, 3, 10, "main");
  AddRuns(store, 6, 11, "main",
          [](RunRecord&, Evidence& evidence) { evidence.key.recorded["gpu_uuid"] = "GPU-2"; });
  SeriesQuery query = SomeQuery();
  query.most = 2;
  const std::vector<StoredRun> runs = store.Series(query);
  EXPECT_EQ(Read(runs, "main"), 4);
  EXPECT_EQ(runs.at(0).run.id, "main10-1");
}

}  // namespace
}  // namespace perfgate
