#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "declare/declare.h"
#include "declare/keys.h"
#include "declare/torch_workload.h"

namespace perfgate {
namespace {

Json Schema(const std::string& name) {
  EXPECT_FALSE(SchemaText(name).empty()) << name;
  return ParseJson(SchemaText(name), name);
}

const Json& Definition(const Json& schema, const std::string& name) {
  if (name == "suite" || name == "rules") return schema;
  return schema.At("$defs").At(name);
}

std::set<std::string> PropertiesOf(const Json& definition) {
  std::set<std::string> names;
  for (const auto& [name, value] : definition.At("properties").AsObject()) names.insert(name);
  return names;
}

std::set<std::string> TextsOf(const Json& list) {
  std::set<std::string> texts;
  for (const Json& item : list.AsArray()) texts.insert(item.AsString());
  return texts;
}

void ExpectSameKeys(const Json& schema,
                    const std::vector<std::pair<std::string_view, KeySet>>& sets) {
  for (const auto& [name, keys] : sets) {
    const Json& definition = Definition(schema, std::string(name));
    std::set<std::string> all, required;
    for (const KeyName& key : keys) {
      all.emplace(key.name);
      if (key.required) required.emplace(key.name);
    }
    EXPECT_EQ(PropertiesOf(definition), all) << name;
    const Json* in_schema = definition.Find("required");
    EXPECT_EQ(in_schema ? TextsOf(*in_schema) : std::set<std::string>(), required) << name;
    EXPECT_FALSE(definition.At("additionalProperties").AsBool()) << name;
  }
}

TEST(DeclareSchema, HasTheKeysThatTheReadersKnow) {
  ExpectSameKeys(Schema("suite"), SuiteKeySets());
  ExpectSameKeys(Schema("rules"), RuleKeySets());
}

TEST(DeclareSchema, HasTheModulesOfTheRunnerAndTheirKeys) {
  const Json schema = Schema("suite");
  std::set<std::string> keys, modules;
  for (const std::string& key : CommonTorchKeys()) keys.insert(key);
  for (const Module& module : Modules()) {
    modules.emplace(module.name);
    for (const ModuleKey& key : module.keys) keys.emplace(key.name);
  }
  const Json& torch = schema.At("$defs").At("torch");
  EXPECT_EQ(PropertiesOf(torch), keys);
  const Json& choices = torch.At("properties").At("module").At("anyOf").AsArray()[0];
  EXPECT_EQ(TextsOf(choices.At("enum")), modules);
  const Json& mode = torch.At("properties").At("mode").At("anyOf").AsArray()[0];
  const std::vector<std::string> modes = TorchModes();
  EXPECT_EQ(TextsOf(mode.At("enum")), std::set<std::string>(modes.begin(), modes.end()));
}

TEST(DeclareSchema, HasEveryMetricFamilyAndKindOfChange) {
  const Json schema = Schema("rules");
  const auto one_of = [](const Json& node) {
    return TextsOf(node.At("anyOf").AsArray()[0].At("enum"));
  };
  std::set<std::string> metrics, kinds, families;
  for (const Metric& metric : Metrics()) metrics.emplace(metric.name);
  for (const ChangeKind kind : ChangeKinds()) kinds.emplace(ToString(kind));
  for (int i = 0; i <= static_cast<int>(Family::kOther); ++i) {
    families.emplace(ToString(static_cast<Family>(i)));
  }
  const Json& defs = schema.At("$defs");
  EXPECT_EQ(one_of(defs.At("rule").At("properties").At("metric")), metrics);
  EXPECT_EQ(one_of(defs.At("changes").At("properties").At("kinds")), kinds);
  EXPECT_EQ(one_of(defs.At("selector").At("properties").At("family")), families);
}

TEST(DeclareSchema, IsFoundByNameAndAnUnknownOneIsEmpty) {
  const auto names = SchemaNames();
  EXPECT_TRUE(std::set<std::string>(names.begin(), names.end()).contains("suite"));
  EXPECT_EQ(SchemaText("nothing"), "");
  EXPECT_EQ(SchemaText(""), "");
}

TEST(RulePacks, AllLoad) {
  for (const std::string& name : PackNames()) {
    const std::vector<Rule> rules = LoadRules({name}, ".");
    EXPECT_FALSE(rules.empty()) << name;
    for (const Rule& rule : rules) {
      EXPECT_TRUE(rule.from_pack) << rule.full_id;
      EXPECT_FALSE(rule.why.empty()) << rule.full_id << " must say why";
      EXPECT_EQ(rule.full_id, name + "/" + rule.id);
    }
  }
}

TEST(RulePacks, AnUnknownNameIsEmpty) {
  EXPECT_EQ(PackText("perfgate:nothing"), "");
  EXPECT_EQ(PackText("structure"), "");
}

}  // namespace
}  // namespace perfgate
