#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "declare/keys.h"
#include "declare_files.h"
#include "perfgate/modules.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

// The fenced blocks of a page of docs/ that are marked `yaml MARK`.
std::vector<std::string> Blocks(const std::string& mark, const std::string& name = "rules.md") {
  const std::string page = ReadFile(std::string(PERFGATE_TEST_DATA) + "/../../docs/" + name);
  const std::string fence = "```yaml " + mark + "\n";
  std::vector<std::string> blocks;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  return blocks;
}

class RulesPage : public DeclaredFiles {};

TEST_F(RulesPage, ShowsRulesThatLoad) {
  const std::vector<std::string> blocks = Blocks("rules");
  ASSERT_GE(blocks.size(), 8u);
  for (const std::string& block : blocks) {
    Write("mine.yaml", "version: 1\nrules:\n" + block);
    std::vector<std::string> sources = PackNames();
    sources.push_back("mine.yaml");
    EXPECT_NO_THROW(LoadRules(sources, folder_)) << block;
  }
}

TEST_F(RulesPage, ShowsASuiteThatLoads) {
  const std::vector<std::string> blocks = Blocks("suite");
  ASSERT_EQ(blocks.size(), 1u);
  Write("rules/mine.yaml", "version: 1\nrules: [{id: a, metric: kernels, limit: {at_most: 1}}]\n");
  const Suite suite = LoadSuite(Write("perfgate.yaml", blocks[0]));
  EXPECT_EQ(std::count_if(suite.cases.begin(), suite.cases.end(),
                          [](const Case& each) { return !each.reference_only; }),
            4);
}

TEST_F(RulesPage, TheSuiteAndTheRulesOfNumericsLoad) {
  const std::vector<std::string> rules = Blocks("rules", "numerics.md");
  const std::vector<std::string> suites = Blocks("suite", "numerics.md");
  ASSERT_EQ(rules.size(), 1u);
  ASSERT_EQ(suites.size(), 1u);
  Write("rules/mine.yaml", "version: 1\nrules:\n" + rules[0]);
  const Suite suite = LoadSuite(Write("perfgate.yaml", suites[0]));
  ASSERT_EQ(suite.cases.size(), 4u);
  EXPECT_TRUE(suite.cases[3].reference_only);
  for (const Case& each : suite.cases) {
    EXPECT_EQ(each.reference, each.reference_only ? "" : suite.cases[3].name);
  }
}

TEST(PacksPage, ExplainsEveryRuleInItsOwnWords) {
  const std::string page = ReadFile(std::string(PERFGATE_TEST_DATA) + "/../../docs/packs.md");
  for (const Rule& rule : LoadRules(PackNames(), ".")) {
    const std::string id = rule.id.substr(rule.id.rfind('/') + 1);
    const size_t row = page.find("| `" + id + "` |");
    ASSERT_NE(row, std::string::npos) << id;
    EXPECT_NE(page.substr(row, page.find('\n', row) - row).find(rule.why), std::string::npos) << id;
  }
}

TEST(WorkloadsPage, ExplainsEveryModuleWithItsSettingsAndTheirChoices) {
  const std::string page = ReadFile(std::string(PERFGATE_TEST_DATA) + "/../../docs/workloads.md");
  for (const modules::Module& module : modules::kModules) {
    const size_t at = page.find("| `" + std::string(module.name) + "` |");
    ASSERT_NE(at, std::string::npos) << module.name;
    const std::string row = page.substr(at, page.find('\n', at) - at);
    EXPECT_THAT(row, HasSubstr("`" + modules::ShapeText(module) + "`"));
    for (const modules::Setting& setting : modules::SettingsOf(module)) {
      std::string text = "`" + std::string(setting.name) + "`";
      if (!setting.IsSize()) text += ": " + Join(Split(setting.values, '|'), ", ");
      EXPECT_THAT(row, HasSubstr(text)) << module.name;
    }
    EXPECT_EQ(row.find("hand_fused") != std::string::npos, module.hand_fused) << module.name;
  }
}

TEST_F(RulesPage, NamesEveryKeyAndEveryKindOfChange) {
  const std::string page = ReadFile(std::string(PERFGATE_TEST_DATA) + "/../../docs/rules.md");
  for (const ChangeKind kind : ChangeKinds()) {
    EXPECT_NE(page.find("`" + std::string(ToString(kind)) + "`"), std::string::npos)
        << ToString(kind);
  }
  std::vector<std::pair<std::string_view, KeySet>> sets = SuiteKeySets();
  for (const auto& set : RuleKeySets()) sets.push_back(set);
  for (const auto& [name, keys] : sets) {
    for (const KeyName& key : keys) {
      EXPECT_NE(page.find(key.name), std::string::npos) << name << "." << key.name;
    }
  }
}

}  // namespace
}  // namespace perfgate
