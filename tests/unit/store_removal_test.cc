#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "store/sqlite.h"
#include "store/store.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTables[] = {"run",      "attempt", "sample",      "environment",
                                   "evidence", "metric",  "observation", "kernel"};

Evidence Large(const std::string& torch) {
  Evidence evidence;
  evidence.case_name = "gelu";
  evidence.key.fields = {{"torch", torch}};
  evidence.device_kind = "cpu";
  evidence.steps = {1};
  evidence.values = {{MetricId::kCpuKernels, Side::kHead, 0, 0, {500}}};
  for (int i = 0; i < 500; ++i) {
    KernelRow row;
    row.name = "kernel_" + std::to_string(i) + std::string(200, 'x');
    row.device = "cpu";
    row.count_per_step = {1};
    row.time_ns_per_step = {10};
    evidence.kernels.push_back(row);
  }
  return evidence;
}

class Removal : public TempFolder {
 protected:
  // A run with one attempt, its samples, and some 200 KiB of kernels.
  void Add(const std::string& id, const std::string& torch = "2.11.0") {
    RunRecord run;
    run.id = id;
    run.suite = "demo";
    run.started = "2027-01-31T10:1" + id + ":00Z";
    run.finished = true;
    run.cases.emplace_back();
    run.cases[0].name = run.cases[0].workload = "gelu";
    run.cases[0].argv = {"bench"};
    AttemptData data;
    data.attempt.case_name = "gelu";
    data.attempt.dir = "attempts/gelu/traced-0";
    data.samples = Samples();
    run.attempts = {{data.attempt, data.result}};
    Store(file_).AddRun(run, {Large(torch)}, std::vector<AttemptData>{data});
  }

  int64_t Rows(const std::string& table) {
    return Database(file_).Number("SELECT count(*) FROM " + table);
  }

  const fs::path file_ = folder_ / "perfgate.db";
};

TEST_F(Removal, TakesAllRowsOfARunAndNoneOfAnother) {
  Add("1");
  std::vector<int64_t> one;
  for (const char* table : kTables) one.push_back(Rows(table));
  EXPECT_EQ(one, (std::vector<int64_t>{1, 1, 1, 1, 1, std::ssize(Metrics()), 1, 500}));
  Add("2", "2.12.0");
  {
    Store store(file_);
    RunRemoval removal(store);
    EXPECT_TRUE(removal.Remove("1"));
    EXPECT_FALSE(removal.Remove("1"));
    EXPECT_FALSE(removal.Remove("x' OR 'a' = 'a"));
    removal.Commit();
  }
  for (size_t i = 0; i < std::size(kTables); ++i) EXPECT_EQ(Rows(kTables[i]), one[i]) << kTables[i];
  const Store store(file_);
  EXPECT_FALSE(store.FindRun("1").has_value());
  ASSERT_TRUE(store.FindRun("2").has_value());
  EXPECT_EQ(store.FindRun("2")->cases.at(0).kernels.size(), 500U);
}

TEST_F(Removal, WithoutItsCommitNothingHappened) {
  Add("1");
  Add("2");
  {
    Store store(file_);
    RunRemoval removal(store);
    EXPECT_TRUE(removal.Remove("1"));
    EXPECT_TRUE(removal.Remove("2"));
  }
  EXPECT_EQ(Rows("run"), 2);
  EXPECT_EQ(Rows("kernel"), 1000);
  EXPECT_EQ(Rows("environment"), 1);
}

TEST_F(Removal, BytesInUseFallAtOnceAndTheFileByVacuum) {
  for (const char* id : {"1", "2", "3", "4"}) Add(id);
  Store store(file_);
  store.Checkpoint();
  const auto before = static_cast<int64_t>(fs::file_size(file_));
  EXPECT_GT(before, 4 * 500 * 200);
  int64_t left = 0;
  {
    RunRemoval removal(store);
    EXPECT_EQ(removal.BytesInUse(), before);
    for (const char* id : {"1", "2", "3"}) removal.Remove(id);
    left = removal.BytesInUse();
    removal.Commit();
  }
  EXPECT_LT(left, before / 2);
  store.Checkpoint();
  EXPECT_EQ(static_cast<int64_t>(fs::file_size(file_)), before);
  store.Vacuum();
  EXPECT_LE(static_cast<int64_t>(fs::file_size(file_)), left);
  ASSERT_TRUE(store.FindRun("4").has_value());
  EXPECT_EQ(store.FindRun("4")->cases.at(0).kernels.size(), 500U);
}

}  // namespace
}  // namespace perfgate
