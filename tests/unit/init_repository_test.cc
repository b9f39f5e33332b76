#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "init/init.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FirstLook : public TempFolder {
 protected:
  void Put(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    WriteFileAtomically(folder_ / path, text);
  }

  std::string TextOf(const std::string& path, CiSystem ci = CiSystem::kGithub) {
    for (const FirstFile& file : FirstFiles(LookAt(folder_), ci)) {
      if (file.path == path) return file.text;
    }
    return "";
  }
};

TEST_F(FirstLook, AnEmptyFolderHasNothingAndGetsABuiltInModule) {
  const Repository found = LookAt(folder_);
  EXPECT_EQ(found.name, "FirstLook_AnEmptyFolderHasNothingAndGetsABuiltInModule");
  EXPECT_EQ(found.branch, "main");
  EXPECT_THAT(found.requirements, IsEmpty());
  EXPECT_EQ(found.install, "");
  EXPECT_EQ(CiSystemOf(found), CiSystem::kGithub);
  EXPECT_THAT(TextOf("perfgate.yaml"), HasSubstr("torch: {module: geglu"));
  EXPECT_EQ(TextOf("perfgate_step.py"), "");
  EXPECT_THAT(TextOf(".github/workflows/perfgate.yml"), HasSubstr("torch: \"true\""));
}

TEST_F(FirstLook, TorchIsARequirementOnlyWhereItIsNoComment) {
  Put("requirements.txt", "# torch is not needed\nnumpy\n");
  Put("requirements-dev.txt", "pytest\nTorch==2.11.0\n");
  Put("setup.py", "setup(install_requires=['numpy'])\n");
  const Repository found = LookAt(folder_);
  EXPECT_THAT(found.requirements, ElementsAre("requirements-dev.txt"));
  EXPECT_EQ(found.install, "pip install -r requirements-dev.txt .");
}

TEST_F(FirstLook, CMakeIsReadAsCMakeReadsIt) {
  Put("CMakeLists.txt", "# find_package(Torch)\nproject(x)\n");
  Put("native/CMakeLists.txt", "FIND_PACKAGE( Torch 2.6 REQUIRED)\n");
  Put("build/CMakeLists.txt", "find_package(Torch)\n");
  EXPECT_THAT(LookAt(folder_).cmake, ElementsAre("native/CMakeLists.txt"));
}

TEST_F(FirstLook, ABenchmarkThatMeasuresIsAWorkloadOthersAreProposed) {
  Put("requirements.txt", "torch\n");
  Put("bench/decode.py", "import perfgate\nperfgate.measure(step)\n");
  Put("bench/__init__.py", "");
  Put("tools/decode_bench.py", "import torch\n");
  Put("benchmarks/decode.py", "import torch\n");
  Put("src/model.py", "import torch\n");
  EXPECT_THAT(LookAt(folder_).benchmarks.size(), 3U);
  const std::string suite = TextOf("perfgate.yaml");
  EXPECT_THAT(suite, HasSubstr("  - name: \"decode\"\n    command: [python3, bench/decode.py]\n"));
  EXPECT_THAT(suite, HasSubstr("  # - name: \"benchmarks-decode\"\n"
                               "  #   command: [python3, benchmarks/decode.py]\n"));
  EXPECT_THAT(suite, HasSubstr("  # - name: \"decode_bench\"\n"));
  EXPECT_EQ(TextOf("perfgate_step.py"), "");
}

TEST_F(FirstLook, NamesThatCouldBreakTheSuiteArePassedOver) {
  Put("bench/a b.py", "perfgate.measure(step)\n");
  Put("bench/x\n    command: [rm].py", "perfgate.measure(step)\n");
  Put("bench/ok.py", "perfgate.measure(step)\n");
  Put(".hidden/bench.py", "perfgate.measure(step)\n");
  Put("build-x/bench.py", "perfgate.measure(step)\n");
  const Repository found = LookAt(folder_);
  ASSERT_EQ(found.benchmarks.size(), 1U);
  EXPECT_EQ(found.benchmarks[0].path, "bench/ok.py");
}

TEST_F(FirstLook, LinksAreNotFollowed) {
  Put("bench/ok.py", "perfgate.measure(step)\n");
  fs::create_directory_symlink("bench", folder_ / "benchmarks");
  fs::create_directory_symlink("..", folder_ / "bench/again");
  EXPECT_EQ(LookAt(folder_).benchmarks.size(), 1U);
}

TEST_F(FirstLook, TheBranchIsThatOfOrigin) {
  Put(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
  EXPECT_THAT(TextOf(".github/workflows/perfgate.yml"), HasSubstr("branches: [\"trunk\"]"));
  Put(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/x] y\n");
  EXPECT_THAT(TextOf(".github/workflows/perfgate.yml"), HasSubstr("branches: [\"main\"]"));
}

TEST_F(FirstLook, AWorkflowUsesPerfgateWhoeverOwnsIt) {
  Put(".github/workflows/gate.yml",
      "steps:\n  - uses: octo/perfgate@v1.2.3 # not perfgate/perfgate\n");
  EXPECT_EQ(LookAt(folder_).gated_by, ".github/workflows/gate.yml");
  Put(".github/workflows/gate.yml",
      "steps:\n  # - uses: perfgate/perfgate@v1.2.3\n  - uses: octo/ci@v1\n");
  EXPECT_EQ(LookAt(folder_).gated_by, "");
}

TEST_F(FirstLook, GitLabIsChosenWhereOnlyItIsUsed) {
  Put(".gitlab-ci.yml", "test: {script: pytest}\n");
  EXPECT_EQ(CiSystemOf(LookAt(folder_)), CiSystem::kGitlab);
  Put(".github/workflows/ci.yml", "jobs: {}\n");
  EXPECT_EQ(CiSystemOf(LookAt(folder_)), CiSystem::kGithub);
}

// The example is the one that tests play as GitHub would.
TEST_F(FirstLook, TheWorkflowForPythonIsTheExampleForACpu) {
  Put("requirements.txt", "torch\n");
  const auto body = [](const std::string& text) {
    return text.substr(text.find("name: perfgate"));
  };
  const std::string example =
      ReadFile(fs::path(PERFGATE_TEST_DATA) / "../../examples/github/cpu.yml");
  EXPECT_EQ(body(TextOf(".github/workflows/perfgate.yml")), body(example));
}

TEST_F(FirstLook, NoMarkOfATemplateIsLeft) {
  for (const CiSystem ci : {CiSystem::kGithub, CiSystem::kGitlab}) {
    for (const FirstFile& file : FirstFiles(LookAt(folder_), ci)) {
      EXPECT_THAT(file.text, Not(testing::ContainsRegex("@[A-Z]+@"))) << file.path;
      EXPECT_TRUE(file.text.ends_with('\n')) << file.path;
    }
  }
}

TEST_F(FirstLook, WhatIsNoFolderIsSaid) {
  try {
    LookAt(folder_ / "nowhere");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("nowhere: there is no such folder"));
  }
  Put("file", "");
  try {
    LookAt(folder_ / "file");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("file: is not a folder"));
  }
}

TEST(WithIgnored, LinesAreAddedOnceAndOthersStay) {
  const std::string once = WithIgnored("*.pyc\n/perfgate-out/");
  EXPECT_EQ(once,
            "*.pyc\n/perfgate-out/\n\n# What perfgate writes; baselines are committed.\n"
            "perfgate-report/\nperfgate.db\nperfgate.db-wal\nperfgate.db-shm\n");
  EXPECT_EQ(WithIgnored(once), once);
  EXPECT_TRUE(WithIgnored("").starts_with("# What perfgate writes"));
}

}  // namespace
}  // namespace perfgate
