#include "harness/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace perfgate::spec {
namespace {

constexpr int64_t kEnterNs = 2'000, kLeaveNs = 1'000, kLaunchNs = 5'000;
constexpr int kProcess = 4321;

// Bytes that are not valid UTF-8 pass as they are: hostile names are part of the job.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Micro(int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

struct Api {
  std::string_view category, call;
  int cbid;
};

// The call by which PyTorch launches this kernel.
Api ApiOf(std::string_view kernel) {
  if (kernel.starts_with("nvjet")) return {"cuda_driver", "cuLaunchKernelEx", 652};
  if (kernel.starts_with("triton")) return {"cuda_driver", "cuLaunchKernel", 307};
  return {"cuda_runtime", "cudaLaunchKernel", 211};
}

constexpr std::string_view kKernelArgs =
    R"("grid": [128, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0)";

}  // namespace

TraceBuilder::TraceBuilder(TraceHeader header) : header_(std::move(header)) {}

void TraceBuilder::Host(std::string_view category, std::string_view name, int64_t start_ns,
                        int64_t ns, const std::string& args) {
  host_.push_back(fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      category, Quote(name), kProcess, kProcess, Micro(start_ns), Micro(ns), args));
}

void TraceBuilder::Begin(const std::string& category, const std::string& name,
                         const Inputs& inputs) {
  open_.push_back({name, category, inputs, host_ns_, next_id_++});
  host_ns_ += kEnterNs;
}

void TraceBuilder::End() {
  const Open open = open_.back();
  open_.pop_back();
  host_ns_ += kLeaveNs;
  std::string args = fmt::format(R"("External id": {}, "Record function id": 0)", open.id);
  const Inputs& inputs = open.inputs;
  if (!inputs.dims.empty()) args += fmt::format(R"(, "Input Dims": {})", inputs.dims);
  if (!inputs.types.empty()) args += fmt::format(R"(, "Input type": {})", inputs.types);
  Host(open.category, open.name, open.start_ns, host_ns_ - open.start_ns, args);
}

void TraceBuilder::BeginStep() {
  step_first_gpu_ns_ = step_last_gpu_ns_ = 0;
  Begin("user_annotation", fmt::format("ProfilerStep#{}", steps_++));
}

void TraceBuilder::EndStep() {
  const Open step = open_.back();
  End();
  host_ns_ += 10'000;
  if (step_last_gpu_ns_ == 0) return;
  device_.push_back(fmt::format(
      R"({{"ph": "X", "cat": "gpu_user_annotation", "name": {}, "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"External id": {}}}}})",
      Quote(step.name), Micro(step_first_gpu_ns_), Micro(step_last_gpu_ns_ - step_first_gpu_ns_),
      step.id));
}

void TraceBuilder::BeginOperator(const std::string& name, const Inputs& inputs) {
  Begin("cpu_op", name, inputs);
}
void TraceBuilder::EndOperator() { End(); }
void TraceBuilder::BeginAnnotation(const std::string& name) { Begin("user_annotation", name); }
void TraceBuilder::EndAnnotation() { End(); }

void TraceBuilder::Operator(const std::string& name, int64_t ns, const Inputs& inputs) {
  BeginOperator(name, inputs);
  host_ns_ += std::max<int64_t>(0, ns - kEnterNs - kLeaveNs);
  EndOperator();
}

std::string TraceBuilder::ExternalId() const {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (open->category == "cpu_op") return fmt::format(R"("External id": {}, )", open->id);
  }
  return "";
}

int64_t TraceBuilder::Launch(std::string_view category, std::string_view call, int cbid) {
  const int64_t correlation = next_correlation_++;
  Host(category, call, host_ns_, kLaunchNs,
       fmt::format(R"({}"cbid": {}, "correlation": {})", ExternalId(), cbid, correlation));
  host_.push_back(fmt::format(
      R"({{"ph": "s", "id": {0}, "pid": {1}, "tid": {1}, "ts": {2}, "cat": "ac2g", "name": "ac2g"}})",
      correlation, kProcess, Micro(host_ns_)));
  host_ns_ += kLaunchNs;
  return correlation;
}

void TraceBuilder::Device(std::string_view category, const std::string& name, int64_t ns,
                          int64_t correlation, const std::string& args, bool zero_time) {
  int64_t& free_ns = stream_free_ns_[stream_];
  const int64_t start_ns = zero_time ? 0 : std::max(free_ns, host_ns_ + 1'000);
  if (!zero_time) {
    free_ns = start_ns + ns;
    if (step_last_gpu_ns_ == 0) step_first_gpu_ns_ = start_ns;
    step_last_gpu_ns_ = free_ns;
  }
  device_.push_back(fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{{}"device": 0, "context": 1, "stream": {}, "correlation": {}, {}}}}})",
      category, Quote(name), stream_, Micro(start_ns), Micro(zero_time ? 0 : ns), ExternalId(),
      stream_, correlation, args));
  device_.push_back(fmt::format(
      R"({{"ph": "f", "id": {}, "pid": 0, "tid": {}, "ts": {}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})",
      correlation, stream_, Micro(start_ns)));
}

void TraceBuilder::Kernel(const std::string& name, int64_t ns, Defect defect) {
  const Api api = ApiOf(name);
  int64_t correlation = 0;
  if (defect == Defect::kPreWindow) {
    correlation = pre_window_++;
  } else if (defect == Defect::kOrphan) {
    correlation = next_correlation_++;
  } else {
    correlation = Launch(api.category, api.call, api.cbid);
  }
  if (defect == Defect::kDropped) return;
  Device("kernel", name, ns, correlation, std::string(kKernelArgs), defect == Defect::kZeroTime);
}

void TraceBuilder::Graph(const std::vector<std::pair<std::string, int64_t>>& kernels) {
  const int64_t correlation = Launch("cuda_runtime", "cudaGraphLaunch", 311);
  for (const auto& [name, ns] : kernels) {
    Device("kernel", name, ns, correlation, std::string(kKernelArgs));
  }
}

void TraceBuilder::Memcpy(const std::string& direction, int64_t bytes, int64_t ns) {
  const int64_t correlation = Launch("cuda_runtime", "cudaMemcpyAsync", 41);
  const std::string from = direction.starts_with("H") ? "Pageable" : "Device";
  const std::string to = direction.ends_with("H") ? "Pageable" : "Device";
  Device("gpu_memcpy", fmt::format("Memcpy {} ({} -> {})", direction, from, to), ns, correlation,
         fmt::format(R"("bytes": {})", bytes));
}

void TraceBuilder::Memset(int64_t bytes, int64_t ns) {
  const int64_t correlation = Launch("cuda_runtime", "cudaMemsetAsync", 51);
  Device("gpu_memset", "Memset (Device)", ns, correlation, fmt::format(R"("bytes": {})", bytes));
}

void TraceBuilder::Call(const std::string& name, int64_t ns) {
  const int cbid = name == "cudaStreamSynchronize" ? 131 : 165;
  Host("cuda_runtime", name, host_ns_, ns,
       fmt::format(R"({}"cbid": {}, "correlation": {})", ExternalId(), cbid, next_correlation_++));
  host_ns_ += ns;
  if (name.find("Synchronize") == std::string::npos) return;
  for (const auto& [stream, free_ns] : stream_free_ns_) host_ns_ = std::max(host_ns_, free_ns);
}

void TraceBuilder::Memory(int64_t bytes) {
  allocated_ += bytes;
  host_.push_back(fmt::format(
      R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": {0}, "tid": {0}, "ts": {1}, "args": {{"Total Reserved": 0, "Total Allocated": {2}, "Bytes": {3}, "Device Id": {4}, "Device Type": {5}, "Addr": 1024}}}})",
      kProcess, Micro(host_ns_), allocated_, bytes, header_.cpu_only ? -1 : 0,
      header_.cpu_only ? 0 : 1));
  host_ns_ += 100;
}

std::string TraceBuilder::Json() const {
  std::string out = "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
  if (!header_.cpu_only) {
    out += fmt::format(
        R"({{"id": 0, "name": {}, "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": {}}})",
        Quote(header_.gpu), header_.sm_count);
  }
  out += "],\n";
  if (!header_.cpu_only) {
    out +=
        "\"cuda_driver_version\": 13000, \"cuda_runtime_version\": 13000, "
        "\"cupti_version\": 130001,\n";
  }
  for (const auto& [key, value] : header_.members) {
    out += fmt::format("{}: {},\n", Quote(key), value);
  }
  out += "\"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": 1790857026000000000,\n";
  std::vector<std::string> events = host_;
  events.insert(events.end(), device_.begin(), device_.end());
  events.push_back(fmt::format(
      R"({{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": {}}})",
      Micro(host_ns_ + 1'000'000)));
  return out + "\"traceEvents\": [\n" + Join(events, ",\n") +
         "\n],\n\"traceName\": \"trace.json\"}\n";
}

}  // namespace perfgate::spec
