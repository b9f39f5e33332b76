#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "declare/declare.h"

namespace perfgate::cli {
namespace {

Json RuleRow(const Rule& rule) {
  return Json(Json::Object{{"id", Json(rule.full_id)},
                           {"severity", Json(ToString(rule.severity))},
                           {"device", Json(ToString(rule.device))},
                           {"cases", Json(rule.cases)},
                           {"why", Json(rule.why)},
                           {"where", Json(ToString(rule.where))}});
}

}  // namespace

int ListRules(const RulesListArgs& args, World& world) {
  const std::vector<Rule> rules = LoadRules(args.sources.empty() ? PackNames() : args.sources, ".");
  if (args.format == Format::kJson) {
    Json rows{Json::Array{}};
    for (const Rule& rule : rules) rows.Push(RuleRow(rule));
    world.Out() << WriteJson(rows, 1);
    return 0;
  }
  std::string pack;
  for (const Rule& rule : rules) {
    const std::string here = rule.full_id.substr(0, rule.full_id.rfind('/'));
    if (here != pack) world.Out() << (pack.empty() ? "" : "\n") << Printable(here) << "\n";
    pack = here;
    world.Out() << fmt::format("  {:<26} {:<6} {:<5} {}\n", Printable(rule.id),
                               ToString(rule.severity), ToString(rule.device), Printable(rule.why));
  }
  return 0;
}

int CheckRules(const RulesCheckArgs& args, World& world) {
  const std::vector<Rule> rules = LoadRules(args.sources, ".");
  world.Out() << Plural(static_cast<int64_t>(rules.size()), "rule") << ", no mistake\n";
  return 0;
}

int PrintSchema(const SchemaArgs& args, World& world) {
  const std::vector<std::string> names = SchemaNames();
  if (args.name.empty()) {
    for (const std::string& name : names) world.Out() << name << "\n";
    return 0;
  }
  const std::string_view text = SchemaText(args.name);
  if (text.empty()) {
    const std::optional<std::string> nearest = Nearest(args.name, names);
    throw Error(
        Fault::kUsage,
        fmt::format("there is no schema `{}`{}; there are: {}", Printable(args.name),
                    nearest ? ": did you mean `" + *nearest + "`?" : "", Join(names, ", ")));
  }
  world.Out() << text;
  return 0;
}

}  // namespace perfgate::cli
