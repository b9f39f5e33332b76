// One trace file (Chrome / Kineto JSON, plain or gzip) as compact records.
//
// The reader streams: it holds one window of the file and the records that evidence needs, never
// the file. Times are integer nanoseconds read from the text of the numbers. What is left out is
// counted by reason, what had to be mended is a warning, and a file that ends too early yields the
// events before the cut together with the reason why it cannot be complete evidence.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate {

// A number that the trace does not give.
inline constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

enum class EventKind : uint8_t {
  kOperator,    // cpu_op
  kAnnotation,  // user_annotation, among them the marks ProfilerStep#N
  kRuntime,     // cuda_runtime: also hip* calls
  kDriver,      // cuda_driver
  kKernel,
  kMemcpy,
  kMemset,
  kMemory,    // [memory]: an allocation from or a return to a tensor allocator
  kOverhead,  // the profiler's own work on the host
  kModule,    // python_function `nn.Module: NAME`: gives the module's path, is no work and no time
};

inline bool IsGpuWork(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
}
inline bool IsCall(EventKind kind) {
  return kind == EventKind::kRuntime || kind == EventKind::kDriver;
}

// 64 bytes. Indices name texts of TraceData::texts.
struct TraceEvent {
  int64_t start_ns = 0;           // the file's own base, see TraceData::base_ns
  int64_t duration_ns = kAbsent;  // kAbsent: missing or negative (unfinished)
  int64_t correlation = kAbsent;  // joins a launch call and its GPU work
  int64_t external_id = kAbsent;
  int64_t bytes = kAbsent;  // copies and fills; kMemory: above 0 allocated, below freed;
                            // operators: see SequenceNumber()
  uint32_t name = 0;        // text; kModule: what follows `nn.Module: ` ("Linear_3")
  uint32_t process = 0;     // text of `pid`
  uint32_t thread = 0;      // text of `tid`
  uint32_t detail = 0;      // operators: index into signatures; kernels: index into shapes
  int32_t stream = -1;      // GPU work; -1: unknown; operators: see ForwardThread()
  int16_t device = -1;      // GPU ordinal; -1: unknown, or the CPU (kMemory)
  EventKind kind = EventKind::kOperator;

  // Autograd's number of an operator: a backward operator carries that of its forward one. kAbsent:
  // none, or no operator. Kept in `bytes`, which operators do not have.
  int64_t SequenceNumber() const { return kind == EventKind::kOperator ? bytes : kAbsent; }
  // `Fwd thread id`: 0 in forward operators; in backward ones the profiler's own number of the
  // thread that ran the forward operator. -1: not said, or no operator. Kept in `stream`.
  int32_t ForwardThread() const { return kind == EventKind::kOperator ? stream : -1; }

  // Its end; the start where the duration is missing.
  int64_t EndNs() const { return duration_ns == kAbsent ? start_ns : start_ns + duration_ns; }
  bool IsGpuWork() const { return perfgate::IsGpuWork(kind); }
  bool IsCall() const { return perfgate::IsCall(kind); }
};
static_assert(sizeof(TraceEvent) == 64);

// What the kernel of a collective says of its message; indices of texts, 0 where it does not say.
struct Message {
  uint32_t collective = 0;  // `Collective name`: "allreduce", "_allgather_base"
  uint32_t dtype = 0;       // "BFloat16"
  int32_t group_size = 0;   // ranks that take part; 0: not said
  int64_t in_elements = kAbsent, out_elements = kAbsent;
  friend auto operator<=>(const Message&, const Message&) = default;
};

struct LaunchShape {
  std::array<int32_t, 3> grid{}, block{};  // zeros: the trace does not say
  uint32_t message = 0;                    // index into messages
  friend auto operator<=>(const LaunchShape&, const LaunchShape&) = default;
};

// What operators were called with; indices of texts, 0 where the trace does not say.
struct OperatorSignature {
  uint32_t input_dims = 0;        // "[[64, 768], [3072, 768], []]"
  uint32_t input_types = 0;       // "[c10::BFloat16, c10::BFloat16, Scalar]", "" for None
  uint32_t module_hierarchy = 0;  // `Module Hierarchy` as it stands
  friend auto operator<=>(const OperatorSignature&, const OperatorSignature&) = default;
};

// Events in the order of the file, in blocks, so that growing never copies nor doubles.
class EventList {
 public:
  void Push(const TraceEvent& event) {
    if (size_ % kBlock == 0) StartBlock();
    Block& block = blocks_[size_ / kBlock];
    block.events.push_back(event);
    block.kinds[size_ % kBlock] = event.kind;
    ++size_;
  }
  size_t size() const { return size_; }
  const TraceEvent& operator[](size_t i) const { return blocks_[i / kBlock].events[i % kBlock]; }
  // The kind of [i]; quick to go through, for finding events of a kind.
  EventKind Kind(size_t i) const { return blocks_[i / kBlock].kinds[i % kBlock]; }
  // Keeps the memory for the events to come.
  void Clear();
  int64_t Bytes() const;

 private:
  static constexpr size_t kBlock = 1024;
  struct Block {
    std::vector<TraceEvent> events;  // room for kBlock
    std::unique_ptr<EventKind[]> kinds;
  };
  void StartBlock();

  std::vector<Block> blocks_;
  size_t size_ = 0;
};

// Each different text once. Index 0 is the empty text. Views stay valid as long as the table.
class TextTable {
 public:
  TextTable();
  uint32_t Intern(std::string_view text);
  std::optional<uint32_t> Find(std::string_view text) const;
  std::string_view operator[](uint32_t index) const { return views_[index]; }
  size_t size() const { return views_.size(); }
  int64_t Bytes() const;

 private:
  uint32_t Slot(std::string_view text) const;
  void Grow();
  std::string_view Keep(std::string_view text);

  std::vector<std::string_view> views_;
  std::vector<uint32_t> slots_;  // open addressing; 0: empty
  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_used_ = 0, chunk_size_ = 0;
  int64_t kept_bytes_ = 0;
};

struct DeviceProperties {
  int64_t id = kAbsent;
  std::string name;      // "NVIDIA H200"
  int64_t sm_count = 0;  // 0: unknown
  int64_t memory_bytes = 0;
  std::string uuid;  // "GPU-6b0d…"; perfgate's collector says it, Kineto does not
};

struct TraceData {
  EventList events;
  TextTable texts;
  std::vector<LaunchShape> shapes{LaunchShape{}};                  // 0: unknown
  std::vector<Message> messages{Message{}};                        // 0: none
  std::vector<OperatorSignature> signatures{OperatorSignature{}};  // 0: nothing said
  std::vector<DeviceProperties> devices;                           // all that the process saw

  int64_t base_ns = 0;              // baseTimeNanoseconds: add it for time since the epoch; else 0
  bool whole_microseconds = false;  // the writer cut all times to whole microseconds

  // Versions as the file spells them ("13000", "130001"); empty: not said.
  std::string cupti_version, cuda_runtime_version, cuda_driver_version;
  bool record_shapes = false, with_stack = false, profile_memory = false;
  std::optional<int> rank, world_size;

  // Written by perfgate's own programs as top-level keys. `perfgate_writer`: who made the trace
  // and keeps its synchronising outside the step marks ("attempt.h", "perfgate-torch").
  // `perfgate_profiler`: "cupti" for files of the collector, which owe a `perfgate_footer`
  // {"records": events written, "dropped": records lost, "fault": why it is no whole evidence}.
  // `perfgate_environment`: versions of the libraries that the process had loaded, by name.
  std::string writer, profiler;
  bool footer = false;
  int64_t footer_records = kAbsent, footer_dropped = kAbsent;
  std::string footer_fault;
  std::map<std::string, std::string> environment;

  // The file holds what only work of a GPU leaves: ranges or counters on its rows. They are not
  // kept.
  bool gpu_rows = false;

  // "an MTIA accelerator": the file holds its work, in events that name no launch. "": none.
  std::string other_accelerator;

  int64_t events_read = 0;                  // all events of the file, also those left out
  std::map<std::string, int64_t> left_out;  // reason -> events not kept
  std::vector<std::string> warnings;        // repairs and oddities, one line each
  std::string incomplete;  // why the file cannot be whole, with byte offset; empty: it is whole
  std::string refused;     // not a trace at all: what it is instead. Empty: a trace
  int64_t json_bytes = 0;  // read, after decompression

  std::string_view Text(uint32_t index) const { return texts[index]; }
  // Input Dims of an operator; "": not said.
  std::string_view InputDims(const TraceEvent& op) const {
    return texts[signatures[op.detail].input_dims];
  }
  // What events, texts, shapes, messages and signatures fill; not the room for more of them.
  int64_t RecordBytes() const;
};

// Reads a trace. Throws Error(kInput) if the file cannot be opened or is no trace, saying what it
// is. A damaged trace is returned with `incomplete`.
TraceData ReadTrace(const std::filesystem::path& path);

// The same, but what is no trace, or cannot be opened, is told by `refused`: for callers to whom a
// bad trace is data.
TraceData TryReadTrace(const std::filesystem::path& path);

}  // namespace perfgate
