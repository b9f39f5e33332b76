#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / NameOfTest();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, AreReplacedAsAWhole) {
  WriteFileAtomically(folder_ / "a", "one");
  WriteFileAtomically(folder_ / "a", "two");
  EXPECT_EQ(ReadFile(folder_ / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, FailuresNameTheFileAndTheReason) {
  try {
    WriteFileAtomically(folder_ / "none" / "a", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kEnvironment);
    EXPECT_THAT(error.what(), testing::HasSubstr("none/a: cannot write: No such file"));
  }
  try {
    ReadFile(folder_ / "b");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInput);
    EXPECT_THAT(error.what(), testing::HasSubstr("b: cannot open: No such file"));
  }
}

TEST_F(Files, LargerThanTheLimitAreRefused) {
  WriteFileAtomically(folder_ / "a", std::string(100, 'x'));
  EXPECT_EQ(ReadFile(folder_ / "a", 100).size(), 100u);
  EXPECT_THROW(ReadFile(folder_ / "a", 99), Error);
}

TEST_F(Files, AFolderIsNoFile) { EXPECT_THROW(ReadFile(folder_), Error); }

}  // namespace
}  // namespace perfgate
