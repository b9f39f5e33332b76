#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "run/run.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutFolderOfARun : public TempFolder {
 protected:
  void Put(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    WriteFileAtomically(folder_ / path, text);
  }
  void PutRun(const std::string& out) {
    Put(out + "/run.json", R"({"schema": "perfgate.run/1"})");
    Put(out + "/attempts/gelu/traced-0/trace.json", std::string(1000, ' '));
    Put(out + "/prepare/gelu-0/stdout.txt", std::string(24, ' '));
  }
};

TEST_F(OutFolderOfARun, BytesAreThoseOfItsFilesAndNotOfLinks) {
  PutRun("out");
  Put("large", std::string(5000, ' '));
  fs::create_symlink("../large", folder_ / "out/attempts/link");
  fs::create_directory_symlink("..", folder_ / "out/up");
  EXPECT_EQ(OutFolderBytes(folder_ / "out"), 1000 + 24 + 28);
  EXPECT_EQ(OutFolderBytes(folder_ / "nowhere"), 0);
}

TEST_F(OutFolderOfARun, WhatSomebodyElseHasRemovedAlreadyIsNoError) {
  EXPECT_NO_THROW(RemoveOutFolder(folder_ / "gone"));
}

TEST_F(OutFolderOfARun, RemovedIsWhatPerfgateWroteAndNothingElse) {
  PutRun("out");
  Put("kept", "behind a link");
  fs::remove_all(folder_ / "out/prepare");
  fs::create_symlink("../kept", folder_ / "out/prepare");
  RemoveOutFolder(folder_ / "out");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_TRUE(fs::exists(folder_ / "kept"));

  PutRun("notes");
  Put("notes/mine.txt", "mine");
  RemoveOutFolder(folder_ / "notes");
  EXPECT_FALSE(fs::exists(folder_ / "notes/run.json"));
  EXPECT_FALSE(fs::exists(folder_ / "notes/attempts"));
  EXPECT_EQ(ReadFile(folder_ / "notes/mine.txt"), "mine");
}

TEST_F(OutFolderOfARun, WhatAKilledRemovalLeftGoesWithTheNext) {
  fs::create_directories(folder_ / ".out.gone");
  PutRun(".other.gone");
  fs::remove_all(folder_ / ".other.gone/attempts");
  fs::remove_all(folder_ / ".other.gone/prepare");
  Put(".mine.gone/notes.txt", "mine");
  fs::create_directories(folder_ / "empty");
  FinishRemovals(folder_);
  EXPECT_FALSE(fs::exists(folder_ / ".out.gone"));
  EXPECT_FALSE(fs::exists(folder_ / ".other.gone"));
  EXPECT_TRUE(fs::exists(folder_ / ".mine.gone/notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ / "empty"));

  fs::create_directories(folder_ / ".out.gone");
  FinishRemovals(folder_ / "out/");
  EXPECT_FALSE(fs::exists(folder_ / ".out.gone"));
}

TEST_F(OutFolderOfARun, ItsRemovalTouchesNothingOfAFolderOfThatName) {
  PutRun("out");
  Put(".out.gone/run.json", "mine");
  RemoveOutFolder(folder_ / "out");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(ReadFile(folder_ / ".out.gone/run.json"), "mine");
}

TEST_F(OutFolderOfARun, AFolderOfSomebodyElseIsNotTouched) {
  Put("attempts/mine.txt", "mine");
  Put("run.json", R"({"schema": "other/1"})");
  try {
    RemoveOutFolder(folder_);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("holds no run of perfgate"));
  }
  EXPECT_TRUE(fs::exists(folder_ / "attempts/mine.txt"));
}

}  // namespace
}  // namespace perfgate
