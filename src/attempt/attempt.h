// What crosses processes: cases, attempts, and the files of the attempt contract (docs/formats.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace perfgate {

// kInstructions: no trace and no times; perfgate runs the command under a tool that counts.
enum class Profiler { kTorch, kCupti, kInstructions };
enum class Side { kHead, kBase };
// kTimed: the timed window only. kTraced: a timed window, then the traced one.
enum class Phase { kTimed, kTraced };

std::string_view ToString(Profiler profiler);  // "torch", "cupti", "instructions"
std::string_view ToString(Side side);          // "head", "base"
std::string_view ToString(Phase phase);        // "timed", "traced"

struct Windows {
  int warmup_iterations = 20;
  bool warmup_until_steady = true;
  int64_t warmup_at_most_ns = 30'000'000'000;
  int timed_iterations = 200;
  int traced_iterations = 5;
  int traced_processes = 2;
  bool operator==(const Windows&) const = default;
};

// One workload with one set of parameters: the unit that has evidence, a baseline and a verdict.
struct Case {
  std::string name;      // "geglu[mode=aoti,tokens=64]": keys sorted; "geglu" without a matrix
  std::string workload;  // "geglu"
  std::vector<std::string> was;  // earlier names of this case, for baselines
  std::map<std::string, std::string> params;
  std::vector<std::string> argv;     // the command, placeholders replaced; empty with `trace`
  std::vector<std::string> prepare;  // run once a workload and run, in the suite's folder
  std::string trace;                 // path of a trace that is judged as it is; else empty
  std::string device = "auto";       // auto | cpu | cuda | cuda:N
  int threads = 1;
  Profiler profiler = Profiler::kTorch;
  std::string nvtx_steps;    // with cupti: name of the NVTX range that marks a step
  std::string cupti_window;  // with cupti and no steps: "after=5s,for=2s,kernels=1000", each
                             // optional; "": the whole process
  Windows windows;
  int64_t timeout_ns = 300'000'000'000;
  std::string reference;        // name of the case whose outputs numerics are measured against
  bool reference_only = false;  // measured only because another case names it: no rule judges it,
                                // it has no baseline
  std::string digest;  // Hash16 of the declared text (never of what a package or script holds)
  std::string plant;   // a known defect put in on purpose (--plant); "" for none
  Where declared;
};

struct Attempt {
  std::string case_name;
  Side side = Side::kHead;
  int pair = 0;
  int process = 0;  // number among the attempts of this case and side, from 0
  Phase phase = Phase::kTraced;
  std::filesystem::path dir;  // relative to the out folder
};

// Iterations of the timed window that this attempt is asked for. Where instructions are counted,
// every second process runs twice as many: the difference is free of what a process does once.
int TimedIterationsOf(const Case& declared, const Attempt& attempt);

// How the process ended; anything but kExited with code 0 is a fault of the case.
enum class Outcome { kExited, kSignalled, kTimedOut, kNotStarted, kInterrupted };
std::string_view ToString(Outcome outcome);  // "exited", ...

struct AttemptResult {
  Outcome outcome = Outcome::kExited;
  int exit_code = 0;
  int signal = 0;
  int64_t wall_ns = 0;
  int64_t peak_rss_bytes = 0;  // 0: unknown
  std::string stderr_tail;     // last 4 KiB at most
  std::string fault;           // "" if all went well; else one line for a person:
                               // "timed out after 300 s", "killed by SIGSEGV", "exit code 2",
                               // "program not found: bench/decode.py"
};

struct Output {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype;
  double mean = 0, min = 0, max = 0;       // NaN where JSON has null
  int64_t nan_count = -1, inf_count = -1;  // -1: the workload does not say
  std::string file;                        // relative to the attempt folder; "" if not saved
  int64_t stride = 1;                      // the file holds every stride-th element, from the first
};

// Elements of the shape; of one that no tensor can have, the largest int64.
int64_t ElementsOf(const Output& output);
// Those that its file holds, as little-endian float32.
int64_t SavedElementsOf(const Output& output);
// What is read of the files of one output, and of all of an attempt.
inline constexpr int64_t kOutputAtMostBytes = int64_t{256} << 20;
inline constexpr int64_t kOutputsAtMostBytes = int64_t{1} << 30;

struct Fallback {
  std::string what, why;  // "hand_fused", "built without nvcc"
};

// samples.json, schema "perfgate.samples/1".
struct Samples {
  int64_t cold_start_ns = 0;  // 0: not measured
  // Parts of the cold start, as far as the workload says.
  std::optional<int64_t> load_ns, compile_ns, first_call_ns;
  int warmup_iterations = 0;
  bool steady = false;
  std::vector<int64_t> latency_ns;         // timed window, one an iteration
  std::vector<int64_t> dispatch_ns;        // empty where the workload synchronises inside
  std::string dispatch_unavailable;        // the reason then
  std::vector<int64_t> device_latency_ns;  // by the device's own clock; empty if it has none
  std::vector<Output> outputs;
  std::string inputs;  // names the numbers that went in, before they got their dtype; "": not said
  std::map<std::string, std::string> environment;  // torch, cuda, cublas, cudnn, triton, cpu_isa,
                                                   // threads, device, gpu, gpu_uuid, writer ...
  std::vector<Fallback> fallback;
  std::string plant;
};

// A round of fresh pairs of one case, or of processes of head alone where there is no base: the
// screening, or a confirmation of what looked suspicious.
struct PairRound {
  std::string case_name;
  int round = 0;       // 0: the screening
  int first_pair = 0;  // its pairs are numbered from here
  int pairs = 0;       // planned
};

// What a run against a built checkout of the base adds to that of head.
struct AgainstRecord {
  std::filesystem::path checkout;  // as given
  std::string commit;              // of the checkout; "" if there is none
  bool dirty = false;
  int64_t budget_ns = 0;           // for measuring; 0: without a limit
  std::vector<std::string> notes;  // why the two sides may be less different than they should be
};

struct TraceFile {
  std::filesystem::path path;  // out folder included
  std::optional<int> rank;     // from the file's name, "trace-rank1.json"; empty: it says none
};

// Instructions in user mode of one attempt, all its processes and threads.
struct InstructionCount {
  std::string tool;  // "perf stat instructions:u", "callgrind": other tools count otherwise
  int64_t count = 0;
};

// What one attempt left behind.
struct AttemptData {
  Attempt attempt;
  AttemptResult result;
  std::optional<Samples> samples;
  std::vector<TraceFile> traces;
  std::optional<InstructionCount> instructions;
  // One line each: result.fault, "trace.json: is empty", "samples.json: ...: expected text". A
  // traced attempt owes a trace, a timed one samples.json; a traced one without samples.json has no
  // fault, only nothing to say about the timed window. Where instructions are counted, the count is
  // all that is owed.
  std::vector<std::string> faults;
};

// run.json, schema "perfgate.run/1": what was to be done and how each attempt ended. Written again,
// atomically, after every attempt, so that a killed run still says what it has.
struct RunRecord {
  std::string id;     // "20270131T101500Z-1a2b3c": UTC start and 6 hex digits
  std::string suite;  // its declared name
  std::filesystem::path suite_file;
  std::string started;  // ISO 8601, UTC
  std::string perfgate_version;
  std::string commit;  // of the suite's repository; "" if there is none
  bool dirty = false;
  std::string branch;  // of the checkout, or of the CI job; "" if neither is on one
  bool quick = false;  // by --quick, in windows shorter than the suite's
  uint64_t seed = 0;
  std::map<std::string, std::string> machine;  // host facts: cpu, cpu_isa, cores, os
  std::vector<Case> cases;
  std::vector<std::pair<Attempt, AttemptResult>> attempts;          // finished ones
  std::vector<std::pair<std::string, std::string>> prepare_faults;  // workload, fault
  bool finished = false;
  int interrupted_by = 0;  // signal number; 0: not interrupted
  std::optional<AgainstRecord> against;
  std::vector<PairRound> rounds;  // of pairs all; of head alone the confirmations
};

// What the counting tools write into the folder of an attempt: one file, or one a process.
inline constexpr std::string_view kPerfStatFile = "perf-stat.txt";
inline constexpr std::string_view kCallgrindFile = "callgrind.out";
// The count in the text of such a file; nothing if there is none, as where the machine has no
// counter.
std::optional<int64_t> CountOfPerfStat(std::string_view text);
std::optional<int64_t> CountOfCallgrind(std::string_view text);

// Files of the contract. Readers throw Error(kInput) with file, line, key; unknown keys are
// ignored, so that a newer writer can be read; another schema number is refused.
Samples ReadSamples(const std::filesystem::path& file);
// For those who stand in for a workload: perfgate itself writes none.
void WriteSamples(const Samples& samples, const std::filesystem::path& file);
RunRecord ReadRunRecord(const std::filesystem::path& out_dir);
void WriteRunRecord(const RunRecord& run, const std::filesystem::path& out_dir);

// The same documents without their files; `name` stands for the file in messages.
Json ToJson(const Samples& samples);
Samples SamplesFromJson(const Json& json, const std::string& name);
Json ToJson(const RunRecord& run);
RunRecord RunRecordFromJson(const Json& json, const std::string& name);

// Collects what an attempt folder holds; what is missing or unreadable becomes `faults`. Trusts
// nothing: only regular files inside the out folder are named in `traces` and `outputs`.
AttemptData CollectAttempt(const std::filesystem::path& out_dir, const Attempt& attempt,
                           const AttemptResult& result, Profiler profiler = Profiler::kTorch);

}  // namespace perfgate
