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

class Writer {
 public:
  Writer(fs::path folder, bool dry_run, std::ostream& out)
      : folder_(std::move(folder)), dry_run_(dry_run), out_(out) {}

  void Write(const FirstFile& file) {
    if (IsThere(folder_ / file.path)) return Leave(file.path, "is there and stays as it is");
    Put(file.path, file.text, file.what);
  }

  void Leave(const std::string& path, const std::string& why) { Say("left", path, why); }

  void Ignore() {
    const std::string name = ".gitignore";
    const fs::path path = folder_ / name;
    const std::string text = IsThere(path) ? ReadFile(path) : "";
    const std::string wanted = WithIgnored(text);
    if (wanted == text) return Leave(name, "has the lines already");
    Put(name, wanted,
        text.empty() ? "what perfgate writes" : "lines for what perfgate writes, at its end");
  }

 private:
  void Put(const std::string& path, const std::string& text, const std::string& what) {
    if (!dry_run_) {
      std::error_code error;
      fs::create_directories((folder_ / path).parent_path(), error);
      WriteFileAtomically(folder_ / path, text);  // says what is wrong, if the folder is not there
    }
    Say(dry_run_ ? "would write" : "wrote", path, what);
  }

  void Say(const char* did, const std::string& path, const std::string& what) {
    out_ << fmt::format("{:<{}} {:<31} {}\n", did, dry_run_ ? 11 : 5, path, what);
  }

  const fs::path folder_;
  const bool dry_run_;
  std::ostream& out_;
};

// Why a file is not written, or "".
std::string WhyNot(const std::string& path, const Repository& repository, bool has_suite) {
  if (has_suite && (path == kStepFile || path == kRulesFile)) {
    return fmt::format("{} is there and names its own", kSuiteFile);
  }
  if (path == kGithubFile && !repository.gated_by.empty()) {
    return repository.gated_by + " uses perfgate already";
  }
  return "";
}

void WriteAll(const Repository& repository, const std::vector<FirstFile>& files,
              const fs::path& folder, Writer* writer) {
  const bool has_suite = IsThere(folder / kSuiteFile);
  for (const FirstFile& file : files) {
    const std::string why = WhyNot(file.path, repository, has_suite);
    if (why.empty() || IsThere(folder / file.path)) {
      writer->Write(file);
    } else {
      writer->Leave(file.path, why);
    }
  }
  writer->Ignore();
}

std::vector<std::string> StepsOfCi(CiSystem ci, const Repository& repository) {
  if (ci == CiSystem::kGithub) {
    const std::string pin = fmt::format(
        "In {} put the commit of the release that you take in place of the zeros.\n     ",
        kGithubFile);
    return {
        (repository.gated_by.empty() ? pin : "") +
            "Open a pull request: it passes, its comment says NO BASELINE.",
        "Accept what that run measured, in a checkout of its branch (its artifact is `perfgate`):\n"
        "       gh run download RUN --name perfgate --dir perfgate-report\n"
        "       perfgate baseline accept --from perfgate-report/run --reason 'first measurement'"};
  }
  return {
      fmt::format("In {} put the commit of the release that you take in place of the zeros, and\n"
                  "     into .gitlab-ci.yml:  include: {{local: {}}}\n"
                  "     Open a merge request: it passes, its log says NO BASELINE.",
                  kGitlabFile, kGitlabFile),
      "Accept what that job measured: download its artifacts into a checkout of its branch, then\n"
      "       perfgate baseline accept --from perfgate-out --reason 'first measurement'"};
}

std::string FirstStep(const Repository& repository, bool had_suite) {
  const bool measures_own =
      std::any_of(repository.benchmarks.begin(), repository.benchmarks.end(),
                  [](const Benchmark& benchmark) { return benchmark.keeps_contract; });
  if (had_suite || measures_own) return "Look at what is measured: perfgate run --dry-run";
  return fmt::format(
      "Put what you want measured into {}: what stands there stands in for it.\n"
      "     Look at the plan: perfgate run --dry-run",
      repository.requirements.empty() ? kSuiteFile : kStepFile);
}

void PrintNext(const std::string& first, const Repository& repository, CiSystem ci,
               std::ostream& out) {
  std::vector<std::string> steps = {first};
  if (ci == CiSystem::kNone) {
    steps.emplace_back("perfgate run: it measures, passes, and says NO BASELINE.");
    steps.emplace_back("perfgate baseline accept --reason 'first measurement'");
  } else {
    const std::vector<std::string> more = StepsOfCi(ci, repository);
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
  Writer writer(folder, args.dry_run, world.Out());
  const std::string first = FirstStep(repository, IsThere(folder / kSuiteFile));
  WriteAll(repository, FirstFiles(repository, ci), folder, &writer);
  PrintNext(first, repository, ci, world.Out());
  return 0;
}

}  // namespace perfgate::cli
