// Suites and rule files written into a folder of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "declare/declare.h"
#include "temp_folder.h"

namespace perfgate {

class DeclaredFiles : public testing::Test {
 protected:
  DeclaredFiles() {
    folder_ = std::filesystem::path(testing::TempDir()) / NameOfTest();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "rules");
  }
  ~DeclaredFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  // The mistakes of a suite, one a line, without the folder's name. "" if there are none.
  std::string SuiteMistakes(const std::string& text) {
    try {
      LoadSuite(Write("perfgate.yaml", text));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kConfig);
      return WithoutFolder(error.what());
    }
    return "";
  }

  std::vector<Rule> Rules(const std::string& text) {
    Write("rules/mine.yaml", text);
    return LoadRules({"rules/mine.yaml"}, folder_);
  }

  std::string RuleMistakes(const std::string& text) {
    try {
      Rules(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kConfig);
      return WithoutFolder(error.what());
    }
    return "";
  }

  std::string WithoutFolder(std::string text) const {
    const std::string prefix = folder_.generic_string() + "/";
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  std::filesystem::path folder_;
};

}  // namespace perfgate
