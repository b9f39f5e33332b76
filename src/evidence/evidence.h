// What the traces and samples of a case prove. Extraction is pure: files in, Evidence out.
//
// A metric is a number or unavailable with the reason, never a default 0. Rows carry one number a
// step, all steps of all traced processes one after the other, so that "every step the same" and
// "both processes the same" are one question.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attempt/attempt.h"
#include "base/json.h"
#include "kernel/kernel.h"
#include "metric/metric.h"

namespace perfgate {

// Version of the rules of extraction: one more where the same trace has other rows, counts or times
// than before, so that baselines of earlier rules are not comparable. What is only said in addition
// (a field that older files lack) does not raise it.
//
// 2: the driver's kernels for copies and fills of a CUDA graph are copies and fills, no kernels.
inline constexpr int kExtractorVersion = 2;

// What must be equal for two pieces of evidence to be compared with a baseline, and what is only
// recorded. Absent fields are unknown.
struct Key {
  // gpu, sm_count, mig, gpu_count, cpu_isa, threads, device (cpu|cuda), torch, cuda, cublas, cudnn,
  // triton, profiler, profiler_version, definition (the case's digest)
  std::map<std::string, std::string> fields;
  // driver, clocks, cpu, gpu_uuid, host ...: a difference is a note.
  std::map<std::string, std::string> recorded;
};

// Launches of one row whose innermost operator was called with these shapes.
struct ShapeUse {
  std::string input_dims;  // "[[64, 768], [3072, 768]]"
  int64_t count = 0;       // all steps
  int64_t time_ns = 0;     // all steps
};

// Launches of one row that were made in one module or under one annotation of the user.
struct PlaceUse {
  std::string place;    // "LlamaDecoderLayer_0 > LlamaMLP_0 > Linear_4", outermost first
  int64_t count = 0;    // all steps
  int64_t time_ns = 0;  // all steps
};

// Launches of one kernel: a row for each (device, exact name, operator path). The same shape holds
// copies, fills and synchronising calls.
struct KernelRow {
  std::string name;     // exact, as in the trace
  std::string op_path;  // "aten::linear > aten::addmm", outermost first; "graph" under a graph
                        // launch without an operator; "" if unknown
  std::string device;   // "cuda:0", "cpu"
  std::vector<int64_t> count_per_step;
  std::vector<int64_t> time_ns_per_step;
  std::vector<int64_t> bytes_per_step;     // copies and fills only, else empty
  std::array<int64_t, 3> grid{}, block{};  // of the first launch; zeros if unknown
  std::vector<int64_t> streams;            // sorted
  // In order of first appearance, kMostShapes at most; empty: shapes were not recorded.
  std::vector<ShapeUse> shapes;
  // Of the innermost operator's first call: "[c10::BFloat16, c10::BFloat16, Scalar]"; "": not said.
  std::string input_types;
  // Modules as the Python stack or `Module Hierarchy` names them (those of the forward operator for
  // backward ones), and annotations around the call, steps left out. kMostPlaces of each at most;
  // empty: the trace does not say. Neither tells rows apart: the same model traced without stacks
  // has the same rows.
  std::vector<PlaceUse> modules, annotations;
  std::string backward_of;  // the forward operator whose gradient this is: "aten::addmm"; or ""
  bool in_graph = false;
  // Decoded from the name on load, never stored; in_dtype from input_types where the name says
  // none.
  KernelInfo info;

  int64_t Count() const;  // all steps
  int64_t TimeNs() const;
  // Of the innermost operator's first call; "" if unknown.
  std::string_view FirstDims() const {
    return shapes.empty() ? std::string_view() : shapes[0].input_dims;
  }
  // The innermost operator of op_path: "aten::addmm".
  std::string_view Operator() const;
};

// A row with more different shapes than this keeps the first ones.
inline constexpr size_t kMostShapes = 32;
inline constexpr size_t kMostPlaces = 64;

// Places in few words: "LlamaMLP_0 > Linear_4"; of several that differ in their numbers alone
// "LlamaMLP > Linear, 12 of them"; of others the one with the longest time, "and 3 others".
std::string PlaceText(const std::vector<PlaceUse>& places);

// The elements of an operator path, outermost first; none of "".
std::vector<std::string_view> PathElements(std::string_view op_path);
// The last of them: "aten::addmm"; "" of "".
std::string_view Innermost(std::string_view op_path);
// What stands between them.
inline constexpr std::string_view kPathSeparator = " > ";

// Calls of one host operator (CPU side), in order of first appearance.
struct OperatorRow {
  std::string name;
  OperatorKind kind = OperatorKind::kOther;
  std::vector<int64_t> count_per_step;
  std::string input_dims;  // of the first call; "" if shapes were not recorded
};

// Collectives of one kind: a row for each (name, element type, bytes, ranks that take part), by the
// kernels that ran them.
struct CollectiveRow {
  std::string name;   // as torch.distributed calls it, "all_reduce", "reduce_scatter", "send";
                      // "collective" where neither the trace nor the kernel's name says
  std::string dtype;  // "bf16"; "" if unknown
  std::optional<int64_t> bytes;  // the larger of what a rank gives and gets; empty: unknown
  int group_size = 0;            // ranks that take part; 0: unknown
  std::vector<int64_t> count_per_step, time_ns_per_step;
};

// One process's values of one metric: one a step for metrics of the traced window, a single one
// for those of the timed window (percentiles).
struct Observation {
  MetricId metric;
  Side side = Side::kHead;
  int pair = 0;
  int process = 0;
  std::vector<double> per_step;
  int rank = 0;  // 0 too where the case has no ranks
};

// Which rank a traced process was and where it ran.
struct Rank {
  int process = 0;  // number of the attempt, as in Observation
  int rank = 0;
  int world_size = 0;  // 0: not said
  std::string
      device;       // "cuda:1", as the process numbers the GPUs that it sees; "cpu"; "" if unknown
  std::string gpu;  // "NVIDIA H200"; "" if unknown
  std::string gpu_uuid;
};

// Where gpu_idle of the traced steps came from: the three add up to it. One number a step, all
// steps of all traced processes; all empty where launches and GPU work cannot be linked.
struct IdleTimes {
  std::vector<int64_t> launch_ns;  // the next work was not launched yet: the host was late
  std::vector<int64_t> sync_ns;    // the same, and the host was waiting for the GPU when it ran dry
  std::vector<int64_t> queued_ns;  // the next work was launched: latency, dependencies
  // Works that a launch found launched (in this step or an earlier one) and not started, mean over
  // the step's launches: 0 where the GPU waits for every launch.
  std::vector<double> queue_depth;

  bool empty() const { return queue_depth.empty(); }
};

// One piece of work of one step. Names are indices into TimeLine::texts.
struct Span {
  uint32_t name = 0;        // exact
  uint32_t lane = 0;        // "CPU, thread 4242", "GPU 0, stream 7"
  uint32_t op_path = 0;     // of GPU work, as in KernelRow; "" of others
  uint32_t input_dims = 0;  // of the operator; "": not recorded
  int depth = 0;            // of the host: operators around it that are drawn too
  bool gpu = false;         // a kernel, a copy or a fill
  bool call = false;        // a call into CUDA
  int64_t start_ns = 0;     // from the start of the step
  int64_t duration_ns = 0;
};

// The last step of the first traced process, for a report to draw. It is read from a trace only:
// neither the JSON form nor a database or a baseline keeps it, and no rule judges it.
struct TimeLine {
  std::vector<std::string> texts;
  std::vector<Span> spans;  // lane by lane of the host, GPU work in order of its launch
  int64_t step_ns = 0;
  int64_t left_out = 0;  // spans beyond the bound
};

// Latencies of the timed window of one process, in order. Not in the JSON form: samples.json has
// them, and the store keeps that.
struct TimedWindow {
  Side side = Side::kHead;
  int pair = 0;
  int process = 0;
  std::vector<int64_t> latency_ns;
};

// A percentile of one process' iterations, with the interval in which that of all iterations that
// it might have run lies 95 times in 100, if they were independent. For people: rules judge
// processes.
struct SeriesPercentile {
  double p = 0;                  // 0.95
  std::optional<int64_t> value;  // ns; empty: fewer than `needs` samples
  int needs = 0;
  std::optional<int64_t> low, high;  // empty: fewer than `interval_needs` samples
  int interval_needs = 0;
};

// How the iterations of one process' timed window behaved, found after the fact (docs/formats.md).
struct TimedSeries {
  Side side = Side::kHead;
  int pair = 0;
  int process = 0;
  std::string name;  // "latency", "dispatch", "device_latency"
  int64_t samples = 0;
  std::string steady;         // "yes", "no", "drifting", "bimodal"; "": too few to say
  bool warmup_steady = true;  // the workload's own word: its warm-up ended steady
  int warmup_iterations = 0;  // of the window, before the steady level; all where there is none
  double drift = 0;           // over the last level, relative to it
  // Of what follows the warm-up of a steady series, of all of another one. A percentile takes
  // iterations of the warm-up in where it would have too few without.
  int outliers = 0, far_outliers = 0;  // beyond Tukey's fences; all percentiles count them
  std::vector<SeriesPercentile> percentiles;
};

// How far an output is from the reference's (docs/numerics.md).
struct OutputError {
  std::string reference_dtype;
  int64_t compared = 0;  // elements; fewer than the output has where a sample of them was saved
  int64_t unlike = 0;    // of them: a finite number on one side only, or infinities of both signs
  double relative = 0;   // ||output - reference|| / ||reference||; infinity if any is unlike
  double largest = 0;    // |output - reference|; infinity if any is unlike
  std::vector<int64_t> index;  // of the elements that are furthest apart
  double value = 0, reference = 0;
};

// One output of one process.
struct OutputRow {
  int process = 0;  // number of the attempt, as in Observation
  std::string name, dtype;
  std::vector<int64_t> shape;
  int64_t nan_count = -1, inf_count = -1;                    // -1: unknown
  std::optional<std::vector<int64_t>> first_nan, first_inf;  // indices; empty: none, or not saved
  std::optional<OutputError> error;                          // empty: not compared
};

struct AttemptSummary {
  Attempt attempt;
  AttemptResult result;
  std::vector<std::string> trace_files;  // relative to the out folder
};

struct Evidence {
  int extractor = kExtractorVersion;
  std::string case_name;
  Key key;
  std::string device_kind;  // "cuda" | "cpu"
  std::string device_name;  // "NVIDIA H200" | CPU model or "cpu"
  std::vector<int> steps;   // of each traced process; 0: no steps marked, the whole window is one
  std::vector<Rank> ranks;  // of the traced processes; empty: the case has none
  std::vector<Observation> values;
  std::map<MetricId, std::string> unavailable;  // reason
  std::vector<KernelRow> kernels;               // GPU kernels, then CPU kernels
  std::vector<KernelRow> transfers;             // copies and fills
  std::vector<KernelRow> syncs;  // synchronising runtime calls, harness ones left out
  std::vector<OperatorRow> operators;
  std::vector<CollectiveRow> collectives;
  IdleTimes idle;
  int64_t pre_window = 0;  // GPU activities launched before the window, not counted
  std::vector<std::string> incomplete_because;  // also faults of attempts; empty: complete
  std::vector<std::string> notes;
  std::vector<std::string> explain;  // what was left out and why, for --explain
  TimeLine time_line;                // empty: not read from a trace
  std::vector<TimedWindow> timed;    // empty: not read from samples
  std::vector<TimedSeries> timed_series;
  std::vector<std::string> notes_on_times;  // of the timed windows, for people as `notes`
  std::vector<OutputRow> outputs;
  std::string reference;  // the case that outputs were compared with; "": with none
  std::vector<AttemptSummary> attempts;
  std::vector<Fallback> fallback;
  // Why latencies, and why dispatch times, prove nothing; "" if they may.
  std::string not_steady, dispatch_not_steady;
  std::string plant;  // planted defect, shown in every report
  // What the base proves, where a run measured it in pairs with head.
  std::shared_ptr<const Evidence> base_side;

  bool Complete() const { return incomplete_because.empty(); }
  int TotalSteps() const;  // at least 1 where a trace was read
};

// A metric over all steps and processes.
struct MetricValue {
  std::optional<double> value;    // the per-step value; empty if unstable or unavailable
  std::optional<double> largest;  // over the steps
  std::vector<double> per_step;
  std::map<int, double> by_rank;  // the median of each rank; empty where the case has no ranks
  bool stable = false;            // exact metrics: all steps equal. Others: always true
  std::string unavailable;        // reason
};
// Exact metrics: the common value. Near exact and noisy: the median of the processes' medians; of
// several ranks the largest median counts, for a step is as slow as its slowest rank.
MetricValue Summarise(const Evidence& evidence, MetricId metric);

// The value of each process by the number of its pair; of several ranks the slowest counts.
std::map<int, double> ValuesByPair(const Evidence& evidence, MetricId metric);

// How the values of a metric are spread over the ranks, by each rank's median.
struct RankSpread {
  MetricId metric;
  double median = 0, least = 0, most = 0;
  int least_rank = 0, most_rank = 0;
};
// Of the metrics in which ranks differ.
std::vector<RankSpread> SpreadOverRanks(const Evidence& evidence);

// True if the multiset of kernel names is the same in every step; of generated code, which each
// process numbers in its own way, of canonical names.
bool KernelSetIsStable(const Evidence& evidence);

// Fills `info` of every row from its name: whoever makes rows of stored text calls it.
void DecodeRows(Evidence& evidence);

// Evidence of a case from what its attempts left. `out_dir` is where their folders lie. `machine`
// fills what neither trace nor samples say (CPU). `reference`: the attempts of the case that it
// names as its reference. Never throws for bad traces or outputs: they make the evidence
// incomplete, with the reason.
Evidence Extract(const Case& declared, std::span<const AttemptData> attempts,
                 const std::filesystem::path& out_dir,
                 const std::map<std::string, std::string>& machine,
                 std::span<const AttemptData> reference = {});

// What the samples of the attempts say of times, in place of what the evidence says: values of the
// timed windows, cold start, series, whether they are steady. For evidence that was stored: its
// verdict then rests on the samples alone. Without any samples nothing changes.
void TakeTimes(const Case& declared, std::span<const AttemptData> attempts, Evidence& evidence);

// Why a case with `profiler: instructions` has no other metrics.
inline constexpr std::string_view kInstructionsOnly =
    "the case counts instructions: it has no trace and no times";

// Why a case that its workload's other cases are compared with may have no error of its own.
inline constexpr std::string_view kReferenceAlone =
    "the case is its own reference, and no second process of it was compared with the first";

// Evidence of one bare trace file, or of a folder that holds those of several ranks, or an attempt.
// Throws Error(kInput) if it is no trace at all, or holds none.
Evidence ExtractTrace(const std::filesystem::path& trace);

// The one JSON form, schema "perfgate.evidence/1" (docs/formats.md). FromJson throws Error(kInput)
// for another schema or a missing key, and decodes the names again.
Json ToJson(const Evidence& evidence);
Evidence EvidenceFromJson(const Json& json);

// The shapes of a row in JSON, the same in evidence and baselines.
Json ShapesToJson(const std::vector<ShapeUse>& shapes);
std::vector<ShapeUse> ShapesFromJson(const Json& json);

// An output in JSON, the same in evidence and in verdicts.
Json OutputToJson(const OutputRow& row);

Json CollectivesToJson(const std::vector<CollectiveRow>& rows);
// Throws Error(kInput) for a wrong type, or unless each row has `steps` numbers.
std::vector<CollectiveRow> CollectivesFromJson(const Json& json, size_t steps);

// Names of key fields in which both are known and differ: "torch: 2.11.0 / 2.12.0".
std::vector<std::string> KeyDifferences(const Key& base, const Key& head);
// Names of key fields that one side or both do not say.
std::vector<std::string> UnknownKeyFields(const Key& base, const Key& head);

}  // namespace perfgate
