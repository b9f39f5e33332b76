// The defects of real traces, each as a small file with the right answer: tests/data/defects. What
// an answer says is checked: outcome, the sentence that tells of it, and what was counted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "evidence/evidence.h"

namespace perfgate {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::filesystem::path kDefects = std::filesystem::path(PERFGATE_TEST_DATA) / "defects";

const Json& Answers() {
  static const Json kAnswers = ParseJson(ReadFile(kDefects / "answers.json"), "answers.json");
  return kAnswers;
}

std::vector<std::string> FilesOfAnswers() {
  std::vector<std::string> names;
  for (const auto& [name, answer] : Answers().AsObject()) names.push_back(name);
  return names;
}

// What an answer may say, by its keys.
class Defect : public testing::TestWithParam<std::string> {
 protected:
  const Json& answer() const { return Answers().At(GetParam()); }
  std::string Says() const {
    const Json* says = answer().Find("says");
    return says == nullptr ? "" : says->AsString();
  }

  void CheckOutcome(const Evidence& evidence) const {
    const std::string& outcome = answer().At("outcome").AsString();
    if (outcome == "incomplete") {
      EXPECT_THAT(evidence.incomplete_because, Contains(HasSubstr(Says())));
      return;
    }
    EXPECT_THAT(evidence.incomplete_because, IsEmpty());
    if (outcome == "warning") {
      EXPECT_THAT(evidence.notes, Contains(HasSubstr(Says())));
    } else {
      EXPECT_EQ(outcome, "read");
      EXPECT_THAT(evidence.notes, Not(Contains(StartsWith("trace: "))));
    }
  }

  void CheckMetric(const Evidence& evidence, const std::string& name, const Json& expected) const {
    const std::optional<MetricId> metric = FindMetric(name);
    ASSERT_TRUE(metric.has_value()) << name;
    const MetricValue value = Summarise(evidence, *metric);
    if (expected.IsNull()) {
      EXPECT_NE(value.unavailable, "") << name;
      EXPECT_THAT(value.per_step, IsEmpty()) << name;
      return;
    }
    EXPECT_EQ(value.unavailable, "") << name;
    if (expected.IsArray()) {
      std::vector<double> steps;
      for (const Json& step : expected.AsArray()) steps.push_back(step.AsNumber());
      EXPECT_EQ(value.per_step, steps) << name;
    } else {
      EXPECT_EQ(std::accumulate(value.per_step.begin(), value.per_step.end(), 0.0),
                expected.AsNumber())
          << name;
    }
  }

  void CheckCounts(const Evidence& evidence) const {
    if (const Json* steps = answer().Find("steps")) {
      EXPECT_EQ(evidence.steps[0], steps->AsInt());
    }
    if (const Json* early = answer().Find("pre_window")) {
      EXPECT_EQ(evidence.pre_window, early->AsInt());
    }
    if (const Json* metrics = answer().Find("metrics")) {
      for (const auto& [name, expected] : metrics->AsObject()) {
        CheckMetric(evidence, name, expected);
      }
    }
    const Json* counts = answer().Find("operator_count");
    for (const OperatorRow& row : evidence.operators) {
      const Json* count = counts == nullptr ? nullptr : counts->Find(row.name);
      if (count == nullptr) continue;
      EXPECT_EQ(std::accumulate(row.count_per_step.begin(), row.count_per_step.end(), int64_t{0}),
                count->AsInt());
    }
  }

  void CheckRows(const Evidence& evidence) const {
    std::set<std::string> operators, kernels;
    for (const OperatorRow& row : evidence.operators) operators.insert(row.name);
    for (const KernelRow& row : evidence.kernels) {
      kernels.insert(row.name);
      if (const Json* paths = answer().Find("paths"); paths && paths->Find(row.name) != nullptr) {
        EXPECT_EQ(row.op_path, paths->At(row.name).AsString()) << row.name;
      }
      if (const Json* device = answer().Find("device")) {
        EXPECT_EQ(row.device, device->AsString());
      }
      if (const Json* streams = answer().Find("streams")) {
        EXPECT_EQ(Json::ArrayOf(row.streams), *streams);
      }
    }
    if (const Json* name = answer().Find("operator")) {
      EXPECT_THAT(operators, Contains(name->AsString()));
    }
    if (const Json* name = answer().Find("kernel")) {
      EXPECT_THAT(kernels, Contains(name->AsString()));
    }
  }

  void CheckWords(const Evidence& evidence) const {
    if (const Json* text = answer().Find("explain")) {
      EXPECT_THAT(evidence.explain, Contains(HasSubstr(text->AsString())));
    }
    if (const Json* text = answer().Find("note")) {
      EXPECT_THAT(evidence.notes, Contains(HasSubstr(text->AsString())));
    }
    if (const Json* gpu = answer().Find("gpu")) {
      EXPECT_EQ(evidence.device_name, gpu->AsString());
    }
    const std::string json = WriteJson(ToJson(evidence));
    if (const Json* hidden = answer().Find("nowhere")) {
      EXPECT_THAT(json, Not(HasSubstr(hidden->AsString())));
    }
    EXPECT_EQ(WriteJson(ToJson(EvidenceFromJson(ParseJson(json, "evidence")))), json);
  }
};

TEST_P(Defect, HasTheRightAnswer) {
  const std::filesystem::path path = kDefects / GetParam();
  if (answer().At("outcome").AsString() != "refused") {
    const Evidence evidence = ExtractTrace(path);
    CheckOutcome(evidence);
    CheckCounts(evidence);
    CheckRows(evidence);
    CheckWords(evidence);
    return;
  }
  try {
    const Evidence evidence = ExtractTrace(path);
    FAIL() << "read as a trace";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInput);
    EXPECT_THAT(error.what(), HasSubstr("not a trace but " + Says()));
  }
}

std::string NameOfFile(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Defect, testing::ValuesIn(FilesOfAnswers()), NameOfFile);

// Every file has an answer, and every one of the 52 kinds has a file.
TEST(Defects, AreAllThere) {
  std::set<std::string> files, answers;
  for (const auto& entry : std::filesystem::directory_iterator(kDefects)) {
    const std::string name = entry.path().filename().string();
    if (name != "answers.json" && name != "README.md") files.insert(name);
  }
  for (const std::string& name : FilesOfAnswers()) answers.insert(name);
  EXPECT_EQ(files, answers);
  constexpr int kKinds = 52;
  for (int kind = 1; kind <= kKinds; ++kind) {
    const std::string number = fmt::format("{:02}", kind);
    EXPECT_THAT(answers, Contains(StartsWith(number)));
  }
}

}  // namespace
}  // namespace perfgate
