#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "init/init.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

CiSystem ParseCi(const std::string& name, const Repository& repository) {
  if (name.empty()) return CiSystemOf(repository);
  if (name == "github") return CiSystem::kGithub;
  if (name == "gitlab") return CiSystem::kGitlab;
  if (name == "none") return CiSystem::kNone;
  throw Error(Fault::kUsage,
              fmt::format("--ci {}: it takes github, gitlab or none", Printable(name)));
}

// Links that lead nowhere, too: they are somebody's.
bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

void PrintFound(const Repository& repository, std::ostream& out) {
  const auto line = [&out](const char* what, const std::vector<std::string>& found) {
    out << fmt::format("  {:<14} {}\n", what, found.empty() ? "none found" : Join(found, ", "));
  };
  std::vector<std::string> benchmarks;
  for (const Benchmark& benchmark : repository.benchmarks) {
    benchmarks.push_back(benchmark.path +
                         (benchmark.keeps_contract ? " (leaves what perfgate reads)" : ""));
  }
  out << "found\n";
  line("PyTorch", repository.requirements);
  line("LibTorch", repository.cmake);
  line("benchmarks", benchmarks);
  std::vector<std::string> ci = repository.workflows;
  if (repository.gitlab) ci.emplace_back(".gitlab-ci.yml");
  line("CI", ci);
  out << "\n";
}

struct Step {
  FirstFile file;
  std::string why_left;  // "": it is written
};

// True if the folder that `path` is to stand in leads out of the repository, through a link.
bool LeadsOut(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return false;
  const fs::path real = fs::weakly_canonical(path.parent_path(), error);
  return error || *real.lexically_relative(root).begin() == "..";
}

// Why a file is not written, or "".
std::string WhyLeft(const std::string& path, const Repository& repository, const fs::path& folder) {
  const bool has_suite = IsThere(folder / kSuiteFile);
  if (IsThere(folder / path)) return "is there and stays as it is";
  if (has_suite && (path == kStepFile || path == kRulesFile)) {
    return fmt::format("{} is there and names its own", kSuiteFile);
  }
  if (path == kGithubFile && !repository.gated_by.empty()) {
    return repository.gated_by + " uses perfgate already";
  }
  if (LeadsOut(folder / path, folder)) return "its folder leads out of the repository";
  return "";
}

// Only a regular file is added to: who reads what a link leads to is not known here.
Step IgnoreStep(const fs::path& folder) {
  const std::string name = ".gitignore";
  const fs::path path = folder / name;
  std::error_code error;
  if (!IsThere(path)) return {{name, WithIgnored(""), "what perfgate writes"}, ""};
  if (!fs::is_regular_file(fs::symlink_status(path, error))) {
    const std::string lines(Trim(WithIgnored("")));
    return {{name, "", ""}, "is no regular file: add these lines yourself\n\n" + lines};
  }
  const std::string text = ReadFile(path);
  const std::string wanted = WithIgnored(text);
  const std::string what =
      text.empty() ? "what perfgate writes" : "lines for what perfgate writes, at its end";
  return {{name, wanted, what}, wanted == text ? "has the lines already" : ""};
}

// All is decided before anything is written.
std::vector<Step> StepsFor(const Repository& repository, CiSystem ci, const fs::path& folder) {
  std::vector<Step> steps;
  for (FirstFile& file : FirstFiles(repository, ci)) {
    std::string why = WhyLeft(file.path, repository, folder);
    steps.push_back({std::move(file), std::move(why)});
  }
  steps.push_back(IgnoreStep(folder));
  return steps;
}

void Put(const FirstFile& file, const fs::path& folder) {
  std::error_code error;
  fs::create_directories((folder / file.path).parent_path(), error);
  WriteFileAtomically(folder / file.path, file.text);  // says what is wrong with the folder
}

void CarryOut(const std::vector<Step>& steps, const fs::path& folder, bool dry_run,
              std::ostream& out) {
  for (const auto& [file, why_left] : steps) {
    const bool left = !why_left.empty();
    if (!left && !dry_run) Put(file, folder);
    out << fmt::format("{:<{}} {:<31} {}\n", left ? "left" : (dry_run ? "would write" : "wrote"),
                       dry_run ? 11 : 5, file.path, left ? why_left : file.what);
  }
}

// True if the CI job stands there now; one that was there before has been cared for.
bool WritesJob(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.why_left.empty() &&
           (step.file.path == kGithubFile || step.file.path == kGitlabFile);
  });
}

std::vector<std::string> StepsOfCi(CiSystem ci, bool new_job) {
  if (ci == CiSystem::kGithub) {
    const std::string pin = fmt::format(
        "In {} put the commit of the release that you take in place of the zeros.\n     ",
        kGithubFile);
    return {
        (new_job ? pin : "") + "Open a pull request: it passes, its comment says NO BASELINE.",
        "Accept what that run measured, in a checkout of its branch (its artifact is `perfgate`):\n"
        "       gh run download RUN --name perfgate --dir perfgate-report\n"
        "       perfgate baseline accept --from perfgate-report/run --reason 'first measurement'"};
  }
  const std::string pin = fmt::format(
      "In {} put the commit of the release that you take in place of the zeros, and\n"
      "     into .gitlab-ci.yml:  include: {{local: {}}}\n     ",
      kGitlabFile, kGitlabFile);
  return {
      (new_job ? pin : "") + "Open a merge request: it passes, its log says NO BASELINE.",
      "Accept what that job measured: download its artifacts into a checkout of its branch, then\n"
      "       perfgate baseline accept --from perfgate-out --reason 'first measurement'"};
}

std::string FirstStep(const Repository& repository, bool had_suite) {
  const bool measures_own =
      std::any_of(repository.benchmarks.begin(), repository.benchmarks.end(),
                  [](const Benchmark& benchmark) { return benchmark.keeps_contract; });
  if (had_suite || measures_own) return "Look at what is measured: perfgate run --dry-run";
  const bool python = !repository.requirements.empty();
  return fmt::format(
      "Put what you want measured into {}: what stands there stands in for it.\n"
      "     Look at the plan: perfgate run --dry-run{}",
      python ? kStepFile : kSuiteFile,
      python ? "\n     Measure here: PYTHONPATH=PERFGATE/python perfgate run, with PERFGATE the "
               "folder of perfgate"
             : "");
}

void PrintNext(const std::string& first, CiSystem ci, bool new_job, std::ostream& out) {
  std::vector<std::string> steps = {first};
  if (ci == CiSystem::kNone) {
    steps.emplace_back("perfgate run: it measures, passes, and says NO BASELINE.");
    steps.emplace_back("perfgate baseline accept --reason 'first measurement'");
  } else {
    const std::vector<std::string> more = StepsOfCi(ci, new_job);
    steps.insert(steps.end(), more.begin(), more.end());
  }
  steps.emplace_back(
      "Commit the folder baselines, and delete the line `no_baseline: warn`: from now on work "
      "that\n"
      "     gets worse fails.");
  out << "\nnext\n";
  for (size_t i = 0; i < steps.size(); ++i) out << fmt::format("  {}. {}\n", i + 1, steps[i]);
}

}  // namespace

int Init(const InitArgs& args, World& world) {
  const fs::path folder(args.folder);
  const Repository repository = LookAt(folder);
  const CiSystem ci = ParseCi(args.ci, repository);
  PrintFound(repository, world.Out());
  const std::string first = FirstStep(repository, IsThere(folder / kSuiteFile));
  const std::vector<Step> steps = StepsFor(repository, ci, folder);
  CarryOut(steps, folder, args.dry_run, world.Out());
  PrintNext(first, ci, WritesJob(steps), world.Out());
  return 0;
}

}  // namespace perfgate::cli
