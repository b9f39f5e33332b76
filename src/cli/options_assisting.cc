// Flags of the commands around the gate: the comment, rules, schemas, the machine, first files.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/flags.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

Subcommand AddComment(CLI::App& app) {
  const auto args = std::make_shared<CommentArgs>();
  CLI::App* comment =
      AddCommand(app, "comment", "Post the verdict as one comment of the pull request",
                 "  perfgate comment verdict.json\n"
                 "  perfgate comment summary.md --repo octo/model --pr 42 --dry-run\n"
                 "  perfgate comment artifact/verdict.json --untrusted --verdict failure");
  comment
      ->add_option("source", args->source, "Verdict (.json) or text (.md) [the newest run, judged]")
      ->type_name("FILE");
  AddText(comment, "--repo", args->repository, "Repository [of the event]", "OWNER/NAME");
  comment->add_option("--pr", args->number, "Pull request [of the event]")->type_name("N");
  AddText(comment, "--key", args->key,
          "Tells several comments of one pull request apart [perfgate]", "KEY");
  AddText(comment, "--author", args->author,
          "Login whose comment is updated [whoever the token belongs to]", "LOGIN");
  comment->add_flag("--untrusted", args->untrusted,
                    "The verdict comes from a fork: checked, without commands");
  AddText(comment, "--verdict", args->verdict,
          "With --untrusted: what the job that measured concluded", "WORD");
  comment->add_flag("--dry-run", args->dry_run, "Print what would be posted");
  AddSuiteFlag(comment, args->suite.suite);
  AddDatabaseFlag(comment, args->suite.database);
  AddBaselinesFlag(comment, args->suite.baselines);
  return {comment, [args] { return Command{*args}; }};
}

Subcommand AddRulesList(CLI::App& rules) {
  struct Flags {
    RulesListArgs args;
    std::string format = "text";
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* list =
      AddCommand(rules, "list", "List the rules of packs and files",
                 "  perfgate rules list\n  perfgate rules list perfgate:fusion rules/mine.yaml");
  list->add_option("source", flags->args.sources, "Packs or rule files [all packs]")
      ->type_name("RULES");
  AddListFormatFlag(list, flags->format);
  return {list, [flags] {
            flags->args.format = ParseListFormat(flags->format);
            return Command{flags->args};
          }};
}

Subcommand AddRulesCheck(CLI::App& rules) {
  const auto args = std::make_shared<RulesCheckArgs>();
  CLI::App* check = AddCommand(rules, "check", "Check rule files and say every mistake",
                               "  perfgate rules check rules/mine.yaml");
  check->add_option("source", args->sources, "Packs or rule files")->type_name("RULES")->required();
  return {check, [args] { return Command{*args}; }};
}

Subcommand AddSchema(CLI::App& app) {
  const auto args = std::make_shared<SchemaArgs>();
  CLI::App* schema =
      AddCommand(app, "schema", "Print a JSON Schema",
                 "  perfgate schema\n  perfgate schema suite > perfgate.schema.json");
  AddText(schema, "name", args->name, "Name of the schema [list the names]", "NAME");
  return {schema, [args] { return Command{*args}; }};
}

Subcommand AddDoctor(CLI::App& app) {
  const auto format = std::make_shared<std::string>("text");
  CLI::App* doctor = AddCommand(app, "doctor", "What this machine can measure, and what it lacks",
                                "  perfgate doctor\n  perfgate doctor --format json");
  AddListFormatFlag(doctor, *format);
  return {doctor, [format] { return Command{DoctorArgs{ParseListFormat(*format)}}; }};
}

Subcommand AddInit(CLI::App& app) {
  const auto args = std::make_shared<InitArgs>();
  CLI::App* init =
      AddCommand(app, "init", "Write a first suite, rules and a CI job for a repository",
                 "  perfgate init\n  perfgate init --dry-run           only say what there is and "
                 "what would be written\n"
                 "  perfgate init ../model --ci gitlab");
  AddText(init, "folder", args->folder, "The repository [the current folder]", "DIR");
  AddText(init, "--ci", args->ci, "github, gitlab or none [what the repository uses, else github]",
          "SYSTEM");
  init->add_flag("--dry-run", args->dry_run, "Print what would be written");
  return {init, [args] { return Command{*args}; }};
}

}  // namespace

std::vector<Subcommand> AddAssisting(CLI::App& app) {
  std::vector<Subcommand> commands = {AddComment(app)};
  CLI::App* rules = AddCommand(app, "rules", "Rule packs and rule files: list, check",
                               "  perfgate rules list\n  perfgate rules check rules/mine.yaml");
  rules->require_subcommand(0, 1);
  commands.push_back(AddRulesList(*rules));
  commands.push_back(AddRulesCheck(*rules));
  commands.push_back(AddSchema(app));
  commands.push_back(AddDoctor(app));
  commands.push_back(AddInit(app));
  return commands;
}

}  // namespace perfgate::cli
