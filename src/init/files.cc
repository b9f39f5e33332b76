// The texts of the first files, from templates.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "embedded_init.h"
#include "init/init.h"

namespace perfgate {
namespace {

constexpr size_t kMostBenchmarks = 8;  // that a suite lists
constexpr std::string_view kIgnored[] = {"perfgate-out/", "perfgate-report/", "perfgate.db",
                                         "perfgate.db-wal", "perfgate.db-shm"};

std::string Template(std::string_view name) {
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    if (file.path.substr(file.path.rfind('/') + 1) == name) return std::string(file.text);
  }
  throw Error(Fault::kBug, fmt::format("no template {}", name));
}

// `text` with `value` in place of the mark, which stands there once.
std::string Filled(std::string text, std::string_view mark, std::string_view value) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) throw Error(Fault::kBug, fmt::format("no {} in a template", mark));
  return text.replace(at, mark.size(), value);
}

bool IsPython(const std::string& path) { return path.ends_with(".py"); }

// "bench/decode.py" -> "decode", or "bench-decode" where that is taken.
std::string WorkloadName(const std::string& path, std::set<std::string>* taken) {
  std::string whole = path.substr(0, path.rfind('.'));
  std::string name = whole.substr(whole.rfind('/') + 1);
  if (!taken->insert(name).second) {
    std::replace(whole.begin(), whole.end(), '/', '-');
    name = whole;
    taken->insert(name);
  }
  return name;
}

std::string Command(const std::string& path) {
  if (IsPython(path)) return fmt::format("[python3, {}]", path);
  const std::string program = path.substr(0, path.rfind('.'));
  return fmt::format("[build/{}]", program.substr(program.rfind('/') + 1));
}

std::vector<std::string> Measured(const Repository& repository) {
  std::vector<std::string> paths;
  for (const Benchmark& benchmark : repository.benchmarks) {
    if (benchmark.keeps_contract) paths.push_back(benchmark.path);
  }
  return paths;
}

bool HasOwnStep(const Repository& repository) {
  return Measured(repository).empty() && !repository.requirements.empty();
}

bool NeedsRunner(const Repository& repository) {
  return Measured(repository).empty() && !HasOwnStep(repository);
}

std::string Workloads(const Repository& repository) {
  std::set<std::string> taken = {"step", "geglu"};
  std::string text;
  for (const std::string& path : Measured(repository)) {
    text +=
        fmt::format("  - name: {}\n    command: {}\n", WorkloadName(path, &taken), Command(path));
  }
  if (HasOwnStep(repository)) text += Template("workload_step.yaml");
  if (NeedsRunner(repository)) text += Template("workload_module.yaml");
  size_t listed = 0;
  for (const Benchmark& benchmark : repository.benchmarks) {
    if (benchmark.keeps_contract || listed == kMostBenchmarks) continue;
    if (listed++ == 0) text += Template("workload_benchmarks.yaml");
    text += fmt::format("  # - name: {}\n  #   command: {}\n", WorkloadName(benchmark.path, &taken),
                        Command(benchmark.path));
  }
  if (listed == 0 && !repository.cmake.empty()) text += Template("workload_programs.yaml");
  return text;
}

std::string GithubWorkflow(const Repository& repository) {
  std::string python;
  if (!repository.install.empty()) {
    python = Filled(Template("github_python.yml"), "@INSTALL@", repository.install);
  }
  std::string text = Filled(Template("github.yml"), "@BRANCH@", repository.branch);
  text = Filled(std::move(text), "@PYTHON@", python);
  return Filled(std::move(text), "@TORCH@\n",
                NeedsRunner(repository) ? Template("github_torch.yml") : "");
}

std::string GitlabJob(const Repository& repository) {
  const std::string text =
      Filled(Template("gitlab.yml"), "@GATE@", NeedsRunner(repository) ? "" : " --gate");
  return Filled(text, "@INSTALL@",
                repository.install.empty() ? "" : "    - " + repository.install + "\n");
}

}  // namespace

std::vector<FirstFile> FirstFiles(const Repository& repository, CiSystem ci) {
  std::vector<FirstFile> files;
  if (HasOwnStep(repository)) {
    files.push_back({std::string(kStepFile), Template(kStepFile), "one step of a model"});
  }
  files.push_back({std::string(kRulesFile), Template(kRulesFile), "rules of this project"});
  std::string suite = Filled(Template(kSuiteFile), "@SUITE@", repository.name);
  suite = Filled(std::move(suite), "@WORKLOADS@", Workloads(repository));
  files.push_back(
      {std::string(kSuiteFile), std::move(suite), "what is measured, and which rules judge it"});
  if (ci == CiSystem::kGithub) {
    files.push_back({std::string(kGithubFile), GithubWorkflow(repository),
                     "the gate in pull requests, by GitHub Actions"});
  }
  if (ci == CiSystem::kGitlab) {
    files.push_back({std::string(kGitlabFile), GitlabJob(repository),
                     "the gate in merge requests, by GitLab CI"});
  }
  return files;
}

std::string WithIgnored(std::string text) {
  const std::vector<std::string> lines = Split(text, '\n');
  std::string lacking;
  for (const std::string_view line : kIgnored) {
    const bool there = std::any_of(lines.begin(), lines.end(), [&](const std::string& other) {
      return Trim(other) == line || Trim(other) == fmt::format("/{}", line);
    });
    if (!there) lacking += fmt::format("{}\n", line);
  }
  if (lacking.empty()) return text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + (text.empty() ? "" : "\n") + "# What perfgate writes; baselines are committed.\n" +
         lacking;
}

}  // namespace perfgate
