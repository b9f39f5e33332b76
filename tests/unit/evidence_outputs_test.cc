// What a case computed, compared with what its reference computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class OutputsOfACase : public testing::Test {
 protected:
  void SetUp() override {
    out_ = std::filesystem::path(testing::TempDir()) / NameOfTest();
    std::filesystem::remove_all(out_);
    declared_.name = "geglu[dtype=bf16]";
    declared_.argv = {"true"};
    declared_.reference = "geglu[dtype=fp32]";
  }
  void TearDown() override { std::filesystem::remove_all(out_); }

  // A process of the case, or of its reference, that left nothing yet.
  AttemptData& Process(bool of_reference = false) {
    std::vector<AttemptData>& list = of_reference ? reference_ : attempts_;
    AttemptData data;
    data.attempt.process = static_cast<int>(list.size());
    data.attempt.phase = Phase::kTimed;
    data.attempt.dir =
        std::string(of_reference ? "reference-" : "case-") + std::to_string(list.size());
    data.samples.emplace();
    data.samples->inputs = "seed 1";
    std::filesystem::create_directories(out_ / data.attempt.dir);
    list.push_back(std::move(data));
    return list.back();
  }

  Output& Save(AttemptData& data, const std::string& name, std::vector<int64_t> shape,
               const std::vector<float>& values, const std::string& dtype = "bf16") {
    std::ofstream(out_ / data.attempt.dir / (name + ".f32"), std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    Output output;
    output.name = name;
    output.shape = std::move(shape);
    output.dtype = dtype;
    output.nan_count = output.inf_count = 0;
    output.file = name + ".f32";
    data.samples->outputs.push_back(std::move(output));
    return data.samples->outputs.back();
  }

  Evidence Run() { return Extract(declared_, attempts_, out_, {}, reference_); }

  // Why the two were not compared.
  std::string Reason() {
    const Evidence evidence = Run();
    const std::string reason = Summarise(evidence, MetricId::kRelativeError).unavailable;
    EXPECT_THAT(evidence.incomplete_because, Contains(reason));
    EXPECT_EQ(Summarise(evidence, MetricId::kMaxAbsError).unavailable, reason);
    return reason;
  }

  std::filesystem::path out_;
  Case declared_;
  std::vector<AttemptData> attempts_, reference_;
};

constexpr const char* kNot = "not compared with the reference geglu[dtype=fp32]: ";

TEST_F(OutputsOfACase, AreComparedElementByElement) {
  Save(Process(), "y", {2, 2}, {3, 4.5F, 0, 0});
  Save(Process(true), "y", {2, 2}, {3, 4, 0, 0}, "fp32");
  const Evidence evidence = Run();
  EXPECT_DOUBLE_EQ(*Summarise(evidence, MetricId::kRelativeError).value, 0.1);
  EXPECT_DOUBLE_EQ(*Summarise(evidence, MetricId::kMaxAbsError).value, 0.5);
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 0);
  EXPECT_EQ(evidence.reference, "geglu[dtype=fp32]");
  ASSERT_EQ(evidence.outputs.size(), 1U);
  const OutputError& error = *evidence.outputs[0].error;
  EXPECT_EQ(error.reference_dtype, "fp32");
  EXPECT_EQ(error.compared, 4);
  EXPECT_THAT(error.index, ElementsAre(0, 1));
  EXPECT_EQ(error.value, 4.5);
  EXPECT_EQ(error.reference, 4);
  EXPECT_THAT(evidence.notes, IsEmpty());
}

TEST_F(OutputsOfACase, TheWorstOutputOfTheWorstProcessCounts) {
  AttemptData& first = Process();
  Save(first, "x", {1}, {1});
  Save(first, "y", {1}, {4});
  AttemptData& second = Process();
  Save(second, "x", {1}, {2});
  Save(second, "y", {1}, {4});
  AttemptData& wanted = Process(true);
  Save(wanted, "y", {1}, {4});
  Save(wanted, "x", {1}, {1});
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kRelativeError).value, 1);
  EXPECT_TRUE(Summarise(evidence, MetricId::kRelativeError).stable);
  ASSERT_EQ(evidence.outputs.size(), 4U);
  EXPECT_EQ(evidence.outputs[2].process, 1);
  EXPECT_EQ(evidence.outputs[2].error->relative, 1);
  EXPECT_EQ(evidence.outputs[3].error->relative, 0);
}

TEST_F(OutputsOfACase, ANanThatTheReferenceHasNotIsInfinite) {
  Save(Process(), "y", {2, 3}, {1, 2, 3, 4, kNan, 6});
  Save(Process(true), "y", {2, 3}, {1, 2, 3, 4, 5, 6});
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kRelativeError).value, kInfinity);
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 1);
  EXPECT_EQ(evidence.outputs[0].error->unlike, 1);
  EXPECT_THAT(evidence.outputs[0].error->index, ElementsAre(1, 1));
  EXPECT_THAT(*evidence.outputs[0].first_nan, ElementsAre(1, 1));
}

TEST_F(OutputsOfACase, NanInBothPlacesIsCountedAndNoDifference) {
  Save(Process(), "y", {3}, {1, kNan, 3});
  Save(Process(true), "y", {3}, {1, kNan, 3});
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kRelativeError).value, 0);
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 1);
}

TEST_F(OutputsOfACase, NothingButNanOnBothSidesWasNotCompared) {
  Save(Process(), "y", {2}, {kNan, kNan});
  Save(Process(true), "y", {2}, {kNan, kNan});
  EXPECT_EQ(Reason(),
            std::string(kNot) + "of output 'y' no element is a finite number, here and there");
}

TEST_F(OutputsOfACase, NothingToCompareIsNoEquality) {
  Save(Process(), "y", {0, 4}, {});
  Save(Process(true), "y", {0, 4}, {});
  EXPECT_EQ(Reason(), std::string(kNot) + "no output has an element");
}

TEST_F(OutputsOfACase, ElementsAreCountedWhateverTheWorkloadSays) {
  declared_.reference.clear();
  Save(Process(), "y", {3}, {1, kNan, std::numeric_limits<float>::infinity()}).nan_count = -1;
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 1);
  EXPECT_EQ(Summarise(evidence, MetricId::kInfCount).value, 1);
  EXPECT_THAT(*evidence.outputs[0].first_inf, ElementsAre(2));
  EXPECT_FALSE(evidence.outputs[0].error.has_value());
  EXPECT_EQ(Summarise(evidence, MetricId::kRelativeError).unavailable,
            "the case declares no reference");
}

TEST_F(OutputsOfACase, ASampleIsComparedWithTheSameSample) {
  Output& output = Save(Process(), "y", {2, 5}, {0, 3, 6, 9.5F});
  output.stride = 3;
  output.nan_count = 2;  // beside the sample
  Save(Process(true), "y", {2, 5}, {0, 3, 6, 9}).stride = 3;
  const Evidence evidence = Run();
  EXPECT_EQ(evidence.outputs[0].error->compared, 4);
  EXPECT_THAT(evidence.outputs[0].error->index, ElementsAre(1, 4));
  EXPECT_EQ(Summarise(evidence, MetricId::kNanCount).value, 2);
  EXPECT_THAT(evidence.notes, Contains("of output 'y' 4 of 10 elements were saved and compared"));
}

TEST_F(OutputsOfACase, OtherOutputsThanTheReferenceAreLoud) {
  AttemptData& data = Process();
  Save(data, "y", {2, 2}, {1, 2, 3, 4});
  AttemptData& wanted = Process(true);
  Save(wanted, "y", {4, 1}, {1, 2, 3, 4});
  EXPECT_EQ(Reason(), std::string(kNot) + "output 'y' has shape [2, 2], there [4, 1]");
  wanted.samples->outputs[0].name = "z";
  EXPECT_EQ(Reason(), std::string(kNot) + "there is no output 'y'");
  wanted.samples->outputs[0] = data.samples->outputs[0];
  Save(wanted, "more", {1}, {1});
  EXPECT_EQ(Reason(), std::string(kNot) + "only it has output 'more'");
  wanted.samples->outputs.pop_back();
  wanted.samples->outputs[0].stride = 2;
  EXPECT_EQ(Reason(),
            std::string(kNot) + "of output 'y' every 1. element was saved, there every 2.");
}

TEST_F(OutputsOfACase, WhatWasNotSavedIsLoud) {
  Save(Process(), "y", {1}, {1});
  AttemptData& wanted = Process(true);
  EXPECT_EQ(Reason(), std::string(kNot) + "it saved no outputs");
  Save(wanted, "y", {1}, {1}).file.clear();
  EXPECT_EQ(Reason(), std::string(kNot) + "output 'y' was not saved there");
  wanted.samples->outputs[0].file = "y.f32";
  attempts_[0].samples->outputs.clear();
  EXPECT_EQ(Reason(), std::string(kNot) + "the case saved no outputs");
  attempts_[0].samples.reset();
  EXPECT_EQ(Reason(), std::string(kNot) + "the case wrote no samples.json");
}

TEST_F(OutputsOfACase, AReferenceThatFailedIsLoud) {
  Save(Process(), "y", {1}, {1});
  EXPECT_EQ(Reason(), std::string(kNot) + "it was not run");
  AttemptData& wanted = Process(true);
  Save(wanted, "y", {1}, {1});
  wanted.faults = {"exit code 2"};
  EXPECT_EQ(Reason(), std::string(kNot) + "exit code 2");
}

TEST_F(OutputsOfACase, AFileThatEndsEarlyIsLoud) {
  Save(Process(), "y", {4}, {1, 2});
  Save(Process(true), "y", {4}, {1, 2, 3, 4});
  EXPECT_EQ(Reason(), std::string(kNot) + "output 'y' could not be read to its end");
}

TEST_F(OutputsOfACase, OtherInputsAreLoudAndUnknownOnesAreSaid) {
  AttemptData& data = Process();
  Save(data, "y", {1}, {1});
  Save(Process(true), "y", {1}, {1});
  data.samples->inputs = "seed 2";
  EXPECT_EQ(Reason(), std::string(kNot) + "its inputs are other ones (seed 2, there seed 1)");
  data.samples->inputs = "";
  EXPECT_THAT(Run().notes, Contains(HasSubstr("had the same inputs is not known")));
  EXPECT_EQ(Summarise(Run(), MetricId::kRelativeError).value, 0);
}

TEST_F(OutputsOfACase, ADefectThatWasPlantedIntoTheReferenceIsSaid) {
  Save(Process(), "y", {1}, {1});
  AttemptData& wanted = Process(true);
  Save(wanted, "y", {1}, {2});
  wanted.samples->plant = "narrow";
  EXPECT_THAT(Run().notes,
              Contains("the reference geglu[dtype=fp32] has the planted defect 'narrow'"));
}

TEST_F(OutputsOfACase, WhatProcessesOfTheReferenceDifferByIsSaid) {
  Save(Process(), "y", {1}, {4});
  Save(Process(true), "y", {1}, {4});
  Save(Process(true), "y", {1}, {5});
  const Evidence evidence = Run();
  EXPECT_EQ(Summarise(evidence, MetricId::kRelativeError).value, 0);
  EXPECT_THAT(evidence.notes, Contains("processes of the reference geglu[dtype=fp32] differ from "
                                       "each other by a relative error of up to 0.25"));
}

TEST_F(OutputsOfACase, TheFirstProcessOfItsOwnReferenceIsNotComparedWithItself) {
  declared_.reference = declared_.name;
  Save(Process(), "y", {2}, {3, 4});
  reference_ = attempts_;
  Evidence evidence = Run();
  for (const MetricId id : {MetricId::kRelativeError, MetricId::kMaxAbsError}) {
    EXPECT_EQ(Summarise(evidence, id).unavailable, kReferenceAlone);
  }
  EXPECT_THAT(evidence.incomplete_because, Not(Contains(HasSubstr("not compared"))));
  EXPECT_EQ(*Summarise(evidence, MetricId::kNanCount).value, 0);
  Save(Process(), "y", {2}, {3, 4.5F});
  reference_ = attempts_;
  evidence = Run();
  EXPECT_DOUBLE_EQ(*Summarise(evidence, MetricId::kRelativeError).value, 0.1);
}

TEST_F(OutputsOfACase, OfTheBaseWhatWasNotComparedIsOnlyUnavailable) {
  AttemptData& data = Process();
  data.attempt.side = Side::kBase;
  Save(data, "y", {2}, {1, 2});
  Save(Process(true), "y", {1}, {1});
  const Evidence evidence = Run();
  EXPECT_THAT(Summarise(evidence, MetricId::kRelativeError).unavailable, HasSubstr("has shape"));
  EXPECT_THAT(evidence.incomplete_because, Not(Contains(HasSubstr("has shape"))));
}

TEST_F(OutputsOfACase, SurviveTheJsonForm) {
  Save(Process(), "y", {2, 2}, {1, 2, kNan, 4});
  Save(Process(true), "y", {2, 2}, {1, 2, 3, 4}, "fp32");
  const Evidence evidence = Run();
  const Evidence read = EvidenceFromJson(ParseJson(WriteJson(ToJson(evidence)), "evidence"));
  EXPECT_EQ(WriteJson(ToJson(read)), WriteJson(ToJson(evidence)));
  EXPECT_EQ(Summarise(read, MetricId::kRelativeError).value, kInfinity);
  ASSERT_EQ(read.outputs.size(), 1U);
  EXPECT_TRUE(std::isnan(read.outputs[0].error->value));
  EXPECT_EQ(read.outputs[0].error->relative, kInfinity);
  EXPECT_EQ(read.reference, evidence.reference);
}

}  // namespace
}  // namespace perfgate
