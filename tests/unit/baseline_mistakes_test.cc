// Baselines that are broken, hostile, or in the wrong place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "baseline_folder.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

TEST_F(BaselineFiles, ABrokenFileIsAMistakeWithItsNameNotAMissingBaseline) {
  Write("nvidia-h200/torch-2.11-cuda-13.0/geglu-mode-aoti.json", "{\"schema\": <<<<<<< HEAD");
  const std::string message =
      MessageOf([&] { FindBaseline(folder_, GpuEvidence("geglu-mode-aoti"), {}); }, Fault::kConfig);
  EXPECT_THAT(message, HasSubstr("geglu-mode-aoti.json"));
}

TEST_F(BaselineFiles, AFileOfANewerSchemaIsRefusedWithWhatToDo) {
  Write("g/s/x.json", R"({"schema": "perfgate.baseline/2"})");
  EXPECT_THAT(MessageOf([&] { ListBaselines(folder_); }, Fault::kConfig),
              HasSubstr("newer perfgate"));
}

TEST_F(BaselineFiles, HostileNumbersAreRefused) {
  const fs::path file = WriteBaseline(folder_, Accepted(GpuEvidence()));
  const std::string text = ReadFile(file);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(file) << changed;
    return MessageOf([&] { ListBaselines(folder_); }, Fault::kConfig);
  };
  EXPECT_THAT(with("\"steps\": 4", "\"steps\": 99999999999"), HasSubstr("`steps` is 99999999999"));
  EXPECT_THAT(with("\"steps\": 4", "\"steps\": 3"),
              HasSubstr("count of a row has 4 steps where `steps` says 3"));
  EXPECT_THAT(with("\"count\": 1", "\"count\": -1"),
              HasSubstr("count: expected a whole number from 0 to 1000000000, found -1"));
  EXPECT_THAT(with("\"time_ns\": 20", "\"time_ns\": -20"),
              HasSubstr("time_ns: expected a whole number from 0 on, found -20"));
  EXPECT_THAT(with("\"extractor\": 2", "\"extractor\": 99999999999"),
              HasSubstr("extractor: expected a whole number from 0 to 2147483647"));
}

TEST_F(BaselineFiles, RowsThatDoNotAddUpToTheirCountAreAMistake) {
  Evidence stable = GpuEvidence();
  stable.kernels.pop_back();
  for (Observation& observation : stable.values) observation.per_step = {1, 1};
  stable.values.push_back({MetricId::kMaxAbsError, Side::kHead, 0, 0, {0.25}});
  const fs::path file = WriteBaseline(folder_, Accepted(stable));
  const std::string text = ReadFile(file);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(file) << changed;
    return MessageOf([&] { FindBaseline(folder_, stable, {}); }, Fault::kConfig);
  };
  const std::string none = with("\"kernels\": [", "\"kernels\": [], \"others\": [");
  EXPECT_THAT(none, HasSubstr(file.filename().string()));
  EXPECT_THAT(none, HasSubstr("the rows of `kernels` add up to 0 a step, but metric kernels is 1"));
  EXPECT_THAT(with("\"count\": 1", "\"count\": 2"), HasSubstr("add up to 2 a step"));
  EXPECT_THAT(with("\"count\": 1", "\"count\": 1.5"), HasSubstr("expected a whole number"));
  EXPECT_THAT(with("\"count\": 1", "\"count\": 1000000000000"),
              HasSubstr("expected a whole number from 0 to 1000000000, found 1000000000000"));
  EXPECT_THAT(with("\"kernels\": 1", "\"kernels\": -1"), HasSubstr("metric kernels is -1"));
  EXPECT_THAT(with("\"kernels\": 1", "\"kernels\": 0.5"), HasSubstr("metric kernels is 0.5"));
  EXPECT_THAT(with("\"kernels\": 1", "\"kernels\": 1e300"), HasSubstr("which is no count"));
  EXPECT_THAT(with("\"kernels\": 1", "\"kernels\": [1, 1]"),
              HasSubstr("metric kernels has 2 steps where `steps` says 4"));
  EXPECT_THAT(with("0.25", "-0.25"), HasSubstr("which is no number from 0 on"));
}

TEST_F(BaselineFiles, RowsOfEveryRecordedTraceAddUp) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(PERFGATE_TEST_DATA "/traces")) {
    if (!entry.path().string().ends_with(".json.gz")) continue;
    const Evidence evidence = ExtractTrace(entry.path());
    if (!evidence.Complete() || evidence.kernels.empty()) continue;
    WriteBaseline(folder_, Accepted(evidence));
    EXPECT_EQ(FindBaseline(folder_, evidence, {}).state, BaselineState::kFound) << entry.path();
    ++read;
  }
  EXPECT_GT(read, 20);
}

TEST_F(BaselineFiles, RowsOfACpuAddUpToItsOwnCount) {
  Evidence evidence = GpuEvidence();
  for (KernelRow& row : evidence.kernels) row.device = "cpu";
  for (Observation& observation : evidence.values) observation.metric = MetricId::kCpuKernels;
  const fs::path file = WriteBaseline(folder_, Accepted(evidence));
  EXPECT_EQ(FindBaseline(folder_, evidence, {}).state, BaselineState::kFound);
  std::string text = ReadFile(file);
  text.replace(text.find("[1, 2, 1, 2]"), 12, "[1, 2, 2, 2]");
  std::ofstream(file) << text;
  EXPECT_THAT(MessageOf([&] { FindBaseline(folder_, evidence, {}); }, Fault::kConfig),
              HasSubstr("metric cpu_kernels is 2"));
}

TEST_F(BaselineFiles, OnlyRegularFilesInsideOfTheFolderAreRead) {
  const fs::path file = WriteBaseline(folder_, Accepted(GpuEvidence()));
  const fs::path outside = fs::path(folder_.string() + "_outside.json");
  fs::rename(file, outside);
  const auto refused = [&] {
    return MessageOf([&] { FindBaseline(folder_, GpuEvidence(), {}); }, Fault::kConfig);
  };
  fs::create_symlink(outside, file);
  EXPECT_THAT(refused(), HasSubstr(file.string() + ": is a link that leads out of the folder"));
  fs::remove(outside);
  EXPECT_THAT(refused(), HasSubstr("is missing"));
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(refused(), HasSubstr("is not a regular file"));
  EXPECT_THAT(VerifyBaselines(folder_, {}), ElementsAre(HasSubstr("is not a regular file")));
}

TEST_F(BaselineFiles, ALinkInsideOfTheFolderIsFollowed) {
  const fs::path file = WriteBaseline(folder_, Accepted(GpuEvidence()));
  fs::rename(file, folder_ / "kept");
  fs::create_symlink(folder_ / "kept", file);
  EXPECT_EQ(FindBaseline(folder_, GpuEvidence(), {}).state, BaselineState::kFound);
}

TEST_F(BaselineFiles, NothingIsWrittenThroughALinkOutOfTheFolder) {
  const fs::path outside = fs::path(folder_.string() + "_outside");
  fs::create_directories(folder_);
  fs::create_directories(outside);
  fs::create_symlink(outside, folder_ / "nvidia-h200");
  EXPECT_THAT(MessageOf([&] { WriteBaseline(folder_, Accepted(GpuEvidence())); }, Fault::kConfig),
              HasSubstr("a link leads out of the baselines folder"));
  EXPECT_TRUE(fs::is_empty(outside));
  fs::remove_all(outside);
}

TEST_F(BaselineFiles, AFileThatHoldsAnotherCaseIsAMistake) {
  const fs::path file = WriteBaseline(folder_, Accepted(GpuEvidence("one")));
  fs::rename(file, file.parent_path() / (Slug("two") + ".json"));
  EXPECT_THAT(MessageOf([&] { FindBaseline(folder_, GpuEvidence("two"), {}); }, Fault::kConfig),
              HasSubstr("this is the place of case `two`, but the file holds `one`"));
}

TEST_F(BaselineFiles, VerifyFindsStrayUndeclaredAndBrokenFiles) {
  const fs::path good = WriteBaseline(folder_, Accepted(GpuEvidence("good")));
  EXPECT_THAT(VerifyBaselines(folder_, {"good"}), IsEmpty());
  fs::create_directories(folder_ / "elsewhere");
  fs::copy(good, folder_ / "elsewhere" / good.filename());
  Write("nvidia-h200/broken.json", "{");
  WriteBaseline(folder_, Accepted(GpuEvidence("gone")));
  EXPECT_THAT(
      VerifyBaselines(folder_, {"good"}),
      testing::UnorderedElementsAre(HasSubstr("in the wrong place"), HasSubstr("broken.json"),
                                    HasSubstr("case `gone` is not declared")));
}

}  // namespace
}  // namespace perfgate
