// The first files of perfgate for a repository: what it holds in, texts of files out. Reads, writes
// nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

enum class CiSystem { kNone, kGithub, kGitlab };

struct Benchmark {
  std::string path;             // within the repository: "bench/decode.py"
  bool keeps_contract = false;  // speaks of perfgate: it leaves what an attempt owes
};

// What was found. Paths are within the repository, sorted, and of letters that are safe in YAML and
// shells: [A-Za-z0-9._/-]; files of other names are passed over.
struct Repository {
  std::string name;                       // of the folder, fit for a suite
  std::string branch = "main";            // that `origin` has checked out
  std::vector<std::string> requirements;  // that name torch: "requirements.txt", "pyproject.toml"
  std::string install;                    // command that installs a Python project; "": it is none
  std::vector<std::string> cmake;         // with find_package(Torch)
  std::vector<Benchmark> benchmarks;
  std::vector<std::string> workflows;  // of GitHub
  std::string gated_by;                // the workflow that uses perfgate already; "": none
  bool gitlab = false;                 // .gitlab-ci.yml is there
};

// Looks at three levels of folders, at 20,000 entries and the first MiB of a file at most; follows
// no links, leaves out hidden folders, builds and what others wrote. Throws Error(kUsage) if
// `folder` is none.
Repository LookAt(const std::filesystem::path& folder);

// GitLab where only that is used, else GitHub.
CiSystem CiSystemOf(const Repository& repository);

struct FirstFile {
  std::string path;  // within the repository
  std::string text;
  std::string what;  // "what is measured, and by which rules"
};

// In the order in which they are to be written: what a file names comes before it, so that whatever
// interrupts leaves no suite that names what is not there. What is there already is the caller's to
// see.
std::vector<FirstFile> FirstFiles(const Repository& repository, CiSystem ci);

constexpr std::string_view kSuiteFile = "perfgate.yaml", kRulesFile = "perfgate-rules.yaml",
                           kStepFile = "perfgate_step.py",
                           kGithubFile = ".github/workflows/perfgate.yml",
                           kGitlabFile = ".gitlab/perfgate.yml";

// `text` of a .gitignore with the lines that it lacks for what perfgate writes; equal to `text` if
// it lacks none.
std::string WithIgnored(std::string text);

}  // namespace perfgate
