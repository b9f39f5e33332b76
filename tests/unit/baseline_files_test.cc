#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

KernelRow Row(const std::string& name, const std::string& op_path, std::vector<int64_t> count,
              std::vector<int64_t> time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = op_path;
  row.device = "cuda:0";
  row.count_per_step = std::move(count);
  row.time_ns_per_step = std::move(time_ns);
  row.info = DecodeKernelName(name);
  return row;
}

Evidence GpuEvidence(const std::string& name = "geglu[mode=aoti]") {
  Evidence evidence;
  evidence.case_name = name;
  evidence.device_kind = "cuda";
  evidence.device_name = "NVIDIA H200";
  evidence.key.fields = {{"gpu", "NVIDIA H200"}, {"device", "cuda"}, {"sm_count", "132"},
                         {"torch", "2.11.0"},    {"cuda", "13.0"},   {"definition", "0011"}};
  evidence.key.recorded = {{"driver", "580.1"}, {"host", "a"}};
  evidence.steps = {2, 2};
  evidence.kernels = {Row("zeta", "aten::mul", {1, 1, 1, 1}, {40, 10, 30, 20}),
                      Row("alpha", "aten::gelu", {1, 2, 1, 2}, {10, 20, 11, 21})};
  evidence.values = {{MetricId::kKernels, Side::kHead, 0, 0, {2, 3}},
                     {MetricId::kKernels, Side::kHead, 0, 1, {2, 3}}};
  evidence.operators = {{"aten::mul", OperatorKind::kComputing, {1, 1, 1, 1}, "[[2, 3]]"}};
  return evidence;
}

Baseline Accepted(Evidence evidence, const std::string& commit = "1a2b3c4") {
  return {std::move(evidence),
          commit,
          "2027-01-31T10:15:00Z",
          "first baseline",
          "20270131T101400Z-00002a",
          "0.1.0",
          {}};
}

std::string MessageOf(const std::function<void()>& action, Fault fault) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

class BaselineFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / NameOfTest();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  fs::path folder_;
};

TEST_F(BaselineFiles, APathNamesGpuAndStack) {
  const fs::path path = BaselinePath(folder_, GpuEvidence()).lexically_relative(folder_);
  EXPECT_EQ(path.parent_path(), "nvidia-h200/torch-2.11-cuda-13.0");
  EXPECT_THAT(path.filename().string(), HasSubstr("geglu-mode-aoti-"));
}

TEST_F(BaselineFiles, ACpuBaselineLiesUnderItsInstructionSet) {
  Evidence evidence = GpuEvidence();
  evidence.device_kind = "cpu";
  evidence.key.fields = {{"cpu_isa", "AVX2"}, {"torch", "2.11.0+cpu"}};
  EXPECT_EQ(BaselinePath(folder_, evidence).lexically_relative(folder_).parent_path(),
            "cpu-avx2/torch-2.11");
}

TEST_F(BaselineFiles, HostileNamesNeverLeaveTheFolderOrCollide) {
  std::set<std::string> paths;
  for (const std::string name : {"../../x", "a/b", "a-b", "Gemm", "gemm", "..", "/etc/passwd"}) {
    Evidence evidence = GpuEvidence(name);
    evidence.key.fields["gpu"] = "../../../" + name;
    evidence.key.fields["torch"] = "../..";
    const fs::path file = WriteBaseline(folder_, Accepted(evidence));
    const fs::path relative =
        fs::weakly_canonical(file).lexically_relative(fs::weakly_canonical(folder_));
    EXPECT_NE(*relative.begin(), "..") << name;
    std::string folded = relative.string();
    for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_TRUE(paths.insert(folded).second) << name;
  }
  Evidence evidence = GpuEvidence(std::string(300, 'n'));
  EXPECT_LT(WriteBaseline(folder_, Accepted(evidence)).filename().string().size(), 100U);
}

TEST_F(BaselineFiles, WhatWasAcceptedIsReadBack) {
  const fs::path file = WriteBaseline(folder_, Accepted(GpuEvidence()));
  const BaselineLookup found = FindBaseline(folder_, GpuEvidence(), {});
  ASSERT_EQ(found.state, BaselineState::kFound);
  const Evidence& evidence = found.baseline->evidence;
  EXPECT_EQ(found.baseline->file, file);
  EXPECT_EQ(found.baseline->commit, "1a2b3c4");
  EXPECT_EQ(found.baseline->reason, "first baseline");
  EXPECT_EQ(found.baseline->run, "20270131T101400Z-00002a");
  EXPECT_TRUE(evidence.Complete());
  EXPECT_EQ(evidence.TotalSteps(), 4);
  EXPECT_THAT(Summarise(evidence, MetricId::kKernels).per_step, ElementsAre(2, 3, 2, 3));
  ASSERT_THAT(evidence.kernels, SizeIs(2));
  EXPECT_EQ(evidence.kernels[0].name, "alpha");
  EXPECT_THAT(evidence.kernels[0].count_per_step, ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(evidence.kernels[1].count_per_step, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(evidence.kernels[1].time_ns_per_step, ElementsAre(20, 20, 20, 20));
  EXPECT_EQ(evidence.operators.front().input_dims, "[[2, 3]]");
}

// A kernel whose name says no element type, as Triton's, is known to have changed it by these
// alone.
TEST_F(BaselineFiles, KeepsTheTypesThatOperatorsWereCalledWith) {
  Evidence evidence = GpuEvidence();
  evidence.kernels[0].input_types = "[c10::BFloat16, c10::BFloat16, Scalar]";
  const fs::path file = WriteBaseline(folder_, Accepted(evidence));
  EXPECT_THAT(ReadFile(file),
              HasSubstr(R"("input_types": "[c10::BFloat16, c10::BFloat16, Scalar]"})"));
  const Evidence read = FindBaseline(folder_, evidence, {}).baseline.value().evidence;
  ASSERT_THAT(read.kernels, SizeIs(2));
  EXPECT_EQ(read.kernels[0].input_types, "");  // as where the trace, or an earlier file, lacks them
  EXPECT_EQ(read.kernels[1].input_types, "[c10::BFloat16, c10::BFloat16, Scalar]");
}

TEST_F(BaselineFiles, OtherRulesOfExtractionAreNotComparable) {
  Evidence base = GpuEvidence(), head = GpuEvidence();
  base.extractor = 1;
  head.extractor = 2;
  WriteBaseline(folder_, Accepted(base));
  const BaselineLookup lookup = FindBaseline(folder_, head, {});
  EXPECT_EQ(lookup.state, BaselineState::kNotComparable);
  EXPECT_THAT(lookup.key_differences, ElementsAre("extractor: 1 / 2"));
}

TEST_F(BaselineFiles, AMetricThatTheBaselineLacksIsUnavailableWithTheReason) {
  WriteBaseline(folder_, Accepted(GpuEvidence()));
  const BaselineLookup found = FindBaseline(folder_, GpuEvidence(), {});
  const MetricValue value = Summarise(found.baseline->evidence, MetricId::kLatencyP50);
  EXPECT_FALSE(value.value.has_value());
  EXPECT_THAT(value.unavailable, HasSubstr("the baseline does not have it"));
}

TEST_F(BaselineFiles, AStableRowIsOneLineWithOneCountAndOneTime) {
  const std::string text = ReadFile(WriteBaseline(folder_, Accepted(GpuEvidence())));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"({"operator": "aten::mul", "name": "zeta", "device": "cuda:0", "count": 1, "time_ns": 20})"));
  EXPECT_THAT(text, HasSubstr(R"("count": [1, 2, 1, 2])"));
}

TEST_F(BaselineFiles, TheOrderOfRowsDoesNotChangeTheBytes) {
  Evidence turned = GpuEvidence();
  std::swap(turned.kernels[0], turned.kernels[1]);
  const std::string first = ReadFile(WriteBaseline(folder_, Accepted(GpuEvidence())));
  EXPECT_EQ(ReadFile(WriteBaseline(folder_, Accepted(turned))), first);
}

TEST_F(BaselineFiles, AReadBaselineWritesTheSameBytesAgain) {
  const std::string first = ReadFile(WriteBaseline(folder_, Accepted(GpuEvidence())));
  const Baseline again = *FindBaseline(folder_, GpuEvidence(), {}).baseline;
  EXPECT_EQ(ReadFile(WriteBaseline(folder_, again)), first);
}

TEST_F(BaselineFiles, NoFolderIsNoBaseline) {
  EXPECT_EQ(FindBaseline(folder_ / "none", GpuEvidence(), {}).state, BaselineState::kMissing);
}

TEST_F(BaselineFiles, AnotherKeyIsNotComparableAndSaysTheFields) {
  WriteBaseline(folder_, Accepted(GpuEvidence()));
  Evidence head = GpuEvidence();
  head.key.fields["torch"] = "2.12.0";
  const BaselineLookup found = FindBaseline(folder_, head, {});
  EXPECT_EQ(found.state, BaselineState::kNotComparable);
  EXPECT_THAT(found.key_differences, ElementsAre("torch: 2.11.0 / 2.12.0"));
  EXPECT_TRUE(found.baseline.has_value());
}

TEST_F(BaselineFiles, AFieldThatOnlyOneSideKnowsIsADifference) {
  WriteBaseline(folder_, Accepted(GpuEvidence()));
  Evidence head = GpuEvidence();
  head.key.fields.erase("sm_count");
  const BaselineLookup found = FindBaseline(folder_, head, {});
  EXPECT_EQ(found.state, BaselineState::kNotComparable);
  EXPECT_THAT(found.key_differences, ElementsAre("sm_count: 132 / not known"));
}

TEST_F(BaselineFiles, TheNearestOfSeveralOtherKeysIsShown) {
  Evidence far = GpuEvidence(), near = GpuEvidence(), head = GpuEvidence();
  far.key.fields["gpu"] = "NVIDIA A100";
  far.key.fields["sm_count"] = "108";
  near.key.fields["torch"] = "2.10.0";
  WriteBaseline(folder_, Accepted(far));
  WriteBaseline(folder_, Accepted(near));
  EXPECT_THAT(FindBaseline(folder_, head, {}).key_differences,
              ElementsAre("torch: 2.10.0 / 2.11.0"));
}

TEST_F(BaselineFiles, AnotherDriverIsANoteAndAnotherHostIsNothing) {
  WriteBaseline(folder_, Accepted(GpuEvidence()));
  Evidence head = GpuEvidence();
  head.key.recorded = {{"driver", "590.2"}, {"host", "b"}};
  const BaselineLookup found = FindBaseline(folder_, head, {});
  EXPECT_EQ(found.state, BaselineState::kFound);
  EXPECT_THAT(found.notes, ElementsAre("driver differs from the baseline's: 580.1 / 590.2"));
}

TEST_F(BaselineFiles, AnEarlierNameKeepsItsBaselineUntilTheNextAcceptance) {
  const fs::path old_file = WriteBaseline(folder_, Accepted(GpuEvidence("old")));
  const BaselineLookup found = FindBaseline(folder_, GpuEvidence("new"), {"old"});
  EXPECT_EQ(found.state, BaselineState::kFound);
  EXPECT_THAT(found.notes, ElementsAre("the baseline is of the earlier name `old`"));
  WriteBaseline(folder_, Accepted(GpuEvidence("new")), {"old"});
  EXPECT_FALSE(fs::exists(old_file));
}

TEST_F(BaselineFiles, TheSameStackOnOtherHardwareGetsADigestAndBothStay) {
  Evidence mig = GpuEvidence();
  mig.key.fields["mig"] = "1g.18gb";
  const fs::path plain = WriteBaseline(folder_, Accepted(GpuEvidence()));
  const fs::path other = WriteBaseline(folder_, Accepted(mig));
  EXPECT_NE(plain, other);
  EXPECT_THAT(other.parent_path().filename().string(), HasSubstr("torch-2.11-cuda-13.0-"));
  EXPECT_EQ(WriteBaseline(folder_, Accepted(mig)), other);
  EXPECT_EQ(FindBaseline(folder_, mig, {}).baseline->file, other);
  EXPECT_EQ(FindBaseline(folder_, GpuEvidence(), {}).baseline->file, plain);
}

TEST_F(BaselineFiles, ANewDefinitionTakesThePlaceOfTheOld) {
  Evidence changed = GpuEvidence();
  changed.key.fields["definition"] = "0022";
  const fs::path before = WriteBaseline(folder_, Accepted(GpuEvidence()));
  EXPECT_EQ(FindBaseline(folder_, changed, {}).state, BaselineState::kNotComparable);
  EXPECT_EQ(WriteBaseline(folder_, Accepted(changed)), before);
}

TEST_F(BaselineFiles, UnfitEvidenceIsRefusedWithTheReason) {
  Evidence incomplete = GpuEvidence(), planted = GpuEvidence(), empty = GpuEvidence();
  incomplete.incomplete_because = {"2 launches without a kernel"};
  planted.plant = "clone";
  empty.kernels.clear();
  const auto refused = [&](const Evidence& evidence) {
    return MessageOf([&] { WriteBaseline(folder_, Accepted(evidence)); }, Fault::kInput);
  };
  EXPECT_THAT(refused(incomplete), HasSubstr("2 launches without a kernel"));
  EXPECT_THAT(refused(planted), HasSubstr("planted defect `clone`"));
  EXPECT_THAT(refused(empty), HasSubstr("no kernel was seen"));
  Baseline silent = Accepted(GpuEvidence());
  silent.reason = "  ";
  EXPECT_THAT(MessageOf([&] { WriteBaseline(folder_, silent); }, Fault::kUsage),
              HasSubstr("--reason"));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(BaselineFiles, ABrokenFileIsAMistakeWithItsNameNotAMissingBaseline) {
  Write("nvidia-h200/torch-2.11-cuda-13.0/geglu-mode-aoti.json", "{\"schema\": <<<<<<< HEAD");
  const std::string message =
      MessageOf([&] { FindBaseline(folder_, GpuEvidence("geglu-mode-aoti"), {}); }, Fault::kConfig);
  EXPECT_THAT(message, HasSubstr("geglu-mode-aoti.json"));
}

// Known by the operator alone: the name of a kernel says nothing of what `my::scale` does.
TEST_F(BaselineFiles, ACpuOperatorOfOnesOwnIsDecodedAsInFreshEvidence) {
  Evidence evidence = GpuEvidence();
  evidence.kernels = {Row("my::scale", "my::scale", {1, 1, 1, 1}, {4, 4, 4, 4})};
  evidence.kernels[0].device = "cpu";
  evidence.values = {{MetricId::kCpuKernels, Side::kHead, 0, 0, {1, 1}}};
  DecodeRows(evidence);
  ASSERT_THAT(evidence.kernels[0].info.ops, ElementsAre("scale"));
  WriteBaseline(folder_, Accepted(evidence));
  const BaselineLookup lookup = FindBaseline(folder_, evidence, {});
  ASSERT_EQ(lookup.state, BaselineState::kFound);
  EXPECT_THAT(lookup.baseline->evidence.kernels.at(0).info.ops, ElementsAre("scale"));
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
