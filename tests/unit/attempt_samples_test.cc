#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "attempt/attempt.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SamplesFile : public TempFolder {
 protected:
  std::filesystem::path File() const { return folder_ / "samples.json"; }
  Samples Read(const std::string& text) {
    std::ofstream(File()) << text;
    return ReadSamples(File());
  }
  std::string ErrorOf(const std::string& text) {
    try {
      Read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kInput);
      return error.what();
    }
    return "no error";
  }
};

TEST_F(SamplesFile, WhatIsWrittenIsReadBack) {
  Samples samples;
  samples.cold_start_ns = 1'234'567'890'123;
  samples.load_ns = 0;
  samples.first_call_ns = 17;
  samples.warmup_iterations = 7;
  samples.steady = true;
  samples.latency_ns = {9'007'199'254'740'993, 2, 3};  // 2^53 + 1: exact beyond a double
  samples.dispatch_ns = {1, 1, 1};
  samples.device_latency_ns = {8, 9};
  samples.outputs = {
      {"out", {64, 768}, "bf16", 0.1, -1, std::nan(""), 1, 2, "out-0.f32"},
  };
  samples.environment = {{"torch", "2.11.0"}, {"writer", "test \"quoted\""}};
  samples.fallback = {{"hand_fused", "built without nvcc"}};
  samples.plant = "clone";
  samples.inputs = "seed 1";
  samples.outputs[0].stride = 5;
  WriteSamples(samples, File());
  const Samples read = ReadSamples(File());
  EXPECT_EQ(read.cold_start_ns, samples.cold_start_ns);
  EXPECT_EQ(read.load_ns, 0);
  EXPECT_EQ(read.compile_ns, std::nullopt);
  EXPECT_EQ(read.first_call_ns, 17);
  EXPECT_EQ(read.warmup_iterations, 7);
  EXPECT_TRUE(read.steady);
  EXPECT_EQ(read.latency_ns, samples.latency_ns);
  EXPECT_EQ(read.dispatch_ns, samples.dispatch_ns);
  EXPECT_EQ(read.device_latency_ns, samples.device_latency_ns);
  ASSERT_EQ(read.outputs.size(), 1U);
  EXPECT_EQ(read.outputs[0].shape, (std::vector<int64_t>{64, 768}));
  EXPECT_EQ(read.outputs[0].mean, 0.1);
  EXPECT_TRUE(std::isnan(read.outputs[0].max));
  EXPECT_EQ(read.outputs[0].inf_count, 2);
  EXPECT_EQ(read.outputs[0].file, "out-0.f32");
  EXPECT_EQ(read.outputs[0].stride, 5);
  EXPECT_EQ(read.inputs, "seed 1");
  EXPECT_EQ(read.environment, samples.environment);
  ASSERT_EQ(read.fallback.size(), 1U);
  EXPECT_EQ(read.fallback[0].why, "built without nvcc");
  EXPECT_EQ(read.plant, "clone");
}

TEST_F(SamplesFile, OnlyTheSchemaIsRequiredAndUnknownKeysAreIgnored) {
  const Samples read = Read(R"({"schema": "perfgate.samples/1", "colour": [1, {"deep": null}]})");
  EXPECT_EQ(read.cold_start_ns, 0);
  EXPECT_TRUE(read.latency_ns.empty());
}

TEST_F(SamplesFile, AnotherSchemaIsRefusedWithBothNames) {
  EXPECT_THAT(ErrorOf(R"({"schema": "perfgate.samples/2"})"),
              AllOf(HasSubstr("samples.json: schema: expected \"perfgate.samples/1\""),
                    HasSubstr("found \"perfgate.samples/2\"")));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("samples.json: schema: is missing"));
}

TEST_F(SamplesFile, AWrongValueIsNamedByItsKey) {
  const std::string open = R"({"schema": "perfgate.samples/1", )";
  EXPECT_THAT(ErrorOf(open + R"("latency_ns": [1, 2.5]})"),
              HasSubstr("samples.json: latency_ns[1]: expected a whole number"));
  EXPECT_THAT(ErrorOf(open + R"("latency_ns": [-1]})"),
              HasSubstr("latency_ns[0]: expected a whole number that is not negative"));
  EXPECT_THAT(ErrorOf(open + R"("warmup_iterations": 4294967296})"),
              HasSubstr("warmup_iterations: expected a whole number from 0 to 2147483647"));
  EXPECT_THAT(ErrorOf(open + R"("outputs": [{}, {"mean": "1"}]})"),
              HasSubstr("outputs[1].mean: expected a number"));
  EXPECT_THAT(ErrorOf(open + R"("outputs": [{"name": "y"}, {"name": "x"}, {"name": "y"}]})"),
              HasSubstr("outputs[2].name: another output has the same one"));
  EXPECT_THAT(ErrorOf(open + R"("environment": {"threads": 2}})"),
              HasSubstr("environment.threads: expected text"));
  EXPECT_THAT(ErrorOf(open + R"("fallback": [{"why": "x"}]})"),
              HasSubstr("fallback[0].what: is missing"));
  EXPECT_THAT(ErrorOf(open + R"("steady": "yes"})"), HasSubstr("steady: expected true or false"));
}

TEST_F(SamplesFile, AnElementTypeIsReadUnderAllOfItsNames) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"bfloat16", "bf16"}, {"torch.bfloat16", "bf16"},
      {"BFloat16", "bf16"}, {"float32", "fp32"},
      {"float", "fp32"},    {"float16", "fp16"},
      {"half", "fp16"},     {"float64", "fp64"},
      {"double", "fp64"},   {"float8_e4m3fn", "fp8_e4m3"},
      {"long", "int64"},    {"bf16", "bf16"},
      {"int64", "int64"},   {"bool", "bool"},
      {"fp6", "fp6"},       {"", ""}};
  for (const auto& [written, wanted] : names) {
    const Samples read =
        Read(R"({"schema": "perfgate.samples/1", "outputs": [{"dtype": ")" + written + R"("}]})");
    EXPECT_EQ(read.outputs[0].dtype, wanted) << written;
  }
}

TEST_F(SamplesFile, TextThatIsNoJsonIsNamedByLine) {
  EXPECT_THAT(ErrorOf("{\n\"schema\": NaN}"), HasSubstr("samples.json:2:11: NaN is not JSON"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("samples.json: expected an object"));
  EXPECT_THAT(ErrorOf(std::string(5000, '[')), HasSubstr("nested deeper"));
}

TEST_F(SamplesFile, AnOutputFileOutsideTheAttemptIsRefused) {
  for (const std::string path : {"../x", "/etc/passwd", "a/../../x", ".", "a\\nb"}) {
    EXPECT_THAT(
        ErrorOf(R"({"schema": "perfgate.samples/1", "outputs": [{"file": ")" + path + R"("}]})"),
        HasSubstr("outputs[0].file: expected a path inside the attempt folder"))
        << path;
  }
}

TEST_F(SamplesFile, AShapeThatNoTensorHasIsRefused) {
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ", 1";
  EXPECT_THAT(
      ErrorOf(R"({"schema": "perfgate.samples/1", "outputs": [{"shape": [)" + ones + "]}]}"),
      HasSubstr("outputs[0].shape: expected at most 64 sizes"));
}

TEST(Outputs, ASampleHoldsTheFirstElementAndEveryFurtherOne) {
  Output output;
  EXPECT_EQ(ElementsOf(output), 1);  // no dimension: a scalar
  output.shape = {3, 4};
  EXPECT_EQ(SavedElementsOf(output), 12);
  output.stride = 5;
  EXPECT_EQ(SavedElementsOf(output), 3);  // 0, 5, 10
  output.shape = {3, 0, INT64_MAX};
  EXPECT_EQ(SavedElementsOf(output), 0);
  output.shape = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(ElementsOf(output), INT64_MAX);
}

TEST_F(SamplesFile, ANamedPipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(::mkfifo(File().c_str(), 0600), 0);
  try {
    ReadSamples(File());
    FAIL() << "read a pipe";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("samples.json: is not a regular file"));
  }
}

TEST_F(SamplesFile, AFileBeyondTheBoundIsRefused) {
  std::filesystem::resize_file((std::ofstream(File()) << "{", File()), (64LL << 20) + 1);
  try {
    ReadSamples(File());
    FAIL() << "read a huge file";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("larger than 67108864 bytes"));
  }
}

}  // namespace
}  // namespace perfgate
