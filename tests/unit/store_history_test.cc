// Runs in the database, and what can be asked of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store_runs.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(StoreTest, ARunComesBackAsItWasPutIn) {
  Store store(file_);
  const RunRecord run = SomeRun("a", "2027-01-31T10:15:00Z");
  Evidence second = SomeEvidence(1);
  second.case_name = "other";
  second.kernels.clear();
  const std::vector<Evidence> cases = {SomeEvidence(5), second, Evidence()};
  ASSERT_TRUE(store.AddRun(run, cases));
  const std::optional<StoredRun> found = store.FindRun("a");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(WriteJson(ToJson(found->run)), WriteJson(ToJson(run)));
  ASSERT_EQ(found->cases.size(), 3U);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(WriteJson(ToJson(found->cases[i])), WriteJson(ToJson(cases[i]))) << i;
  }
}

TEST_F(StoreTest, TimesOfARunAreThoseOfItsRawSamples) {
  Store store(file_);
  const RunRecord run = SomeRun("a", "2027-01-31T10:15:00Z");
  AttemptData head = SomeAttempt(run);
  head.samples->latency_ns = std::vector<int64_t>(200, 70'000);
  Evidence evidence = SomeEvidence(5);  // which says 80'123.25
  evidence.base_side = std::make_shared<const Evidence>(SomeEvidence(5));
  ASSERT_TRUE(store.AddRun(run, {evidence}, {{head}}));
  const Evidence found = store.FindRun("a")->cases.at(0);
  EXPECT_EQ(Summarise(found, MetricId::kLatencyP50).value, 70'000);
  EXPECT_EQ(Summarise(found, MetricId::kColdStart).value, 5);
  ASSERT_EQ(found.timed.size(), 1U);
  EXPECT_EQ(found.timed[0].latency_ns, head.samples->latency_ns);
  // No samples of the base were kept: its evidence stands.
  EXPECT_EQ(Summarise(*found.base_side, MetricId::kLatencyP50).value, 80'123.25);
  EXPECT_EQ(Summarise(found, MetricId::kKernels).value, 5);
}

TEST_F(StoreTest, ARunThatIsNotThereIsNotFound) {
  Store store(file_);
  EXPECT_FALSE(store.FindRun("").has_value());
  EXPECT_FALSE(store.FindRun("x").has_value());
  EXPECT_THAT(store.ListRuns(), IsEmpty());
}

TEST_F(StoreTest, TheLatestRunIsTheOneThatStartedLast) {
  Store store(file_);
  Fill(store);
  for (const char* name : {"", "latest"}) {
    EXPECT_EQ(store.FindRun(name)->run.id, "20270201T101500Z-000002");
  }
  const std::vector<RunRow> rows = store.ListRuns();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "20270201T101500Z-000002");
  EXPECT_EQ(rows[1].suite, "demo");
  EXPECT_EQ(rows[1].commit, "c0ffee");
  EXPECT_EQ(rows[1].status, "finished");
  EXPECT_EQ(rows[1].cases, 1);
}

TEST_F(StoreTest, RunsOfOneSecondStandInTheOrderInWhichTheyWereStored) {
  Store store(file_);
  // The ids sort the other way round.
  for (const auto& [id, kernels] :
       {std::pair("z", 1.0), std::pair("m", 2.0), std::pair("a", 3.0)}) {
    ASSERT_TRUE(store.AddRun(SomeRun(id, "2027-01-31T10:15:00Z"), {SomeEvidence(kernels)}));
  }
  const std::vector<RunRow> rows = store.ListRuns();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].id + rows[1].id + rows[2].id, "amz");
  const std::vector<HistoryPoint> points = store.History("*", MetricId::kKernels);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].value, 1);
  EXPECT_EQ(points[2].value, 3);
  EXPECT_EQ(store.FindRun("latest")->run.id, "a");
}

TEST_F(StoreTest, TheSameRunAgainChangesNothing) {
  Store store(file_);
  const RunRecord run = SomeRun("a", "2027-01-31T10:15:00Z");
  EXPECT_TRUE(store.AddRun(run, {SomeEvidence(5)}));
  EXPECT_FALSE(store.AddRun(run, {SomeEvidence(6), SomeEvidence(7)}));
  EXPECT_EQ(store.FindRun("a")->cases.size(), 1U);
  EXPECT_EQ(store.ListRuns().size(), 1U);
}

TEST_F(StoreTest, AnInterruptedRunIsStoredAsSuch) {
  Store store(file_);
  RunRecord run = SomeRun("a", "2027-01-31T10:15:00Z");
  run.finished = false;
  run.interrupted_by = 2;
  store.AddRun(run, {});
  EXPECT_EQ(store.ListRuns()[0].status, "interrupted");
  EXPECT_EQ(store.FindRun("a")->run.interrupted_by, 2);
}

TEST_F(StoreTest, HistoryIsOldestFirstAndByKey) {
  Store store(file_);
  Fill(store);
  Evidence other = SomeEvidence(9);
  other.key.fields["torch"] = "2.12.0";
  store.AddRun(SomeRun("b", "2027-03-01T00:00:00Z"), {other});
  const std::vector<HistoryPoint> points = store.History("geglu[*", MetricId::kKernels);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].value, 5);
  EXPECT_EQ(points[1].value, 6);
  EXPECT_EQ(points[2].value, 9);
  EXPECT_EQ(points[0].key, points[1].key);
  EXPECT_NE(points[1].key, points[2].key);
  EXPECT_THAT(store.History("other*", MetricId::kKernels), IsEmpty());
  EXPECT_EQ(store.History("*", MetricId::kAllocations)[0].value, std::nullopt);
}

TEST_F(StoreTest, HistoryOfAllMetricsIsOfTheNewestRuns) {
  Store store(file_);
  RunRecord first = SomeRun("a", "2027-01-31T10:15:00Z"),
            second = SomeRun("b", "2027-02-01T00:00:00Z");
  second.dirty = true;
  store.AddRun(second, {SomeEvidence(6)});
  store.AddRun(first, {SomeEvidence(5)});
  const std::vector<HistoryPoint> points = store.History("*", std::nullopt, 1);
  ASSERT_GT(points.size(), 1U);
  int kernels = 0;
  for (const HistoryPoint& point : points) {
    EXPECT_EQ(point.run_id, "b");
    EXPECT_TRUE(point.dirty);
    if (point.metric == MetricId::kKernels) kernels += static_cast<int>(point.value.value_or(0));
  }
  EXPECT_EQ(kernels, 6);
  EXPECT_EQ(store.History("*", MetricId::kKernels).size(), 2U);
  EXPECT_FALSE(store.History("*", MetricId::kKernels)[0].dirty);
}

TEST_F(StoreTest, LatenciesCanBeReadOneByOne) {
  Store store(file_);
  Fill(store);
  Database database(file_);
  Statement statement(database,
                      "SELECT latency_ns FROM latency_view WHERE run LIKE '%1' ORDER BY iteration");
  std::vector<int64_t> latencies;
  while (statement.Step()) latencies.push_back(statement.Int(0));
  EXPECT_THAT(latencies, ElementsAre(30, 10, 20, 9'007'199'254'740'993));
}

TEST_F(StoreTest, TheQueriesOfTheManualRunAndFindRows) {
  Store store(file_);
  Fill(store);
  Database database(file_);
  const std::string manual = ReadFile(PERFGATE_TEST_DATA "/../../docs/sql.md");
  int blocks = 0;
  for (size_t at = manual.find("```sql\n"); at != std::string::npos;
       at = manual.find("```sql\n", at)) {
    at += 7;
    const std::string sql = manual.substr(at, manual.find("```", at) - at);
    Statement statement(database, sql);
    // Both runs have the same kernels, so this one rightly finds none.
    EXPECT_EQ(statement.Step(), sql.find("EXCEPT") == std::string::npos) << sql;
    ++blocks;
  }
  EXPECT_GE(blocks, 10);
}

TEST_F(StoreTest, TheManualNamesEveryTableViewAndColumn) {
  Store store(file_);
  Database database(file_);
  const std::string manual = ReadFile(PERFGATE_TEST_DATA "/../../docs/sql.md");
  Statement columns(database,
                    "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_xinfo(m.name) "
                    "AS c WHERE m.type IN ('table', 'view')");
  int count = 0;
  while (columns.Step()) {
    const std::string row = "\n| `" + columns.Text(0) + "` |";
    const size_t start = manual.find(row);
    ASSERT_NE(start, std::string::npos) << columns.Text(0);
    const std::string line = manual.substr(start + 1, manual.find('\n', start + 1) - start);
    EXPECT_THAT(line, HasSubstr("`" + columns.Text(1) + "`"));
    ++count;
  }
  EXPECT_GT(count, 80);
}

}  // namespace
}  // namespace perfgate
