#include "torch/export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "embedded_torch.h"
#include "perfgate/attempt.h"
#include "torch/device.h"
#include "torch/fault.h"

extern char** environ;

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

fs::path CacheFolder() {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string cache = variable("PERFGATE_CACHE"); !cache.empty()) return cache;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "perfgate";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".cache/perfgate";
  throw WorkloadFault("no place for exported packages: set PERFGATE_CACHE or HOME");
}

// The Python that has this LibTorch: of its venv, or PERFGATE_PYTHON.
std::string Python() {
  if (const char* named = std::getenv("PERFGATE_PYTHON")) return named;
  // <venv>/lib/python3.11/site-packages/torch
  const fs::path venv = TorchFolder().parent_path().parent_path().parent_path().parent_path();
  const fs::path python = venv / "bin/python3";
  if (fs::exists(python)) return python.string();
  throw WorkloadFault("mode aoti needs the Python of LibTorch's wheel, and there is none at " +
                      python.string() + "; set PERFGATE_PYTHON to it");
}

// 64-bit FNV-1a, as 16 hex digits: names files, nothing more.
std::string Hash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

// The definition as the export script takes it, and as the cache knows it.
std::vector<std::string> Definition(const Options& options, c10::Device device,
                                    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = {"--module", options.name};
  for (const auto& [key, value] : options.set) {
    words.insert(words.end(), {"--set", key + "=" + value});
  }
  for (const InputSpec& input : options.inputs) {
    words.insert(words.end(), {"--input-shape", fmt::format("{}", fmt::join(input.shape, ",")),
                               "--input-dtype", input.dtype});
  }
  words.insert(words.end(), {"--seed", std::to_string(options.seed), "--device", device.str(),
                             "--torch", environment.at("torch")});
  return words;
}

// Holds `path` alone while it lives; waits for others.
class Lock {
 public:
  explicit Lock(const fs::path& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) continue;
    if (fd_ < 0) throw WorkloadFault("cannot open " + path.string() + ": " + std::strerror(errno));
  }
  ~Lock() { close(fd_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int fd_;
};

// Exit code of the command, its output in `log`; 127 if it cannot be started.
int RunCommand(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) {
    throw WorkloadFault("cannot start " + words[0] + ": " + std::strerror(fault) +
                        "; PERFGATE_PYTHON names the Python of LibTorch's wheel");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// An empty folder while it lives; what an earlier process left there goes.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Only while holding the package's lock.
void Export(const std::vector<std::string>& definition, const fs::path& package) {
  const WorkFolder folder(package.string() + ".work");
  const fs::path script = folder / "perfgate_export.py", log = folder / "log";
  const fs::path unfinished = folder / "package.pt2";
  attempt::internal::WriteWhole(script.string(), std::string(kEmbeddedFiles[0].text));
  std::vector<std::string> command = {Python(), script.string()};
  command.insert(command.end(), definition.begin(), definition.end());
  command.insert(command.end(), {"--out", unfinished.string()});
  fmt::print(stderr, "perfgate-torch: exporting {} (kept for later runs)\n", definition[1]);
  const int code = RunCommand(command, log);
  if (code != 0 || !fs::exists(unfinished)) {
    std::ostringstream printed;
    printed << std::ifstream(log).rdbuf();
    throw WorkloadFault(fmt::format("the export of {} failed (exit code {} of {}):\n  {}",
                                    definition[1], code, command[0], ExplainExport(printed.str())));
  }
  fs::rename(unfinished, package);
}

}  // namespace

Exported ExportModule(const Options& options, c10::Device device,
                      const std::map<std::string, std::string>& environment) {
  const int64_t start_ns = attempt::internal::NowNs();
  const std::vector<std::string> definition = Definition(options, device, environment);
  const auto gpu = environment.find("gpu");
  const std::string identity =
      fmt::format("{} {} {} {}", fmt::join(definition, " "), environment.at("cpu_isa"),
                  Hash(kEmbeddedFiles[0].text), gpu == environment.end() ? "" : gpu->second);
  const fs::path folder = CacheFolder() / "packages";
  fs::create_directories(folder);
  const fs::path package = folder / fmt::format("{}-{}.pt2", options.name, Hash(identity));
  if (!fs::exists(package)) {
    const Lock lock(package.string() + ".lock");
    if (!fs::exists(package)) Export(definition, package);
  }
  return {package, attempt::internal::NowNs() - start_ns};
}

}  // namespace perfgate::runner
