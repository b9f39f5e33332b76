// What the command line says, as plain structs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace perfgate::cli {

enum class Format { kText, kMarkdown, kJson, kHtml, kJunit, kGithub, kGitlab };

struct ReportFile {
  Format format = Format::kText;
  std::filesystem::path file;
};

// Where a command prints: one form on standard output, more into files.
struct OutputArgs {
  Format format = Format::kText;
  std::vector<ReportFile> reports;
  bool verbose = false;  // list passes too
};

// Paths are "" where the default holds: beside the suite file, or in the current folder for
// commands without one.
struct SuiteArgs {
  std::string suite = "perfgate.yaml";  // file, or folder that holds a perfgate.yaml
  std::vector<std::string> cases;       // globs; none is all
  std::string database, baselines;
};

struct RunArgs {
  SuiteArgs suite;
  OutputArgs output;
  std::string device, out_dir;
  std::string against, budget;  // "": head alone; no limit
  bool quick = false, dry_run = false;
  std::vector<std::string> plants;  // GLOB=DEFECT
  std::string base;                 // commit to review the files against; "": no review
  std::optional<uint64_t> seed;
};

struct JudgeArgs {
  SuiteArgs suite;
  OutputArgs output;
  std::string run;   // "" is the newest
  std::string base;  // as of RunArgs
};

struct ReviewArgs {
  SuiteArgs suite;
  std::string base;
  Format format = Format::kText;
};

struct InspectArgs {
  std::string what;  // trace file or RUN:CASE
  std::string database;
  bool explain = false;
  Format format = Format::kText;
};

struct DiffArgs {
  std::string base, head;  // trace files or RUN:CASE
  std::string database;
  std::vector<std::string> rules;  // packs or files; none is the default packs
  OutputArgs output;
};

struct AcceptArgs {
  SuiteArgs suite;
  std::string from;  // out folder or run; "" is the newest run
  std::vector<std::string> rules;
  std::string reason;
};

struct ShowArgs {
  SuiteArgs suite;
  Format format = Format::kText;
};

struct BaselineDiffArgs {
  SuiteArgs suite;
  std::string from;
};

struct VerifyArgs {
  SuiteArgs suite;
  std::string
      mend;  // "ours", "theirs": the side that conflicted files become; "": say what is wrong
};

struct IngestArgs {
  std::string out_dir, database;
};

struct HistoryArgs {
  std::vector<std::string> cases;
  std::string metric;  // "" lists the runs
  std::string database;
  Format format = Format::kText;
};

struct GcArgs {
  SuiteArgs suite;                    // its baselines say which runs were accepted
  std::vector<std::string> out_dirs;  // out folders, or folders of several; none: the default one
  std::optional<int64_t> keep_runs, keep_days, max_bytes;
  bool dry_run = false;
};

struct CommentArgs {
  SuiteArgs suite;         // of the newest run, where `source` is ""
  std::string source;      // verdict (.json) or Markdown (.md)
  std::string repository;  // "owner/name"; "": what the event file says
  int64_t number = 0;      // of the pull request; 0: what the event file says
  std::string key = "perfgate";
  std::string author;   // "": whoever the token belongs to
  std::string verdict;  // of an untrusted source: the word of the caller
  bool untrusted = false, dry_run = false;
};

struct RulesListArgs {
  std::vector<std::string> sources;  // none is all packs
  Format format = Format::kText;
};

struct RulesCheckArgs {
  std::vector<std::string> sources;
};

struct SchemaArgs {
  std::string name;  // "" lists the names
};

struct DoctorArgs {
  Format format = Format::kText;
};

struct CalibrateArgs {
  SuiteArgs suite;
  std::string device, out_dir, budget;
  int pairs = 24;
  std::optional<uint64_t> seed;
  Format format = Format::kText;
};

struct SelftestArgs {
  std::string device = "auto", out_dir, budget;
  std::optional<uint64_t> seed;
  Format format = Format::kText;
};

struct InitArgs {
  std::string folder = ".";
  std::string ci;  // "github", "gitlab", "none"; "": what the repository uses
  bool dry_run = false;
};

using Command = std::variant<RunArgs, JudgeArgs, ReviewArgs, InspectArgs, DiffArgs, AcceptArgs,
                             ShowArgs, BaselineDiffArgs, VerifyArgs, IngestArgs, HistoryArgs,
                             GcArgs, CommentArgs, RulesListArgs, RulesCheckArgs, SchemaArgs,
                             DoctorArgs, CalibrateArgs, SelftestArgs, InitArgs>;

// --help and --version: text for standard output, then exit 0.
struct Information {
  std::string text;
};

// Throws Error(kUsage), with the nearest known command or flag where one is near.
std::variant<Command, Information> ParseArguments(const std::vector<std::string>& args);

}  // namespace perfgate::cli
