#include "cli/git.h"

#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTimeoutNs = 120'000'000'000;
constexpr size_t kLongestFault = 300;

std::string FirstLine(std::string_view text) {
  const std::string_view line = Trim(text.substr(0, text.find('\n')));
  return Shorten(Printable(line), kLongestFault);
}

}  // namespace

Git::Git(fs::path folder, World& world) : folder_(std::move(folder)), world_(world) {}

GitAnswer Git::Ask(const std::vector<std::string>& arguments, bool own_index) {
  Process git;
  git.argv = {"git"};
  git.argv.insert(git.argv.end(), arguments.begin(), arguments.end());
  git.cwd = folder_;
  git.environment = {{"GIT_OPTIONAL_LOCKS", "0"}, {"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"}};
  if (own_index) git.environment["GIT_INDEX_FILE"] = (streams_.path() / "index").string();
  git.timeout_ns = kTimeoutNs;
  git.stdout_file = streams_.path() / "out";
  git.stderr_file = streams_.path() / "err";
  const AttemptResult result = world_.RunProcess(git);
  GitAnswer answer;
  answer.ok = result.fault.empty();
  if (result.outcome == Outcome::kNotStarted) {
    answer.fault = "git: " + result.fault;
    return answer;
  }
  answer.out = ReadFile(git.stdout_file);
  while (answer.out.ends_with('\n')) answer.out.pop_back();
  if (answer.ok) return answer;
  const std::string said = FirstLine(ReadFile(git.stderr_file));
  answer.fault = said.empty() ? "git " + arguments.front() + ": " + result.fault : said;
  return answer;
}

bool Git::IsShallow() { return Ask({"rev-parse", "--is-shallow-repository"}).out == "true"; }

GitAnswer Git::Export(const std::string& commit, const std::string& path, const fs::path& into) {
  std::error_code error;
  fs::create_directories(into, error);
  return Ask({"-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false",
              "--work-tree=" + into.string(), "checkout", "--quiet", commit, "--",
              path == "." ? ":(top)" : ":(top,literal)" + path},
             true);
}

}  // namespace perfgate::cli
