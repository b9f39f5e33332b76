#include "harness/scripted_world.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/text.h"
#include "harness/trace_notation.h"

namespace perfgate::spec {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// True if `words` are found in `argv` in this order, the first one as the program.
bool Matches(const std::vector<std::string>& words, const std::vector<std::string>& argv) {
  if (words.empty() || argv.empty()) return false;
  if (argv[0] != words[0] && std::filesystem::path(argv[0]).filename() != words[0]) return false;
  size_t next = 1;
  for (size_t i = 1; i < argv.size() && next < words.size(); ++i) next += argv[i] == words[next];
  return next == words.size();
}

std::string Variable(const Process& process, const std::string& name) {
  const auto found = process.environment.find(name);
  return found == process.environment.end() ? "" : found->second;
}

void Put(const std::filesystem::path& file, std::string_view contents) {
  std::ofstream(file, std::ios::binary) << contents;
}

// The facts that a real writer puts into samples.json, where the spec does not say other ones.
void FillEnvironment(const Behaviour& behaviour, const Process& process, Samples& samples) {
  auto& facts = samples.environment;
  const bool cpu = !behaviour.traces.empty() && behaviour.traces[0].second.find("cpu") == 0;
  facts.try_emplace("writer", "spec");
  facts.try_emplace("device", cpu ? "cpu" : "cuda");
  facts.try_emplace("threads", Variable(process, "PERFGATE_THREADS"));
  if (cpu) {
    facts.try_emplace("cpu_isa", "avx512");
    return;
  }
  for (const auto& [key, value] : std::map<std::string, std::string>{{"gpu", "NVIDIA H200"},
                                                                     {"gpu_uuid", "GPU-1"},
                                                                     {"cuda", "13.0"},
                                                                     {"cublas", "13.1"},
                                                                     {"cudnn", "9.19"}}) {
    facts.try_emplace(key, value);
  }
}

void WriteAttempt(const Behaviour& behaviour, const Process& process, int launch) {
  const std::filesystem::path folder = Variable(process, "PERFGATE_ATTEMPT_DIR");
  if (folder.empty()) return;
  const std::filesystem::path dir = process.cwd / folder;
  if (Variable(process, "PERFGATE_PHASE") == "traced") {
    for (const auto& [name, notation] : behaviour.traces) {
      Put(dir / name, ExpandTrace(notation, name));
    }
  }
  for (const auto& [name, contents] : behaviour.files) Put(dir / name, contents);
  if (!behaviour.writes_samples) return;
  if (behaviour.raw_samples) return Put(dir / "samples.json", *behaviour.raw_samples);
  Samples samples = behaviour.samples;
  const std::string iterations = Variable(process, "PERFGATE_ITERATIONS");
  const size_t count = iterations.empty() ? 0 : std::stoul(iterations);
  if (behaviour.default_latency) samples.latency_ns.assign(count, 100'000);
  if (const auto& turns = behaviour.latency_in_turn; !turns.empty()) {
    samples.latency_ns = turns[static_cast<size_t>(launch) % turns.size()];
  }
  if (behaviour.default_dispatch) samples.dispatch_ns.assign(count, 20'000);
  if (behaviour.honours_plant) samples.plant = Variable(process, "PERFGATE_PLANT");
  FillEnvironment(behaviour, process, samples);
  WriteSamples(samples, dir / "samples.json");
}

}  // namespace

void ScriptedWorld::SetProgram(const std::string& header, std::string_view text,
                               const std::string& where) {
  Program program;
  const size_t comma = header.find(',');
  program.words = Words(header.substr(0, comma));
  if (comma != std::string::npos) {
    const auto tail = Words(header.substr(comma + 1));
    if (tail.size() == 2 && tail[0] == "side") {
      program.side = tail[1];
    } else if (tail.size() == 2 && tail[0] == "plant") {
      program.plant = tail[1];
    } else if (tail.size() == 2 && tail[0] == "launch") {
      program.launch = std::stoi(tail[1]);
    } else {
      throw std::runtime_error(where +
                               ": expected `--- program WORDS, launch N`, `, side base` or "
                               "`, plant DEFECT`");
    }
  }
  program.behaviour = ParseBehaviour(text, where);
  launches_[Join(program.words, " ")] = 0;
  std::erase_if(programs_, [&](const Program& old) {
    return old.words == program.words && old.launch == program.launch && old.side == program.side &&
           old.plant == program.plant;
  });
  programs_.push_back(std::move(program));
}

void ScriptedWorld::SetClock(const std::string& utc) {
  std::tm time{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) {
    throw std::runtime_error("expected `--- clock 2027-01-31T10:15:00Z`, found " + utc);
  }
  start_s_ = timegm(&time);
}

void ScriptedWorld::BeginCommand(int number) {
  command_start_s_ = start_s_ + 60 * number;
  elapsed_ns_ = 0;
  launched_ = 0;
  out_.str("");
  err_.str("");
}

std::string ScriptedWorld::UtcNow() {
  const std::time_t now = command_start_s_ + elapsed_ns_ / 1'000'000'000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::string ScriptedWorld::Getenv(const std::string& name) {
  const auto found = variables_.find(name);
  return found == variables_.end() ? "" : found->second;
}

std::string ScriptedWorld::SystemFile(const std::string& path) {
  const auto found = system_.find(path);
  return found == system_.end() ? "" : found->second;
}

std::vector<std::string> ScriptedWorld::SystemFolder(const std::string& path) {
  std::set<std::string> names;
  for (const auto& [file, text] : system_) {
    if (file.starts_with(path + "/")) {
      names.insert(file.substr(path.size() + 1, file.find('/', path.size() + 1) - path.size() - 1));
    }
  }
  return {names.begin(), names.end()};
}

std::pair<std::string, bool> ScriptedWorld::GitCommit(const std::filesystem::path&) {
  return commit_;
}

int ScriptedWorld::Interrupted() {
  return interrupt_ && launched_ >= interrupt_->after ? interrupt_->signal : 0;
}

const Behaviour* ScriptedWorld::Find(const Process& process) {
  // One count for all sections of the same words, taken once a launch.
  std::map<std::string, int> counted;
  const Program* best = nullptr;
  for (const Program& program : programs_) {
    if (!Matches(program.words, process.argv)) continue;
    if (!program.side.empty() && program.side != Variable(process, "PERFGATE_SIDE")) continue;
    if (!program.plant.empty() && program.plant != Variable(process, "PERFGATE_PLANT")) continue;
    const std::string key = Join(program.words, " ");
    if (!counted.contains(key)) counted[key] = ++launches_[key];
    if (program.launch != 0 && program.launch != counted[key]) continue;
    const auto rank = [](const Program& p) {
      return std::pair(p.words.size(), p.launch != 0 || !p.side.empty() || !p.plant.empty());
    };
    if (best == nullptr || rank(program) > rank(*best)) best = &program;
  }
  return best == nullptr ? nullptr : &best->behaviour;
}

AttemptResult ScriptedWorld::RunGit(Process process) {
  const std::string date = fmt::format("{} +0000", command_start_s_);
  process.environment.insert({{"GIT_CEILING_DIRECTORIES", ceiling_.string()},
                              {"GIT_CONFIG_GLOBAL", "/dev/null"},
                              {"GIT_CONFIG_SYSTEM", "/dev/null"},
                              {"GIT_AUTHOR_NAME", "spec"},
                              {"GIT_AUTHOR_EMAIL", "spec@localhost"},
                              {"GIT_AUTHOR_DATE", date},
                              {"GIT_COMMITTER_NAME", "spec"},
                              {"GIT_COMMITTER_EMAIL", "spec@localhost"},
                              {"GIT_COMMITTER_DATE", date}});
  return RealWorld().RunProcess(process);
}

AttemptResult ScriptedWorld::RunProcess(const Process& process) {
  AttemptResult result;
  const Behaviour* behaviour = Find(process);
  if (behaviour == nullptr && !process.argv.empty() && process.argv[0] == "git") {
    return RunGit(process);
  }
  if (behaviour == nullptr || behaviour->outcome == Outcome::kNotStarted) {
    result.outcome = Outcome::kNotStarted;
    result.fault = "program not found: " + (process.argv.empty() ? "" : process.argv[0]);
    return result;
  }
  ++launched_;
  WriteAttempt(*behaviour, process, launched_);
  if (!process.stdout_file.empty()) Put(process.stdout_file, behaviour->stdout_text);
  if (!process.stderr_file.empty()) Put(process.stderr_file, behaviour->stderr_text);
  result.outcome = behaviour->outcome;
  result.stderr_tail = behaviour->stderr_text;
  result.peak_rss_bytes = int64_t{100} << 20;
  result.wall_ns = 2'000'000'000;
  switch (behaviour->outcome) {
    case Outcome::kTimedOut:
      result.wall_ns = process.timeout_ns;
      result.fault = fmt::format("timed out after {} s", process.timeout_ns / 1'000'000'000);
      break;
    case Outcome::kSignalled:
      result.signal = behaviour->signal;
      result.fault = fmt::format("killed by SIG{}", sigabbrev_np(behaviour->signal));
      break;
    default:
      result.exit_code = behaviour->exit_code;
      if (result.exit_code != 0) result.fault = fmt::format("exit code {}", result.exit_code);
  }
  elapsed_ns_ += result.wall_ns;
  return result;
}

}  // namespace perfgate::spec
