#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCase = "geglu[mode=aoti,tokens=64]";

KernelRow Kernel(const std::string& name, int64_t count, int64_t time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = "aten::linear > aten::addmm";
  row.device = "cuda:0";
  row.count_per_step = {count, count};
  row.time_ns_per_step = {time_ns, time_ns + 32};
  row.grid = {1, 2, 3};
  row.block = {128, 1, 1};
  row.streams = {7};
  row.shapes = {{"[[64, 768]]", 2, 3168}};
  row.info = DecodeKernelName(name);
  return row;
}

Evidence SomeEvidence(double kernels) {
  Evidence evidence;
  evidence.case_name = kCase;
  evidence.key.fields = {{"gpu", "NVIDIA H200"}, {"torch", "2.11.0"}, {"device", "cuda"}};
  evidence.key.recorded = {{"driver", "580.1"}};
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  evidence.steps = {1, 1};
  evidence.values = {
      {MetricId::kKernels, Side::kHead, 0, 0, {kernels}},
      {MetricId::kKernels, Side::kHead, 0, 1, {kernels}},
      {MetricId::kLatencyP50, Side::kHead, 0, 0, {80'123.25}},
  };
  evidence.unavailable = {{MetricId::kAllocations, "no [memory] events"}};
  evidence.kernels = {Kernel("void gelu<\"x\">\xff", 2, 3168),
                      Kernel("nvjet_sm90_tst_128x128", 1, 4)};
  evidence.transfers = {Kernel("Memcpy DtoD", 1, 9)};
  evidence.transfers[0].bytes_per_step = {4096, 4096};
  evidence.syncs = {Kernel("cudaStreamSynchronize", 1, 9)};
  evidence.syncs[0].info = {};  // no kernel: its name is not decoded
  evidence.operators.push_back({"aten::addmm", ClassifyOperator("aten::addmm"), {1, 1}, "[[1]]"});
  evidence.pre_window = 3;
  evidence.incomplete_because = {"killed by SIGSEGV"};
  evidence.notes = {"a note"};
  evidence.explain = {"left out"};
  AttemptSummary summary;
  summary.attempt = {kCase, Side::kHead, 0, 1, Phase::kTraced, "attempts/a"};
  summary.result.outcome = Outcome::kSignalled;
  summary.result.signal = 11;
  summary.result.fault = "killed by SIGSEGV";
  summary.trace_files = {"attempts/a/trace.json"};
  evidence.attempts = {summary};
  evidence.fallback = {{"hand_fused", "built without nvcc"}};
  evidence.plant = "clone";
  return evidence;
}

RunRecord SomeRun(const std::string& id, const std::string& started) {
  RunRecord run;
  run.id = id;
  run.suite = "demo";
  run.suite_file = "perfgate.yaml";
  run.started = started;
  run.perfgate_version = "0.1.0";
  run.commit = "c0ffee";
  run.seed = 5;
  run.machine = {{"cpu", "EPYC"}, {"host", "h"}};
  Case declared;
  declared.name = kCase;
  declared.workload = "geglu";
  run.cases = {declared};
  AttemptResult crashed;
  crashed.outcome = Outcome::kSignalled;
  crashed.signal = 11;
  crashed.fault = "killed by SIGSEGV";
  crashed.stderr_tail = "Segmentation fault\n";
  run.attempts = {
      {{kCase, Side::kHead, 0, 0, Phase::kTraced, "attempts/a/traced-0"}, AttemptResult()},
      {{kCase, Side::kHead, 0, 1, Phase::kTraced, "attempts/a/traced-1"}, crashed}};
  run.finished = true;
  return run;
}

AttemptData SomeAttempt(const RunRecord& run) {
  AttemptData data;
  data.attempt = run.attempts[0].first;
  data.samples.emplace();
  data.samples->cold_start_ns = 5;
  data.samples->latency_ns = {30, 10, 20, 9'007'199'254'740'993};
  return data;
}

class StoreTest : public TempFolder {
 protected:
  void SetUp() override { file_ = folder_ / "perfgate.db"; }

  // Two runs of one case; the second has a kernel more.
  static void Fill(Store& store) {
    for (const auto& [id, started, kernels] :
         {std::tuple("20270201T101500Z-000002", "2027-02-01T10:15:00Z", 6.0),
          std::tuple("20270131T101500Z-000001", "2027-01-31T10:15:00Z", 5.0)}) {
      const RunRecord run = SomeRun(id, started);
      ASSERT_TRUE(store.AddRun(run, {SomeEvidence(kernels)}, {{SomeAttempt(run)}}));
    }
  }

  std::filesystem::path file_;
};

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
  return {{{kCase, SomeEvidence(5).key}}, {"main"}, "2027-02-01T00:00:00Z", {}};
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
  other.cases[kCase].fields["torch"] = "2.12.0";
  EXPECT_THAT(store.Series(other).at(0).cases.at(0).values, IsEmpty());
  other.cases = {{"other", Key()}};
  EXPECT_THAT(store.Series(other), IsEmpty());
}

TEST_F(StoreTest, ASeriesHoldsWhatBeganBeforeARunSoThatItIsJudgedAlikeLater) {
  Store store(file_);
  FillSeries(store);
  SeriesQuery query = SomeQuery();
  query.before = "2027-01-31T10:15:00Z-b";
  query.most = 1;
  const std::vector<StoredRun> runs = store.Series(query);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].run.id, "a");
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
