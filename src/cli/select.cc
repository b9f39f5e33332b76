#include "cli/select.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunner = "perfgate-torch";

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

fs::path SuiteFile(const std::string& given) {
  std::error_code error;
  const fs::path path(given);
  return fs::is_directory(path, error) ? path / "perfgate.yaml" : path;
}

std::string FlagsOf(const SuiteArgs& args, std::string_view suite_flag) {
  std::string flags;
  if (args.suite != SuiteArgs().suite) {
    flags += " " + std::string(suite_flag) + ShellQuoted(args.suite);
  }
  if (!args.database.empty()) flags += " --db " + ShellQuoted(args.database);
  if (!args.baselines.empty()) flags += " --baselines " + ShellQuoted(args.baselines);
  return flags;
}

fs::path Or(const std::string& given, const fs::path& usual) {
  return given.empty() ? usual : fs::path(given);
}

}  // namespace

void AddReferences(const std::vector<Case>& declared, std::vector<Case>* selected) {
  const auto named = [](const std::string& name) {
    return [&name](const Case& item) { return item.name == name; };
  };
  const std::vector<Case> chosen = *selected;
  for (const Case& item : chosen) {
    if (item.reference.empty() ||
        std::any_of(selected->begin(), selected->end(), named(item.reference))) {
      continue;
    }
    const auto reference = std::find_if(declared.begin(), declared.end(), named(item.reference));
    if (reference == declared.end()) continue;
    selected->push_back(*reference);
    selected->back().reference_only = true;
  }
}

std::string TorchRunner(World& world) {
  const std::string given = world.Getenv("PERFGATE_TORCH");
  if (!given.empty()) return given;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error && IsProgram(self.parent_path() / kRunner)) return self.parent_path() / kRunner;
  for (const std::string& folder : Split(world.Getenv("PATH"), ':')) {
    if (!folder.empty() && IsProgram(fs::path(folder) / kRunner)) return fs::path(folder) / kRunner;
  }
  return kRunner;
}

std::vector<bool> MatchGlobs(const std::vector<std::string>& globs, const std::string& flag,
                             const std::vector<std::string>& names, const std::string& what) {
  std::vector<bool> taken(names.size(), globs.empty());
  for (const std::string& glob : globs) {
    bool any = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!MatchesGlob(glob, names[i])) continue;
      any = true;
      taken[i] = true;
    }
    if (any) continue;
    const std::optional<std::string> nearest = Nearest(glob, names);
    std::string hint = nearest ? fmt::format("did you mean `{}`?", *nearest)
                               : fmt::format("there are: {}", Join(names, ", "));
    if (names.empty()) hint = "there are none";
    throw Error(Fault::kUsage,
                fmt::format("{} '{}' matches no {}; {}", flag, Printable(glob), what, hint));
  }
  return taken;
}

fs::path DatabaseHere(const std::string& given) { return Or(given, "perfgate.db"); }

Selection Select(const SuiteArgs& args, World& world) {
  Selection selection;
  const fs::path file = SuiteFile(args.suite);
  selection.suite = LoadSuite(file, {.torch_runner = TorchRunner(world)});
  const Suite& suite = selection.suite;
  std::vector<std::string> names;
  for (const Case& item : suite.cases) names.push_back(item.name);
  const std::vector<bool> taken = MatchGlobs(args.cases, "--case", names, "declared case");
  for (size_t i = 0; i < suite.cases.size(); ++i) {
    if (taken[i]) selection.cases.push_back(suite.cases[i]);
  }
  AddReferences(suite.cases, &selection.cases);
  selection.flags = FlagsOf(args, "--suite ");
  selection.run = "perfgate run" + FlagsOf(args, "");
  selection.database = Or(args.database, suite.folder / "perfgate.db");
  selection.baselines = Or(args.baselines, suite.folder / suite.baselines);
  return selection;
}

}  // namespace perfgate::cli
