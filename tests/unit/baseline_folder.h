// Evidence made by hand, and a folder of baselines of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "baseline/baseline.h"
#include "temp_folder.h"

namespace perfgate {

inline KernelRow Row(const std::string& name, const std::string& op_path,
                     std::vector<int64_t> count, std::vector<int64_t> time_ns) {
  KernelRow row;
  row.name = name;
  row.op_path = op_path;
  row.device = "cuda:0";
  row.count_per_step = std::move(count);
  row.time_ns_per_step = std::move(time_ns);
  row.info = DecodeKernelName(name);
  return row;
}

inline Evidence GpuEvidence(const std::string& name = "geglu[mode=aoti]") {
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

inline Baseline Accepted(Evidence evidence, const std::string& commit = "1a2b3c4") {
  return {std::move(evidence),
          commit,
          "2027-01-31T10:15:00Z",
          "first baseline",
          "20270131T101400Z-00002a",
          "0.1.0",
          {}};
}

inline std::string MessageOf(const std::function<void()>& action, Fault fault) {
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
    folder_ = std::filesystem::path(testing::TempDir()) / NameOfTest();
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  std::filesystem::path folder_;
};

}  // namespace perfgate
