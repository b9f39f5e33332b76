// Plan of attempts, launching, time-outs, machine facts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attempt/attempt.h"
#include "declare/declare.h"

namespace perfgate {

struct Process {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // added to the parent's
  std::filesystem::path cwd;
  int64_t timeout_ns = 0;
  std::filesystem::path stdout_file, stderr_file;  // where its streams go
};

// The world as perfgate sees it: clock, processes, machine, streams, environment. Tests script it.
class World {
 public:
  virtual ~World() = default;
  virtual std::string UtcNow() = 0;  // "2027-01-31T10:15:00Z"
  virtual int64_t MonotonicNs() = 0;
  virtual uint64_t RandomSeed() = 0;
  virtual std::map<std::string, std::string> Machine() = 0;  // cpu, cpu_isa, cores, os, gpus
  // Runs to its end, with a process group of its own and no input; then ends what it left behind.
  // Never throws for what the child does; throws Error(kEnvironment) if its streams cannot be
  // written to their files (the last 64 KiB of each). Returns soon with kInterrupted when
  // Interrupted() becomes true: SIGTERM to the group, SIGKILL to all after 2 s, like a time-out.
  virtual AttemptResult RunProcess(const Process& process) = 0;
  virtual int Interrupted() = 0;  // signal number or 0
  // Waits; returns early when Interrupted() becomes true. A scripted world has no time to wait.
  virtual void SleepFor(int64_t /*ns*/) {}
  virtual std::string Getenv(const std::string& name) = 0;  // "" if unset
  // A file of the kernel's ("/proc/loadavg"); "" where it cannot be read. The names in a folder of
  // its, sorted; none where there is none.
  virtual std::string SystemFile(const std::string& /*path*/) { return ""; }
  virtual std::vector<std::string> SystemFolder(const std::string& /*path*/) { return {}; }
  virtual std::ostream& Out() = 0;
  virtual std::ostream& Err() = 0;
  virtual bool OutIsTerminal() = 0;
  virtual bool ErrIsTerminal() = 0;
  // Commit of the repository that holds `folder` ("" if none) and whether it has changes.
  virtual std::pair<std::string, bool> GitCommit(const std::filesystem::path& folder) = 0;
  // The branch that is checked out there; "" if none is.
  virtual std::string GitBranch(const std::filesystem::path& /*folder*/) { return ""; }
};

// The real one; installs handlers for SIGINT and SIGTERM once.
World& RealWorld();

// Processes of a case that every run has, the traced ones as a rule: one where a trace is judged as
// it is, two for each count of instructions.
int ProcessesOf(const Case& declared);
Phase PhaseOfFirst(const Case& declared);  // theirs

// Attempts in the order in which they will run: the first process of each case in declared order,
// then the second ones, so that a slow drift of the machine meets all cases alike.
std::vector<Attempt> Plan(const std::vector<Case>& cases, uint64_t seed);

// The child's environment by the attempt contract.
std::map<std::string, std::string> AttemptEnvironment(const Case& declared, const Attempt& attempt,
                                                      const std::filesystem::path& out_dir);

// Makes the attempt's folder under `out_dir` and runs the case's command in `suite_folder`; for a
// case that is a trace, copies the trace into the folder. Throws Error(kEnvironment) if the disk
// says no.
AttemptResult Launch(const Case& declared, const Attempt& attempt,
                     const std::filesystem::path& suite_folder,
                     const std::filesystem::path& out_dir, World& world);

// Cases whose times must be measured again, and by how many fresh pairs, where there are pairs.
struct Unsettled {
  std::vector<std::string> cases;
  int pairs = 0;
};

// The base to measure in pairs with head: a built checkout.
struct Against {
  std::filesystem::path checkout;  // as given
  std::filesystem::path folder;    // where the commands of the base run
  int64_t budget_ns = 0;           // for measuring; 0: without a limit
  std::vector<std::string> notes;
};

struct RunOptions {
  // Used if it is absent, empty, or holds a run of perfgate (whose attempts are then removed).
  std::filesystem::path out_dir;
  uint64_t seed = 0;
  std::optional<Against> against;
  // Asked when a round has ended, of what lies in the out folder then; empty: nothing is ever
  // measured again.
  std::function<Unsettled()> unsettled;
  bool quick = false;  // the cases have shorter windows than the suite declares
};

// Prepares, launches every planned attempt, keeps run.json up to date; a fault of one case never
// stops the others. With `against`, head and base are measured in pairs: a screening, then fresh
// pairs of what is unsettled, as far as the budget goes; the traced processes of both sides run
// whatever the budget is. Without it, what is unsettled gets as many fresh processes as it had,
// once. On an interrupt returns early with `interrupted_by` set. Progress on
// world.Err(). Throws Error(kUsage) for an out folder that holds something else,
// Error(kEnvironment) for a disk that is full.
RunRecord RunSuite(const Suite& suite, const std::vector<Case>& cases, const RunOptions& options,
                   World& world);

// Bytes of the regular files of a run's out folder; links are not followed.
int64_t OutFolderBytes(const std::filesystem::path& out_dir);

// Removes what a run left in its out folder, run.json last, so that an interrupted removal can be
// taken up again; then the folder, if nothing else is in it. Throws Error(kUsage) for a folder
// without a run of perfgate, Error(kEnvironment) if the disk says no.
void RemoveOutFolder(const std::filesystem::path& out_dir);
// The last of it is removed under the name ".OUT.gone" beside it. Removes what a killed process has
// left of that, of `folder` and of the folders in it.
void FinishRemovals(const std::filesystem::path& folder);

// One thing that measuring needs: there, or missing with the reason and what mends it.
struct Part {
  std::string name;   // "gpu"
  std::string found;  // "NVIDIA H200, 580.159.03"; "" if it is missing
  std::string fault;  // "" if it is there
  std::string mend;   // a command; "" if it is there
};

// One way to measure and the parts that it needs.
struct Ability {
  std::string what;
  std::vector<std::string> needs;
};

struct Examination {
  std::vector<Part> parts;
  std::vector<Ability> abilities;
  bool Has(std::string_view part) const;
};

// What this machine can measure. Starts nvidia-smi, the runner and python3; measures nothing.
// Throws Error(kEnvironment) if the folder for temporary files cannot be written.
Examination Examine(const std::string& torch_runner, World& world);

// What the kernel counts that disturbs times, at one moment.
struct SystemReading {
  int64_t at_ns = 0;       // World::MonotonicNs
  double busy_s = 0;       // of all CPUs together
  double stolen_s = 0;     // by the hypervisor
  double own_s = 0;        // of perfgate and of the children that it has waited for
  int64_t cores = 0;       // that the kernel has; 0: unknown
  int64_t throttled = 0;   // periods in which a quota stopped the container
  int64_t overheated = 0;  // times that CPUs were slowed down for heat
  std::map<int, std::pair<std::string, double>> others;  // pid: name, CPU seconds so far
};
SystemReading ReadSystem(World& world);

// A state of the machine that makes times vary, as it was found, and what mends it.
struct Disturbance {
  std::string found;
  std::string mend;  // a command where there is one
};

// What was seen while `attempts` were measured, between two readings, and what holds on this
// machine all the time. Each was looked at; what cannot be read here is not spoken of. Starts
// nvidia-smi where a case ran on a GPU.
std::vector<Disturbance> FindDisturbances(const SystemReading& before, const SystemReading& after,
                                          const std::vector<Case>& cases,
                                          const std::vector<AttemptData>& attempts, World& world);

}  // namespace perfgate
