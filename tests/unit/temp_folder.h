// A folder of the running test's own, gone when the test ends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace perfgate {

// Names of parameterised tests hold `/`, which is no part of a file's name.
inline std::string NameOfTest() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "_" + info->name();
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

class TempFolder : public testing::Test {
 protected:
  TempFolder() : folder_(std::filesystem::path(testing::TempDir()) / NameOfTest()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TempFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::filesystem::path folder_;
};

}  // namespace perfgate
