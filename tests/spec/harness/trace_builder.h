// Writes small Kineto traces, one call an event, as torch.profiler would have written them: launch
// calls with correlations, kernels on their stream after the launch, flows, annotations.
//
// Times are invented but lawful: children lie inside their parents, a kernel starts after its
// launch and after the work before it on its stream.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfgate::spec {

struct TraceHeader {
  bool cpu_only = false;  // no GPU in the machine: deviceProperties is empty
  std::string gpu = "NVIDIA H200";
  int sm_count = 132;
  std::map<std::string, std::string> members;  // further top-level members: key -> JSON text
};

// What is wrong with one kernel on purpose.
enum class Defect {
  kNone,
  kDropped,    // the launch is there, the kernel is not
  kOrphan,     // the kernel is there, its launch is not; its correlation lies inside the window
  kPreWindow,  // launched before the window: a correlation below every launch of the file
  kZeroTime,   // ts 0 and dur 0, as CUPTI writes what it could not time
};

// What an operator was called with, as JSON text: "Input Dims" ("[[64,768],[768,3072]]") and
// "Input type" (["float", "float"]); "": not recorded.
struct Inputs {
  std::string dims{}, types{};
};

class TraceBuilder {
 public:
  explicit TraceBuilder(TraceHeader header);

  void BeginStep();  // ProfilerStep#0, #1, ...
  void EndStep();
  void BeginOperator(const std::string& name, const Inputs& inputs = {});
  void EndOperator();
  void BeginAnnotation(const std::string& name);
  void EndAnnotation();
  // An operator without children that takes `ns`.
  void Operator(const std::string& name, int64_t ns, const Inputs& inputs = {});

  // Launches of the innermost open operator. `name` is the exact name of the kernel.
  void Kernel(const std::string& name, int64_t ns, Defect defect = Defect::kNone);
  void Graph(const std::vector<std::pair<std::string, int64_t>>& kernels);
  void Memcpy(const std::string& direction, int64_t bytes, int64_t ns);  // "DtoH"
  void Memset(int64_t bytes, int64_t ns);
  // A runtime call that starts no work: cudaStreamSynchronize, cudaMalloc.
  void Call(const std::string& name, int64_t ns);
  // A [memory] event: an allocation above 0, a release below.
  void Memory(int64_t bytes);
  void Idle(int64_t ns) { host_ns_ += ns; }
  void SetStream(int64_t stream) { stream_ = stream; }
  int64_t stream() const { return stream_; }

  std::string Json() const;

 private:
  struct Open {
    std::string name, category;
    Inputs inputs;
    int64_t start_ns = 0, id = 0;
  };
  void Begin(const std::string& category, const std::string& name, const Inputs& inputs = {});
  void End();
  void Host(std::string_view category, std::string_view name, int64_t start_ns, int64_t ns,
            const std::string& args);
  int64_t Launch(std::string_view category, std::string_view call, int cbid);
  void Device(std::string_view category, const std::string& name, int64_t ns, int64_t correlation,
              const std::string& args, bool zero_time = false);
  std::string ExternalId() const;

  TraceHeader header_;
  std::vector<Open> open_;
  std::vector<std::string> host_, device_;  // events as JSON text
  std::map<int64_t, int64_t> stream_free_ns_;
  int64_t host_ns_ = 1'000'000, stream_ = 7, next_id_ = 1, next_correlation_ = 1000,
          pre_window_ = 1, allocated_ = 0, step_first_gpu_ns_ = 0, step_last_gpu_ns_ = 0;
  int steps_ = 0;
};

}  // namespace perfgate::spec
