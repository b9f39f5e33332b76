// The world of a spec: a fixed clock that ticks, a fixed machine, and programs that do what the
// spec says instead of running.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/run.h"

namespace perfgate::spec {

// What a launched program does (docs/testing.md has the notation of a `--- program` section).
struct Behaviour {
  std::vector<std::pair<std::string, std::string>> traces;  // file name, notation
  std::vector<std::pair<std::string, std::string>> files;   // file name, contents
  bool writes_samples = true;
  std::optional<std::string> raw_samples;  // written instead of honest ones
  Samples samples;
  std::vector<std::vector<int64_t>> latency_in_turn;  // of one launch after the other
  bool default_latency = true;                        // PERFGATE_ITERATIONS samples of 100 us
  bool default_dispatch = true;                       // the same of 20 us
  bool honours_plant = false;
  std::string stdout_text, stderr_text;
  Outcome outcome = Outcome::kExited;
  int exit_code = 0;
  int signal = 0;
};

// Throws std::runtime_error with `where` for a line it does not know.
Behaviour ParseBehaviour(std::string_view text, const std::string& where);

class ScriptedWorld : public World {
 public:
  // `header`: the words of the command line to look for, then `, launch N`, `, side base`, `, plant
  // clone` or nothing. The section with the most words wins, then the one with one of these.
  // Replaces a section of the same header.
  void SetProgram(const std::string& header, std::string_view text, const std::string& where);
  void SetMachine(const std::string& key, const std::string& value) { machine_[key] = value; }
  void SetVariable(const std::string& name, const std::string& value) { variables_[name] = value; }
  // What World::SystemFile reads.
  void SetSystemFile(const std::string& path, const std::string& text) { system_[path] = text; }
  void SetCommit(const std::string& commit, bool dirty) { commit_ = {commit, dirty}; }
  void SetBranch(const std::string& branch) { branch_ = branch; }
  // "2027-01-31T10:15:00Z": the start of the next command.
  void SetClock(const std::string& utc);
  // The next command sees `signal` once this many programs have run.
  void InterruptAfter(int launches, int signal) { interrupt_ = {launches, signal}; }

  // The real git, with a clock, a person and settings of its own, that looks for repositories in
  // `ceiling` and below it only.
  AttemptResult RunGit(Process process);
  void SetCeiling(const std::filesystem::path& ceiling) { ceiling_ = ceiling; }

  // Empties the streams. Each command starts a minute after the one before, whatever that took; one
  // that is run again starts when it did the first time.
  void BeginCommand(int number);
  void EndCommand() { interrupt_.reset(); }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  std::string UtcNow() override;
  int64_t MonotonicNs() override { return elapsed_ns_ += 1'000'000; }
  uint64_t RandomSeed() override { return 42; }
  std::map<std::string, std::string> Machine() override { return machine_; }
  AttemptResult RunProcess(const Process& process) override;
  int Interrupted() override;
  std::string Getenv(const std::string& name) override;
  std::string SystemFile(const std::string& path) override;
  std::vector<std::string> SystemFolder(const std::string& path) override;
  std::ostream& Out() override { return out_; }
  std::ostream& Err() override { return err_; }
  bool OutIsTerminal() override { return false; }
  bool ErrIsTerminal() override { return false; }
  std::pair<std::string, bool> GitCommit(const std::filesystem::path& folder) override;
  std::string GitBranch(const std::filesystem::path& /*folder*/) override { return branch_; }

 private:
  struct Program {
    std::vector<std::string> words;
    int launch = 0;     // 0: any
    std::string side;   // of `run --against`; "": any
    std::string plant;  // the defect that is asked for; "": any
    Behaviour behaviour;
  };
  struct Interrupt {
    int after = 0;
    int signal = 0;
  };
  const Behaviour* Find(const Process& process);

  std::vector<Program> programs_;
  std::map<std::string, int> launches_;  // by the words of a section
  std::map<std::string, std::string> machine_ = {
      {"cpu", "Spec CPU"}, {"cpu_isa", "avx512"}, {"cores", "8"}, {"os", "Linux"}, {"gpus", ""}};
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> system_;  // files by their path
  std::pair<std::string, bool> commit_ = {"1a2b3c4", false};
  std::string branch_;
  std::optional<Interrupt> interrupt_;
  std::filesystem::path ceiling_;
  int64_t start_s_ = 1'801'390'500;  // 2027-01-31T10:15:00Z
  int64_t command_start_s_ = start_s_;
  int64_t elapsed_ns_ = 0;
  int launched_ = 0;
  std::ostringstream out_, err_;
};

}  // namespace perfgate::spec
