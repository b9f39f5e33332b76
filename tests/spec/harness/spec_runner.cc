#include "harness/spec_runner.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "harness/invariants.h"
#include "harness/pick.h"
#include "harness/scripted_world.h"
#include "harness/trace_notation.h"

namespace perfgate::spec {
namespace {

namespace fs = std::filesystem;

// A new empty folder that is the working folder while this lives. Its own name, by which a suite is
// called that declares none, is always `demo`.
class TemporaryFolder {
 public:
  TemporaryFolder() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "perfgate-spec-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = fs::canonical(name) / "demo";
    fs::create_directory(path_);
    fs::current_path(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(path_.parent_path(), ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path before_, path_;
};

std::string Replace(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines = Split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string FromHex(std::string_view text) {
  std::string bytes, digits;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

void PutFile(const fs::path& path, std::string_view contents) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << contents;
}

// The commands that a spec may use besides perfgate. Throws for another one.
CommandResult BuiltIn(const std::vector<std::string>& words) {
  const std::string& name = words[0];
  CommandResult result;
  if (name == "rm" && words.size() == 2) {
    if (fs::remove_all(words[1]) == 0) throw std::runtime_error("rm: no such file: " + words[1]);
  } else if (name == "cp" && words.size() == 3) {
    fs::copy(words[1], words[2],
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  } else if (name == "mkdir" && words.size() == 2) {
    fs::create_directories(words[1]);
  } else if (name == "ln" && words.size() == 3) {
    fs::create_symlink(words[1], words[2]);
  } else if (name == "cut" && words.size() == 3) {
    fs::resize_file(words[1], std::stoul(words[2]));
  } else if (name == "sub" && words.size() == 4) {
    const std::string text = ReadFile(words[1]);
    const std::string other = Replace(text, words[2], words[3]);
    if (other == text) throw std::runtime_error("sub: not found: " + words[2]);
    PutFile(words[1], other);
  } else if (name == "cat" && words.size() == 2) {
    result.out = ReadFile(words[1]);
  } else if (name == "ls" && words.size() == 2) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(words[1])) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& entry : names) result.out += entry + "\n";
  } else {
    throw std::runtime_error("no such command here: " + Join(words, " "));
  }
  return result;
}

class Runner {
 public:
  Runner(const SpecFile& spec, bool update) : spec_(spec), update_(update) {
    world_.SetCeiling(folder_.path().parent_path());
  }

  std::vector<std::string> Run() {
    for (const auto& step : spec_.steps) {
      if (const auto* section = std::get_if<Section>(&step)) {
        Place(*section);
      } else {
        RunCommand(std::get<Command>(step));
      }
    }
    if (update_ && !printed_.empty()) UpdateSpec(spec_, printed_);
    return problems_;
  }

 private:
  std::string At(int line) const { return fmt::format("{}:{}", spec_.path.string(), line); }
  std::string Inside(std::string text) const {
    return Replace(std::move(text), "$DIR", folder_.path().string());
  }

  void Place(const Section& section) {
    const std::string text = Inside(section.text);
    const std::string& kind = section.kind;
    if (kind == "file") {
      PutFile(section.rest, text);
    } else if (kind == "trace") {
      PutFile(section.rest, ExpandTrace(text, At(section.line)));
    } else if (kind == "hex") {
      PutFile(section.rest, FromHex(text));
    } else if (kind == "program") {
      world_.SetProgram(section.rest, text, At(section.line));
    } else if (kind == "use") {
      Use(section.rest);
    } else if (kind == "system") {
      world_.SetSystemFile(section.rest, text);
    } else if (kind == "runs") {
      Repeat(section);
    } else {
      PlaceWorld(section);
    }
  }

  // `--- use geglu_eager.json.gz as base.json.gz`: a recorded trace of tests/data/traces.
  void Use(const std::string& rest) {
    const size_t as = rest.find(" as ");
    const std::string source = rest.substr(0, as);
    const fs::path target =
        as == std::string::npos ? fs::path(source) : fs::path(rest.substr(as + 4));
    if (target.has_parent_path()) fs::create_directories(target.parent_path());
    fs::copy_file(fs::path(PERFGATE_TEST_DATA) / "traces" / source, target,
                  fs::copy_options::overwrite_existing);
  }

  // `--- runs 20`: so many times `perfgate run`, each of which must end with 0.
  void Repeat(const Section& section) {
    for (int i = std::stoi(section.rest); i > 0; --i, ++number_) {
      const CommandResult result = Call({"perfgate", "run"});
      if (result.exit == 0) continue;
      problems_.push_back(
          fmt::format("{}: exit {}\n{}{}", At(section.line), result.exit, result.out, result.err));
    }
  }

  void PlaceWorld(const Section& section) {
    const std::string& rest = section.rest;
    const size_t equals = rest.find('=');
    if (section.kind == "clock") {
      world_.SetClock(rest);
    } else if (section.kind == "machine" && equals != std::string::npos) {
      world_.SetMachine(rest.substr(0, equals), rest.substr(equals + 1));
    } else if (section.kind == "variable" && equals != std::string::npos) {
      world_.SetVariable(rest.substr(0, equals), rest.substr(equals + 1));
    } else if (section.kind == "branch") {
      world_.SetBranch(rest);
    } else if (section.kind == "commit") {
      world_.SetCommit(rest.substr(0, rest.find(' ')), rest.ends_with(" dirty"));
    } else if (section.kind == "interrupt") {
      const std::vector<std::string> words = Split(rest, ' ');  // after N launches [by SIGTERM]
      if (words.size() < 3)
        throw std::runtime_error(At(section.line) + ": after how many launches?");
      world_.InterruptAfter(std::stoi(words[1]), rest.ends_with("SIGTERM") ? SIGTERM : SIGINT);
    } else {
      throw std::runtime_error(At(section.line) + ": no such section: " + section.kind);
    }
  }

  // What it prints is not told; a commit is known by its subject from then on.
  CommandResult Git(const std::vector<std::string>& words) {
    world_.BeginCommand(number_);
    Process process;
    process.argv = words;
    process.cwd = folder_.path();
    process.timeout_ns = 60'000'000'000;
    CommandResult result;
    result.exit = world_.RunGit(process).exit_code;
    process.argv = {"git", "log", "--all", "--format=%H %s"};
    process.stdout_file = folder_.path().parent_path() / "commits";
    if (world_.RunGit(process).exit_code != 0) return result;
    for (const std::string& line : Lines(ReadFile(process.stdout_file))) {
      const size_t blank = line.find(' ');
      commits_[line.substr(0, blank)] = "$" + line.substr(blank + 1);
    }
    return result;
  }

  // Their hashes change with every word that is in them.
  std::string Stable(std::string text) const {
    text = Replace(std::move(text), folder_.path().string(), "$DIR");
    text = Replace(std::move(text), folder_.path().parent_path().string(), "$DIR/..");
    for (const auto& [hash, name] : commits_) {
      text = Replace(Replace(std::move(text), hash, name), hash.substr(0, 7), name);
    }
    return text;
  }

  CommandResult Call(const std::vector<std::string>& words) {
    if (words[0] == "git") return Git(words);
    if (words[0] != "perfgate") return BuiltIn(words);
    world_.BeginCommand(number_);
    CommandResult result;
    result.exit = cli::Main({words.begin() + 1, words.end()}, world_);
    result.out = world_.out();
    result.err = world_.err();
    return result;
  }

  void RunCommand(const Command& command) {
    std::vector<std::string> words;
    for (const std::string& word : command.words) words.push_back(Inside(word));
    const CommandResult result = Call(words);
    world_.EndCommand();
    Compare(command, result);
    if (words[0] == "perfgate") {
      const auto rerun = [this](const std::vector<std::string>& other) { return Call(other); };
      for (const std::string& broken : BrokenInvariants(words, result, rerun)) {
        problems_.push_back(fmt::format("{}: {}", At(command.line), broken));
      }
    }
    ++number_;
  }

  std::vector<std::string> Shown(const Command& command, const std::string& out) const {
    const std::string stable = Stable(out);
    return command.pick.empty() ? Lines(stable)
                                : Pick(ParseJson(stable, "the output"), command.pick);
  }

  void Compare(const Command& command, const CommandResult& result) {
    std::vector<std::string> err = Lines(Stable(result.err));
    std::vector<std::string> out;
    try {
      out = Shown(command, result.out);
    } catch (const std::exception& error) {
      problems_.push_back(
          fmt::format("{}: {}\nstderr: {}", At(command.line), error.what(), result.err));
      return;
    }
    if (command.exit && *command.exit != result.exit) {
      problems_.push_back(fmt::format("{}: exit {}, expected exit {}\n{}{}", At(command.line),
                                      result.exit, *command.exit, Join(out, "\n"),
                                      "\nstderr: " + result.err));
    }
    if (LinesMatch(command.out, out) && (!command.checks_err || LinesMatch(command.err, err)))
      return;
    if (update_) {
      printed_.push_back({&command, out, err});
      return;
    }
    std::string text =
        fmt::format("{}: $ {}\nprinted:\n", At(command.line), Join(command.words, " "));
    for (const std::string& line : out) text += "> " + line + "\n";
    for (const std::string& line : err) text += "!> " + line + "\n";
    text += "expected:\n";
    for (const std::string& line : command.out) text += "> " + line + "\n";
    for (const std::string& line : command.err) text += "!> " + line + "\n";
    problems_.push_back(text);
  }

  const SpecFile& spec_;
  bool update_;
  TemporaryFolder folder_;
  ScriptedWorld world_;
  std::map<std::string, std::string> commits_;  // hash -> "$subject"
  int number_ = 0;
  std::vector<std::string> problems_;
  std::vector<Printed> printed_;
};

}  // namespace

std::vector<std::string> RunSpec(const SpecFile& spec, bool update) {
  return Runner(spec, update).Run();
}

}  // namespace perfgate::spec
