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

// "bench/decode.py" -> "decode", or "bench-decode" where that is taken, or "bench-decode-2".
std::string WorkloadName(const std::string& path, std::set<std::string>* taken) {
  std::string whole = path.substr(0, path.rfind('.'));
  const std::string name = whole.substr(whole.rfind('/') + 1);
  if (taken->insert(name).second) return name;
  std::replace(whole.begin(), whole.end(), '/', '-');
  std::string unique = whole;
  for (int i = 2; !taken->insert(unique).second; ++i) unique = fmt::format("{}-{}", whole, i);
  return unique;
}

// A program is taken to be built by the name of its workload: two sources of one name are two.
std::string Command(const std::string& path, const std::string& name) {
  return IsPython(path) ? fmt::format("[python3, {}]", path) : fmt::format("[build/{}]", name);
}

// Quoted: a file may be called null.py or 1e3.py. `margin` stands before each line.
std::string Workload(const std::string& path, std::string_view margin,
                     std::set<std::string>* taken) {
  const std::string name = WorkloadName(path, taken);
  return fmt::format("{0}- name: \"{1}\"\n{0}  command: {2}\n", margin, name, Command(path, name));
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
  for (const std::string& path : Measured(repository)) text += Workload(path, "  ", &taken);
  if (HasOwnStep(repository)) text += Template("workload_step.yaml");
  if (NeedsRunner(repository)) text += Template("workload_module.yaml");
  size_t listed = 0;
  for (const Benchmark& benchmark : repository.benchmarks) {
    if (benchmark.keeps_contract || listed == kMostBenchmarks) continue;
    if (listed++ == 0) text += Template("workload_benchmarks.yaml");
    text += Workload(benchmark.path, "  # ", &taken);
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
