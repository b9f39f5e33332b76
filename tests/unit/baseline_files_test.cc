// What is accepted, where it lies, and which baseline is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "baseline/baseline.h"
#include "baseline_folder.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace perfgate
