#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StoreFile : public TempFolder {
 protected:
  void SetUp() override { file_ = folder_ / "perfgate.db"; }

  static RunRecord Run(const std::string& id) {
    RunRecord run;
    run.id = id;
    run.started = "2027-01-31T10:15:00Z";
    return run;
  }
  // What opening says; the file must be the same afterwards, with nothing beside it.
  std::string RefusalOf(const std::filesystem::path& file) {
    const std::string before =
        std::filesystem::is_regular_file(file) ? ReadFile(file) : std::string();
    std::string message = "no error";
    try {
      Store store(file);
      store.AddRun(Run("x"), {});
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kStore);
      message = error.what();
    }
    if (std::filesystem::is_regular_file(file)) {
      EXPECT_EQ(ReadFile(file), before);
      EXPECT_FALSE(std::filesystem::exists(file.string() + "-wal"));
      EXPECT_FALSE(std::filesystem::exists(file.string() + "-journal"));
    }
    return message;
  }

  std::filesystem::path file_;
};

TEST_F(StoreFile, OfANewerPerfgateIsRefusedAndLeftAlone) {
  { Store store(file_); }
  Database(file_).Execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 9");
  EXPECT_THAT(RefusalOf(file_),
              HasSubstr("perfgate.db: written by a newer perfgate (schema 9, this "
                        "one knows 2); upgrade perfgate"));
}

TEST_F(StoreFile, ThatIsNoDatabaseIsRefusedAndLeftAlone) {
  std::ofstream(file_) << std::string(5000, 'x');
  EXPECT_THAT(RefusalOf(file_), AllOf(HasSubstr("perfgate.db: "), HasSubstr("not a database"),
                                      HasSubstr("is left as it is"), HasSubstr("--db")));
}

TEST_F(StoreFile, ThatIsDamagedIsRefusedAndLeftAlone) {
  { Store store(file_); }
  Database(file_).Execute("PRAGMA journal_mode = DELETE");
  std::string bytes = ReadFile(file_);
  bytes.replace(100, 3000, 3000, '\xa5');  // the first page, after the file's header
  std::ofstream(file_, std::ios::trunc) << bytes;
  EXPECT_THAT(RefusalOf(file_), AllOf(HasSubstr("damaged"), HasSubstr("perfgate ingest")));
}

TEST_F(StoreFile, ThatIsCutOffIsRefusedAndLeftAlone) {
  { Store store(file_); }
  Database(file_).Execute("PRAGMA journal_mode = DELETE");
  std::filesystem::resize_file(file_, 4096 + 100);
  EXPECT_THAT(RefusalOf(file_), HasSubstr("damaged"));
}

TEST_F(StoreFile, OfAnotherProgramIsRefusedAndLeftAlone) {
  Database(file_).Execute("CREATE TABLE thesis (text TEXT)");
  EXPECT_THAT(RefusalOf(file_), HasSubstr("is the SQLite database of another program"));
}

TEST_F(StoreFile, ThatIsAFolderIsRefused) {
  EXPECT_THAT(RefusalOf(folder_), HasSubstr("is a folder; name a file with --db"));
}

TEST_F(StoreFile, InAPlaceThatCannotBeWrittenIsRefused) {
  EXPECT_THAT(RefusalOf(folder_ / "none" / "perfgate.db"),
              AllOf(HasSubstr("none/perfgate.db: "), HasSubstr("its folder exists"),
                    HasSubstr("No such file or directory")));
  EXPECT_THAT(RefusalOf("/proc/perfgate.db"), HasSubstr("cannot be opened or made"));
}

TEST_F(StoreFile, ThatIsEmptyBecomesADatabase) {
  std::ofstream(file_) << "";
  Store store(file_);
  EXPECT_TRUE(store.AddRun(Run("a"), {}));
}

TEST_F(StoreFile, ThatIsOpenedAgainKeepsItsRuns) {
  { Store(file_).AddRun(Run("a"), {}); }
  Store store(file_);
  EXPECT_EQ(store.ListRuns().size(), 1U);
}

TEST_F(StoreFile, IsWholeWithoutItsLogAfterACheckpoint) {
  Store store(file_);
  store.AddRun(Run("a"), {});
  store.Checkpoint();
  std::filesystem::copy_file(file_, folder_ / "copy.db");
  EXPECT_EQ(Store(folder_ / "copy.db").ListRuns().size(), 1U);
}

TEST_F(StoreFile, TakesTheRunsOfManyWritersAtOnce) {
  constexpr int kWriters = 8, kRuns = 5;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    int failed = 0;
    try {
      for (int run = 0; run < kRuns; ++run) {
        Store store(file_);  // the first ones make the file
        if (!store.AddRun(Run(std::to_string(writer) + "-" + std::to_string(run)), {})) failed = 1;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      failed = 1;
    }
    ::_exit(failed);
  }
  for (const pid_t writer : writers) {
    int status = -1;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Store(file_).ListRuns().size(), static_cast<size_t>(kWriters * kRuns));
}

TEST_F(StoreFile, ATransactionThatFailsLeavesNothing) {
  Store store(file_);
  RunRecord run = Run("a");
  Evidence bad;
  bad.case_name = "x";
  bad.values = {{MetricId::kKernels, static_cast<Side>(0), 0, 0, {1}}};
  Database other(file_);
  other.Execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON observation "
      "BEGIN SELECT raise(ABORT, 'refused'); END");
  try {
    store.AddRun(run, {bad});
    FAIL() << "stored what was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("refused"));
  }
  other.Execute("DROP TRIGGER refuse");
  EXPECT_TRUE(store.ListRuns().empty());
  EXPECT_EQ(other.Number("SELECT count(*) FROM evidence"), 0);
  EXPECT_TRUE(store.AddRun(run, {bad}));
}

}  // namespace
}  // namespace perfgate
