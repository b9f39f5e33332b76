#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/json.h"
#include "declare/declare.h"
#include "declare/keys.h"
#include "declare/torch_workload.h"
#include "perfgate/modules.h"

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

const Json& TorchProperty(const Json& schema, const std::string& name) {
  return schema.At("$defs").At("torch").At("properties").At(name);
}

TEST(DeclareSchema, HasTheModulesOfTheRunnerAndTheirKeys) {
  const Json schema = Schema("suite");
  std::set<std::string> keys, names;
  for (const std::string& key : CommonTorchKeys()) keys.insert(key);
  for (const modules::Module& module : modules::kModules) {
    names.emplace(module.name);
    for (const modules::Setting& setting : modules::SettingsOf(module)) keys.emplace(setting.name);
  }
  EXPECT_EQ(PropertiesOf(schema.At("$defs").At("torch")), keys);
  const auto first = [&](const char* name) {
    return TextsOf(TorchProperty(schema, name).At("anyOf").AsArray()[0].At("enum"));
  };
  EXPECT_EQ(first("module"), names);
  EXPECT_EQ(first("mode"), std::set<std::string>(modules::kModes.begin(), modules::kModes.end()));
}

TEST(DeclareSchema, HasTheChoicesOfEverySetting) {
  const Json schema = Schema("suite");
  std::map<std::string, std::set<std::string>> ours, theirs;
  for (const modules::Module& module : modules::kModules) {
    for (const modules::Setting& setting : modules::SettingsOf(module)) {
      std::set<std::string>& values = ours[std::string(setting.name)];
      if (setting.IsSize()) {
        values.insert("a size");
      } else if (setting.IsFlag()) {
        values.insert("true or false");
      } else {
        for (const std::string_view choice : modules::ChoicesOf(setting)) values.emplace(choice);
      }
    }
  }
  for (const auto& [name, values] : ours) {
    for (const Json& one : TorchProperty(schema, name).At("anyOf").AsArray()) {
      if (const Json* choices = one.Find("enum")) theirs[name].merge(TextsOf(*choices));
      const Json* type = one.Find("type");
      if (type && type->AsString() == "integer") theirs[name].insert("a size");
      if (type && type->AsString() == "boolean") theirs[name].insert("true or false");
    }
  }
  EXPECT_EQ(theirs, ours);
}

TEST(DeclareSchema, RequiresTheSizesOfEachModule) {
  const Json schema = Schema("suite");
  std::map<std::string, std::set<std::string>> ours, theirs;
  for (const modules::Module& module : modules::kModules) {
    for (const modules::Setting& setting : modules::SettingsOf(module)) {
      if (setting.IsSize()) ours[std::string(module.name)].emplace(setting.name);
    }
  }
  for (const Json& condition : schema.At("$defs").At("torch").At("allOf").AsArray()) {
    const Json* when = condition.Find("if");
    if (!when) continue;
    const std::string& name = when->At("properties").At("module").At("const").AsString();
    theirs[name] = TextsOf(condition.At("then").At("required"));
  }
  EXPECT_EQ(theirs, ours);
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
