#include "base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace perfgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(TemporaryFolder, TwoOfOneNameAreTwoEmptyFolders) {
  const TemporaryFolder one("name"), other("name");
  EXPECT_NE(one.path(), other.path());
  EXPECT_TRUE(std::filesystem::is_empty(one.path()));
  EXPECT_THAT(one.path().filename().string(), StartsWith("perfgate-name-"));
}

TEST(TemporaryFolder, IsGoneWithWhatIsInIt) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder("name");
    path = folder.path();
    WriteFileAtomically(path / "file", "text");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, ThatCannotBeMadeIsAnErrorOfTheEnvironment) {
  const char* before = ::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/proc/no-such-folder", 1);
  try {
    const TemporaryFolder folder("name");
    ADD_FAILURE() << folder.path();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("no folder for temporary files"));
  }
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace perfgate
