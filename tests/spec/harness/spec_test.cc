// Registers every tests/spec/<promise>/<sentence>.test as one test.
//
//   spec_test [--update] [--gtest_filter=no_false_green.*]
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/spec_file.h"
#include "harness/spec_runner.h"

namespace perfgate::spec {
namespace {

namespace fs = std::filesystem;

class SpecTest : public testing::Test {
 public:
  SpecTest(fs::path path, bool update) : path_(std::move(path)), update_(update) {}

  void TestBody() override {
    try {
      const SpecFile spec = ReadSpec(path_);
      for (const std::string& problem : RunSpec(spec, update_)) {
        ADD_FAILURE() << spec.title << "\n" << problem;
      }
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }

 private:
  fs::path path_;
  bool update_;
};

void RegisterAll(const fs::path& folder, bool update) {
  std::vector<fs::path> specs;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".test") specs.push_back(entry.path());
  }
  std::sort(specs.begin(), specs.end());
  for (const fs::path& path : specs) {
    const std::string promise = path.parent_path().filename().string();
    testing::RegisterTest(promise.c_str(), path.stem().c_str(), nullptr, nullptr, path.c_str(), 1,
                          [=]() -> SpecTest* { return new SpecTest(path, update); });
  }
}

}  // namespace
}  // namespace perfgate::spec

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool update =
      std::getenv("UPDATE_SPECS") != nullptr ||
      std::any_of(argv + 1, argv + argc, [](std::string_view flag) { return flag == "--update"; });
  perfgate::spec::RegisterAll(PERFGATE_SPECS, update);
  return RUN_ALL_TESTS();
}
