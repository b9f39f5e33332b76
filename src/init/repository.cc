// What a repository holds.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "init/init.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 2;  // folders below the first
constexpr int kMostEntries = 20'000;
constexpr std::streamsize kMostBytes = 1 << 20;

// The beginning of a file; "" if it cannot be read.
std::string Beginning(const fs::path& file) {
  std::string text(kMostBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), kMostBytes);
  text.resize(static_cast<size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Lower case, without comments and blanks.
std::string Code(const fs::path& file) {
  std::string code;
  for (const std::string& line : Split(Beginning(file), '\n'))
    code += line.substr(0, line.find('#'));
  std::erase_if(code, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return Lower(code);
}

bool IsSafe(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/' || c == '-';
  });
}

bool IsOthers(const std::string& folder) {
  static constexpr std::string_view kOthers[] = {"node_modules", "site-packages", "third_party",
                                                 "thirdparty",   "vendor",        "external",
                                                 "venv",         "env",           "perfgate-out"};
  return folder.starts_with(".") || folder.starts_with("build") ||
         folder.starts_with("cmake-build") ||
         std::find(std::begin(kOthers), std::end(kOthers), folder) != std::end(kOthers);
}

// Regular files within `folder`, in the bounds of LookAt.
std::vector<std::string> FilesOf(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  int entries = 0;
  for (fs::recursive_directory_iterator
           it(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end && entries < kMostEntries; it.increment(error), ++entries) {
    const fs::file_status status = it->symlink_status(error);
    if (fs::is_directory(status) &&
        (it.depth() >= kMostDepth || IsOthers(it->path().filename().string()))) {
      it.disable_recursion_pending();
    }
    const std::string path = it->path().lexically_relative(folder).generic_string();
    if (fs::is_regular_file(status) && IsSafe(path)) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsRequirements(const std::string& path) {
  return path == "pyproject.toml" || path == "setup.py" || path == "setup.cfg" ||
         (path.starts_with("requirements") && path.ends_with(".txt"));
}

bool IsBenchmark(const std::string& path) {
  static constexpr std::string_view kSources[] = {".py", ".cc", ".cpp", ".cxx", ".cu"};
  const fs::path file(path);
  if (std::find(std::begin(kSources), std::end(kSources), file.extension().string()) ==
          std::end(kSources) ||
      path == kStepFile || file.stem() == "__init__" || file.stem() == "conftest") {
    return false;
  }
  for (const fs::path& part : file.parent_path()) {
    if (part == "bench" || part == "benchmark" || part == "benchmarks") return true;
  }
  return Lower(file.stem().string()).find("bench") != std::string::npos;
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// Requirements that name torch come first: without them nothing runs.
std::string InstallCommand(const Repository& repository, const fs::path& folder) {
  std::string options;
  for (const std::string& file : repository.requirements) {
    if (options.empty() && file.ends_with(".txt")) options = " -r " + file;
  }
  if (options.empty() && Exists(folder / "requirements.txt")) options = " -r requirements.txt";
  if (Exists(folder / "pyproject.toml") || Exists(folder / "setup.py")) options += " .";
  return options.empty() ? "" : "pip install" + options;
}

std::string NameOf(const fs::path& folder) {
  std::error_code error;
  std::string name = fs::weakly_canonical(folder, error).filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return !IsSafe({&c, 1}) && c != '-';
      },
      '-');
  return IsSafe(name) ? name : "suite";
}

// "ref: refs/remotes/origin/trunk"
std::string BranchOf(const fs::path& folder) {
  constexpr std::string_view kStart = "ref: refs/remotes/origin/";
  const std::string text = Beginning(folder / ".git/refs/remotes/origin/HEAD");
  const std::string_view line = Trim(text);
  if (!line.starts_with(kStart) || !IsSafe(line.substr(kStart.size()))) return "main";
  return std::string(line.substr(kStart.size()));
}

// Of whichever owner: forks and mirrors have others.
bool UsesPerfgate(const std::string& code) {
  const std::vector<std::string> lines = Split(code, '\n');
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("uses:") != std::string::npos && line.find("/perfgate@") != std::string::npos;
  });
}

void LookAtWorkflows(const fs::path& folder, Repository* repository) {
  std::error_code error;
  for (fs::directory_iterator it(folder / ".github/workflows", error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = ".github/workflows/" + it->path().filename().string();
    if (!IsSafe(path) || !(path.ends_with(".yml") || path.ends_with(".yaml"))) continue;
    repository->workflows.push_back(path);
  }
  std::sort(repository->workflows.begin(), repository->workflows.end());
  for (const std::string& path : repository->workflows) {
    if (path != kGithubFile && UsesPerfgate(Code(folder / path))) repository->gated_by = path;
  }
}

}  // namespace

Repository LookAt(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw Error(Fault::kUsage,
                fmt::format("{}: {}", Printable(folder.string()),
                            Exists(folder) ? "is not a folder" : "there is no such folder"));
  }
  Repository repository;
  repository.name = NameOf(folder);
  repository.branch = BranchOf(folder);
  for (const std::string& path : FilesOf(folder)) {
    if (IsRequirements(path) && Code(folder / path).find("torch") != std::string::npos) {
      repository.requirements.push_back(path);
    }
    if (fs::path(path).filename() == "CMakeLists.txt" &&
        Code(folder / path).find("find_package(torch") != std::string::npos) {
      repository.cmake.push_back(path);
    }
    if (IsBenchmark(path)) {
      const std::string text = Beginning(folder / path);
      repository.benchmarks.push_back(
          {path, text.find("perfgate.measure") != std::string::npos ||
                     text.find("perfgate/attempt.h") != std::string::npos});
    }
  }
  repository.install = InstallCommand(repository, folder);
  LookAtWorkflows(folder, &repository);
  repository.gitlab = Exists(folder / ".gitlab-ci.yml");
  return repository;
}

CiSystem CiSystemOf(const Repository& repository) {
  return repository.gitlab && repository.workflows.empty() ? CiSystem::kGitlab : CiSystem::kGithub;
}

}  // namespace perfgate
