#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/formats.h"

namespace perfgate::cli {
namespace {

constexpr std::string_view kOverview =
    R"(A gate for CI that judges the work a PyTorch or LibTorch workload does on the machine: kernels,
fusions, copies, syncs, dispatch. It measures declared workloads under the profiler, compares the
traces with reviewed baselines and says what changed.)";

constexpr std::string_view kExamples = R"(Examples:
  perfgate run                                    measure, compare and judge what ./perfgate.yaml declares
  perfgate diff old.json.gz new.json.gz           compare two profiler traces, no suite needed
  perfgate inspect trace.json --explain           what one trace proves, and what was left out
  perfgate baseline accept --reason 'first one'   keep the newest run as the baseline

Exit codes: 0 nothing failed, 1 a rule failed, 2 wrong use or configuration, 3 could not measure,
4 no comparable baseline, 130 or 143 interrupted.)";

// Holds the texts that CLI11 fills while parsing; Take() turns them into a command.
class Parser {
 public:
  Parser() : app_(std::string(kOverview), "perfgate") {
    app_.footer(std::string(kExamples));
    app_.get_formatter()->column_width(34);
    app_.set_help_flag("-h,--help", "Print this help");
    app_.set_version_flag("--version", "perfgate " PERFGATE_VERSION "\n" PERFGATE_LIBRARIES);
    app_.require_subcommand(0, 1);
    AddRun();
    AddJudge();
    AddInspect();
    AddDiff();
    AddBaseline();
    AddIngest();
    AddHistory();
    AddComment();
    AddRules();
    AddSchema();
    AddDoctor();
  }

  std::variant<Command, Information> Parse(std::vector<std::string> args) {
    CheckCommand(app_, args, 0);
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    try {
      app_.parse(std::move(args));
    } catch (const CLI::CallForHelp&) {
      return Information{app_.help()};
    } catch (const CLI::CallForVersion&) {
      return Information{app_.version() + "\n"};
    } catch (const CLI::ExtrasError&) {
      throw Error(Fault::kUsage, UnknownArgument());
    } catch (const CLI::ParseError& error) {
      throw Error(Fault::kUsage, fmt::format("{}\n{}", error.what(), SeeHelp()));
    }
    return Take();
  }

 private:
  using Texts = std::vector<std::string>;

  CLI::App* Add(CLI::App* parent, const std::string& name, const std::string& what,
                const std::string& examples) {
    CLI::App* command = parent->add_subcommand(name, what);
    command->footer("Examples:\n" + examples);
    return command;
  }

  // One value each time the flag is given, so that a positional after it is not eaten.
  static void Repeatable(CLI::App* command, const std::string& flag, Texts& into,
                         const std::string& help, const std::string& value) {
    command->add_option(flag, into, help)->allow_extra_args(false)->type_name(value);
  }

  static void Text(CLI::App* command, const std::string& flag, std::string& into,
                   const std::string& help, const std::string& value) {
    command->add_option(flag, into, help)->type_name(value);
  }

  void Cases(CLI::App* command) {
    Repeatable(command, "--case", suite_.cases,
               "Only cases that match; * and ? are special. Repeatable", "GLOB");
  }
  void Database(CLI::App* command) {
    Text(command, "--db", suite_.database, "Database of runs [perfgate.db beside the suite]",
         "FILE");
  }
  // Of a command that reads no suite.
  void DatabaseHere(CLI::App* command) {
    Text(command, "--db", suite_.database, "Database of runs [perfgate.db in the current folder]",
         "FILE");
  }
  void Baselines(CLI::App* command) {
    Text(command, "--baselines", suite_.baselines, "Folder of baselines [what the suite says]",
         "DIR");
  }
  void SuiteFlag(CLI::App* command) {
    Text(command, "--suite", suite_.suite, "Suite file or its folder [perfgate.yaml]", "FILE");
  }
  void FormatFlag(CLI::App* command) {
    Text(command, "--format", format_, "Form of standard output: text, md or json [text]",
         "FORMAT");
  }
  void EvidenceFormatFlag(CLI::App* command) {
    Text(command, "--format", format_, "Form of standard output: text, md, json or html [text]",
         "FORMAT");
  }
  void Output(CLI::App* command) {
    Text(command, "--format", format_,
         "Form of standard output: text, md, json, html, junit, github or gitlab [text]", "FORMAT");
    Repeatable(command, "--report", reports_,
               "Also write the verdict to a file, in any of these forms and also when something "
               "fails. Repeatable",
               "FORMAT=FILE");
    command->add_flag("-v,--verbose", verbose_, "List what passed too");
  }

  void AddRun() {
    run_ =
        Add(&app_, "run", "Measure the declared cases, store, judge and report",
            "  perfgate run\n  perfgate run bench/perfgate.yaml --case 'geglu*' --device cpu\n"
            "  perfgate run --report md=summary.md --report json=verdict.json\n"
            "  perfgate run --plant 'geglu*=clone'      put a known defect in: the gate must fail");
    Text(run_, "suite", suite_.suite, "Suite file or its folder [perfgate.yaml]", "SUITE");
    Cases(run_);
    Text(run_, "--device", run_args_.device, "auto, cpu, cuda or cuda:N for all cases", "DEVICE");
    Database(run_);
    Baselines(run_);
    Text(run_, "--out", run_args_.out_dir,
         "Folder for traces and samples [perfgate-out beside the suite]", "DIR");
    Output(run_);
    run_->add_flag("--quick", run_args_.quick, "Few iterations, one traced process: a first look");
    run_->add_flag("--dry-run", run_args_.dry_run, "Print what would run");
    Repeatable(run_, "--plant", run_args_.plants, "Put a known defect into cases. Repeatable",
               "GLOB=DEFECT");
    run_->add_option("--seed", seed_,
                     "Seed that run.json keeps; no order or input depends on it yet")
        ->type_name("N");
  }

  void AddJudge() {
    judge_ = Add(&app_, "judge", "Judge stored evidence with today's rules; measures nothing",
                 "  perfgate judge\n  perfgate judge 20270131T101500Z-1a2b3c --format json");
    Text(judge_, "run", what_, "Run id [the newest]", "RUN");
    SuiteFlag(judge_);
    Cases(judge_);
    Database(judge_);
    Baselines(judge_);
    Output(judge_);
  }

  void AddInspect() {
    inspect_ = Add(&app_, "inspect", "Show what one trace or stored case proves",
                   "  perfgate inspect trace.json.gz\n"
                   "  perfgate inspect latest:'geglu[mode=aoti]' --explain --format json");
    inspect_
        ->add_option("what", what_,
                     "Trace file, folder with those of several ranks, or RUN:CASE of the database")
        ->type_name("TRACE|RUN:CASE")
        ->required();
    inspect_->add_flag("--explain", explain_, "Also what was left out, and why");
    DatabaseHere(inspect_);
    EvidenceFormatFlag(inspect_);
  }

  void AddDiff() {
    diff_ = Add(&app_, "diff", "Compare two traces or stored cases by rules",
                "  perfgate diff before.json.gz after.json.gz\n"
                "  perfgate diff latest:'geglu[mode=eager]' latest:'geglu[mode=aoti]' --rules "
                "perfgate:fusion");
    diff_->add_option("base", what_, "What it was: trace file or RUN:CASE")
        ->type_name("BASE")
        ->required();
    diff_->add_option("head", head_, "What it is now: trace file or RUN:CASE")
        ->type_name("HEAD")
        ->required();
    Repeatable(diff_, "--rules", rules_,
               "Pack or rule file instead of perfgate:structure, :fusion, :precision and "
               ":gpu-time. Repeatable",
               "RULES");
    DatabaseHere(diff_);
    Output(diff_);
  }

  void AddBaseline() {
    baseline_ =
        Add(&app_, "baseline", "Reviewed baselines: accept, show, diff, verify",
            "  perfgate baseline accept --reason 'first baseline'\n"
            "  perfgate baseline show\n  perfgate baseline diff\n  perfgate baseline verify");
    baseline_->require_subcommand(0, 1);
    accept_ = Add(baseline_, "accept", "Write the evidence of a run as the new baseline",
                  "  perfgate baseline accept --reason 'first baseline'\n"
                  "  perfgate baseline accept --case 'geglu*' --rule no-extra-kernel \\\n"
                  "      --reason 'the split costs 2 us and saves 40 MiB'");
    Cases(accept_);
    Text(accept_, "--from", what_, "Out folder or run id [the newest run]", "DIR|RUN");
    Repeatable(accept_, "--rule", rules_, "A failing rule that is accepted. Repeatable", "ID");
    accept_->add_option("--reason", reason_, "Why this is right: it stands in the file")
        ->type_name("TEXT")
        ->required();
    show_ = Add(baseline_, "show", "List the baselines",
                "  perfgate baseline show\n  perfgate baseline show --case 'geglu*'");
    FormatFlag(show_);
    Cases(show_);
    baseline_diff_ = Add(baseline_, "diff", "What accepting a run would change",
                         "  perfgate baseline diff\n  perfgate baseline diff --from perfgate-out");
    Cases(baseline_diff_);
    Text(baseline_diff_, "--from", what_, "Out folder or run id [the newest run]", "DIR|RUN");
    verify_ = Add(baseline_, "verify", "Check every file of the baselines folder",
                  "  perfgate baseline verify");
    for (CLI::App* command : {accept_, show_, baseline_diff_, verify_}) {
      SuiteFlag(command);
      Baselines(command);
    }
    Database(accept_);
    Database(baseline_diff_);
  }

  void AddIngest() {
    ingest_ = Add(&app_, "ingest", "Take an out folder of another machine into the database",
                  "  perfgate ingest perfgate-out --db perfgate.db");
    ingest_->add_option("dir", what_, "Out folder of `perfgate run`")->type_name("DIR")->required();
    DatabaseHere(ingest_);
  }

  void AddHistory() {
    history_ = Add(&app_, "history", "Stored runs, or one metric over them",
                   "  perfgate history\n  perfgate history --metric kernels --case 'geglu*'");
    Text(history_, "--metric", metric_, "Metric to follow [list the runs]", "NAME");
    Cases(history_);
    DatabaseHere(history_);
    FormatFlag(history_);
  }

  void AddComment() {
    comment_ = Add(&app_, "comment", "Post the verdict as one comment of the pull request",
                   "  perfgate comment verdict.json\n"
                   "  perfgate comment summary.md --repo octo/model --pr 42 --dry-run\n"
                   "  perfgate comment artifact/verdict.json --untrusted --verdict failure");
    comment_
        ->add_option("source", comment_args_.source,
                     "Verdict (.json) or text (.md) [the newest run, judged]")
        ->type_name("FILE");
    Text(comment_, "--repo", comment_args_.repository, "Repository [of the event]", "OWNER/NAME");
    comment_->add_option("--pr", comment_args_.number, "Pull request [of the event]")
        ->type_name("N");
    Text(comment_, "--key", comment_args_.key,
         "Tells several comments of one pull request apart [perfgate]", "KEY");
    Text(comment_, "--author", comment_args_.author,
         "Login whose comment is updated [whoever the token belongs to]", "LOGIN");
    comment_->add_flag("--untrusted", comment_args_.untrusted,
                       "The verdict comes from a fork: checked, without commands");
    Text(comment_, "--verdict", comment_args_.verdict,
         "With --untrusted: what the job that measured concluded", "WORD");
    comment_->add_flag("--dry-run", comment_args_.dry_run, "Print what would be posted");
    SuiteFlag(comment_);
    Database(comment_);
    Baselines(comment_);
  }

  void AddRules() {
    rules_command_ = Add(&app_, "rules", "Rule packs and rule files: list, check",
                         "  perfgate rules list\n  perfgate rules check rules/mine.yaml");
    rules_command_->require_subcommand(0, 1);
    rules_list_ =
        Add(rules_command_, "list", "List the rules of packs and files",
            "  perfgate rules list\n  perfgate rules list perfgate:fusion rules/mine.yaml");
    rules_list_->add_option("source", rules_, "Packs or rule files [all packs]")
        ->type_name("RULES");
    FormatFlag(rules_list_);
    rules_check_ = Add(rules_command_, "check", "Check rule files and say every mistake",
                       "  perfgate rules check rules/mine.yaml");
    rules_check_->add_option("source", rules_, "Packs or rule files")
        ->type_name("RULES")
        ->required();
  }

  void AddSchema() {
    schema_ = Add(&app_, "schema", "Print a JSON Schema",
                  "  perfgate schema\n  perfgate schema suite > perfgate.schema.json");
    Text(schema_, "name", what_, "Name of the schema [list the names]", "NAME");
  }

  void AddDoctor() {
    doctor_ = Add(&app_, "doctor", "What this machine can measure, and what it lacks",
                  "  perfgate doctor\n  perfgate doctor --format json");
    FormatFlag(doctor_);
  }

  // The deepest command that was named.
  const CLI::App* Chosen() const {
    const CLI::App* chosen = &app_;
    while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
    return chosen;
  }

  std::string SeeHelp() const {
    std::string path;
    for (const CLI::App* app = &app_; app != nullptr;) {
      path += (path.empty() ? "" : " ") + app->get_name();
      app = app->get_subcommands().empty() ? nullptr : app->get_subcommands().front();
    }
    return fmt::format("see: {} --help", path);
  }

  // The word at `at` must name a command of `app` (unless it is a flag).
  static void CheckCommand(const CLI::App& app, const Texts& args, size_t at) {
    Texts names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (names.empty()) return;
    const bool root = app.get_parent() == nullptr;
    if (at >= args.size()) {
      throw Error(Fault::kUsage, fmt::format("a command is needed: {}\nsee: perfgate{} --help",
                                             Join(names, ", "), root ? "" : " " + app.get_name()));
    }
    if (args[at].starts_with("-")) return;
    for (const CLI::App* command : app.get_subcommands({})) {
      if (command->get_name() == args[at]) return CheckCommand(*command, args, at + 1);
    }
    const std::optional<std::string> nearest = Nearest(args[at], names);
    throw Error(Fault::kUsage, fmt::format("unknown command `{}{}`{}\ncommands: {}",
                                           root ? "" : app.get_name() + " ", Printable(args[at]),
                                           nearest ? ": did you mean `" + *nearest + "`?" : "",
                                           Join(names, ", ")));
  }

  std::string UnknownArgument() const {
    const Texts extras = app_.remaining(true);
    const std::string unknown = extras.empty() ? "" : extras.front();
    if (!unknown.starts_with("-")) {
      return fmt::format("unexpected argument `{}`\n{}", Printable(unknown), SeeHelp());
    }
    Texts flags;
    for (const CLI::Option* option : Chosen()->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
    const std::optional<std::string> nearest = Nearest(unknown.substr(0, unknown.find('=')), flags);
    return fmt::format("unknown flag `{}`{}\n{}", Printable(unknown),
                       nearest ? ": did you mean `" + *nearest + "`?" : "", SeeHelp());
  }

  OutputArgs TakeOutput() const {
    OutputArgs output;
    output.format = ParseVerdictFormat(format_, "--format");
    for (const std::string& report : reports_) output.reports.push_back(ParseReport(report));
    output.verbose = verbose_;
    return output;
  }

  std::variant<Command, Information> Take() {
    if (run_->parsed()) {
      run_args_.suite = suite_;
      run_args_.output = TakeOutput();
      if (seed_ >= 0) run_args_.seed = static_cast<uint64_t>(seed_);
      return Command{run_args_};
    }
    if (judge_->parsed()) return Command{JudgeArgs{suite_, TakeOutput(), what_}};
    if (inspect_->parsed())
      return Command{InspectArgs{what_, suite_.database, explain_, ParseEvidenceFormat(format_)}};
    if (diff_->parsed())
      return Command{DiffArgs{what_, head_, suite_.database, rules_, TakeOutput()}};
    if (accept_->parsed()) return Command{AcceptArgs{suite_, what_, rules_, reason_}};
    if (show_->parsed()) return Command{ShowArgs{suite_, ParseListFormat(format_)}};
    if (baseline_diff_->parsed()) return Command{BaselineDiffArgs{suite_, what_}};
    if (verify_->parsed()) return Command{VerifyArgs{suite_}};
    if (comment_->parsed()) {
      comment_args_.suite = suite_;
      return Command{comment_args_};
    }
    if (ingest_->parsed()) return Command{IngestArgs{what_, suite_.database}};
    if (history_->parsed()) {
      return Command{HistoryArgs{suite_.cases, metric_, suite_.database, ParseListFormat(format_)}};
    }
    if (rules_list_->parsed()) return Command{RulesListArgs{rules_, ParseListFormat(format_)}};
    if (rules_check_->parsed()) return Command{RulesCheckArgs{rules_}};
    if (schema_->parsed()) return Command{SchemaArgs{what_}};
    if (doctor_->parsed()) return Command{DoctorArgs{ParseListFormat(format_)}};
    throw Error(Fault::kUsage, "no command was given\n" + SeeHelp());
  }

  CLI::App app_;
  CLI::App *run_ = nullptr, *judge_ = nullptr, *inspect_ = nullptr, *diff_ = nullptr;
  CLI::App* comment_ = nullptr;
  CLI::App *baseline_ = nullptr, *accept_ = nullptr, *show_ = nullptr, *baseline_diff_ = nullptr;
  CLI::App *verify_ = nullptr, *ingest_ = nullptr, *history_ = nullptr, *rules_command_ = nullptr;
  CLI::App *rules_list_ = nullptr, *rules_check_ = nullptr, *schema_ = nullptr, *doctor_ = nullptr;
  SuiteArgs suite_;
  RunArgs run_args_;
  CommentArgs comment_args_;
  std::string what_, head_, metric_, reason_, format_ = "text";
  Texts reports_, rules_;
  bool verbose_ = false, explain_ = false;
  int64_t seed_ = -1;
};

}  // namespace

std::variant<Command, Information> ParseArguments(const std::vector<std::string>& args) {
  return Parser().Parse(args);
}

}  // namespace perfgate::cli
