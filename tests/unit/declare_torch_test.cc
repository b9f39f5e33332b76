// What a suite may ask of the built-in modules.
#include <gmock/gmock.h>

#include "declare_files.h"
#include "perfgate/modules.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

class TorchWorkload : public DeclaredFiles {
 protected:
  // The mistakes of a suite whose only workload has this `torch` mapping.
  std::string MistakesOf(const std::string& torch) { return SuiteMistakes(Text(torch)); }
  // Its arguments for the runner, with blanks between them.
  std::string ArgumentsOf(const std::string& torch) {
    const Suite suite = LoadSuite(Write("perfgate.yaml", Text(torch)));
    std::string all;
    for (const std::string& argument : suite.cases[0].argv) all += argument + " ";
    return all;
  }

 private:
  std::string Text(const std::string& torch) {
    Write("rules/mine.yaml",
          "version: 1\nrules: [{id: a, metric: kernels, limit: {at_most: 1}}]\n");
    return "version: 1\nrules: [rules/mine.yaml]\nworkloads:\n  - name: a\n    torch: {" + torch +
           "}\n";
  }
};

// A mapping of a module with every size as by hand, and the shape that goes with it.
std::string AsByHand(const modules::Module& module) {
  std::string text = "module: " + std::string(module.name);
  modules::Values values;
  for (const modules::Setting& setting : modules::SettingsOf(module)) {
    values.emplace(setting.name, setting.Default());
    if (setting.IsSize()) {
      text += ", " + std::string(setting.name) + ": " + std::string(setting.Default());
    }
  }
  std::string shape;
  for (const std::string_view dimension : module.input) {
    if (dimension.empty() || dimension == "...") continue;
    const auto value = values.find(std::string(dimension));
    shape += (shape.empty() ? "" : ", ") +
             (value == values.end() ? std::string(dimension) : value->second);
  }
  return text + ", input: {shape: [" + shape + "], dtype: bf16}";
}

TEST_F(TorchWorkload, EveryModuleCanBeDeclaredAndAllItsSettingsAreSaidToTheRunner) {
  for (const modules::Module& module : modules::kModules) {
    const std::string arguments = ArgumentsOf(AsByHand(module));
    EXPECT_THAT(arguments, HasSubstr("--module " + std::string(module.name) + " "));
    for (const modules::Setting& setting : modules::SettingsOf(module)) {
      EXPECT_THAT(arguments, HasSubstr("--set " + std::string(setting.name) + "=" +
                                       std::string(setting.Default()) + " "));
    }
  }
}

TEST_F(TorchWorkload, EveryModeIsKnown) {
  for (const std::string_view mode : modules::kModes) {
    EXPECT_THAT(
        ArgumentsOf(AsByHand(*modules::FindModule("swiglu")) + ", mode: " + std::string(mode)),
        HasSubstr("--mode " + std::string(mode) + " "));
  }
}

TEST_F(TorchWorkload, AHandFusedKernelIsRefusedWhereThereIsNone) {
  EXPECT_THAT(MistakesOf(AsByHand(*modules::FindModule("mlp")) + ", mode: hand_fused"),
              HasSubstr("workloads[0].torch.mode: module mlp has no hand-fused kernel; geglu and "
                        "swiglu have one"));
}

TEST_F(TorchWorkload, ATrainingStepIsNotExported) {
  const std::string mlp = AsByHand(*modules::FindModule("mlp")) + ", train: true";
  EXPECT_THAT(MistakesOf(mlp + ", mode: aoti"),
              HasSubstr("workloads[0].torch.mode: AOTInductor exports no training step; there are "
                        "eager and cuda_graph"));
  EXPECT_THAT(ArgumentsOf(mlp + ", optimizer: adamw"),
              HasSubstr("--set train=true --set optimizer=adamw "));
}

TEST_F(TorchWorkload, SizesThatContradictEachOtherAreSaid) {
  EXPECT_THAT(MistakesOf("module: decode, hidden: 768, heads: 7, context: 8, "
                         "input: {shape: [1, 768], dtype: bf16}"),
              HasSubstr("workloads[0].torch: hidden of module decode is 768, which its heads, 7, "
                        "do not divide"));
  EXPECT_THAT(MistakesOf("module: moe, hidden: 8, intermediate: 8, experts: 2, top_k: 3, "
                         "input: {shape: [1, 8], dtype: bf16}"),
              HasSubstr("workloads[0].torch: top_k of module moe is 3, but it has only 2 experts"));
}

TEST_F(TorchWorkload, AShapeOfAnotherRankIsSaidWithTheRightOne) {
  EXPECT_THAT(MistakesOf("module: attention, input: {shape: [8, 64], dtype: bf16}"),
              HasSubstr("workloads[0].torch.input: the shape has 2 dimensions, but module "
                        "attention takes [8, 16, 1024, 64]"));
}

TEST_F(TorchWorkload, AnyNumberOfDimensionsWillDoWhereTheModuleTakesThem) {
  for (const char* shape : {"[768]", "[2, 768]", "[2, 3, 4, 768]"}) {
    EXPECT_EQ(MistakesOf("module: mlp, hidden: 768, intermediate: 16, input: {shape: " +
                         std::string(shape) + ", dtype: fp32}"),
              "");
  }
}

}  // namespace
}  // namespace perfgate
