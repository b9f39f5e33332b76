#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "evidence/merge.h"

namespace perfgate {
namespace {

// CUDA's 13000 is "13.0", 12090 is "12.9". Other spellings stand as they are.
std::string CudaVersion(const std::string& number) {
  int value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value < 1000) return number;
  return fmt::format("{}.{}", value / 1000, value % 1000 / 10);
}

void Fill(std::map<std::string, std::string>& fields, const std::string& name,
          const std::string& value) {
  if (!value.empty()) fields.try_emplace(name, value);
}

std::string Lookup(const std::map<std::string, std::string>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? std::string() : found->second;
}

// Names that environments use, and what they are called in a key.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStack = {{
    {"torch", "torch"},
    {"cublas", "cublas"},
    {"cudnn", "cudnn"},
    {"triton", "triton"},
    {"mig", "mig"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRecorded = {{
    {"driver", "driver"},
    {"clocks", "clocks"},
    {"cpu", "cpu"},
    {"gpu_uuid", "gpu_uuid"},
    {"host", "host"},
}};

void AddEnvironment(const std::map<std::string, std::string>& environment, bool gpu, Key& key) {
  for (const auto& [from, to] : kStack) {
    if (!gpu && from != "torch" && from != "triton") continue;
    Fill(key.fields, std::string(to), Lookup(environment, std::string(from)));
  }
  for (const auto& [from, to] : kRecorded) {
    Fill(key.recorded, std::string(to), Lookup(environment, std::string(from)));
  }
  if (gpu) {
    Fill(key.fields, "gpu", Lookup(environment, "gpu"));
    Fill(key.fields, "cuda", Lookup(environment, "cuda"));
  } else {
    Fill(key.fields, "cpu_isa", Lookup(environment, "cpu_isa"));
    Fill(key.fields, "threads", Lookup(environment, "threads"));
  }
}

}  // namespace

void AddTraceKey(const TraceData& trace, const ProcessEvidence& process, Evidence& evidence) {
  Key& key = evidence.key;
  if (!process.gpu) return;
  // A trace without GPU work says nothing of which of the visible GPUs the process was on.
  const int busiest = process.devices.empty() ? -1 : process.devices.front();
  for (const DeviceProperties& device : trace.devices) {
    if (device.id != busiest && trace.devices.size() != 1) continue;
    Fill(key.fields, "gpu", device.name);
    if (device.sm_count > 0) Fill(key.fields, "sm_count", fmt::format("{}", device.sm_count));
  }
  if (!trace.cuda_runtime_version.empty()) {
    Fill(key.fields, "cuda", CudaVersion(trace.cuda_runtime_version));
  }
  Fill(key.fields, "profiler_version", trace.cupti_version);
  if (!trace.cuda_driver_version.empty()) {
    Fill(key.recorded, "driver_api", CudaVersion(trace.cuda_driver_version));
  }
}

void AddCaseKey(const Case& declared, std::span<const AttemptData> attempts,
                const std::map<std::string, std::string>& machine, Evidence& evidence) {
  Key& key = evidence.key;
  const bool gpu = evidence.device_kind == "cuda";
  key.fields["device"] = evidence.device_kind;
  for (const AttemptData& data : attempts) {
    if (data.samples && data.attempt.side == Side::kHead) {
      AddEnvironment(data.samples->environment, gpu, key);
    }
  }
  for (const auto& [from, to] : kRecorded) {
    Fill(key.recorded, std::string(to), Lookup(machine, std::string(from)));
  }
  if (!gpu && !declared.argv.empty()) {
    Fill(key.fields, "cpu_isa", Lookup(machine, "cpu_isa"));
    Fill(key.fields, "threads", fmt::format("{}", declared.threads));
  }
  Fill(key.fields, "definition", declared.digest);
  evidence.device_name = gpu ? Lookup(key.fields, "gpu") : Lookup(key.recorded, "cpu");
  if (evidence.device_name.empty()) evidence.device_name = gpu ? "unknown GPU" : "cpu";
}

std::vector<std::string> KeyDifferences(const Key& base, const Key& head) {
  std::vector<std::string> differing;
  for (const auto& [name, value] : base.fields) {
    const auto other = head.fields.find(name);
    if (other == head.fields.end() || other->second == value) continue;
    differing.push_back(fmt::format("{}: {} / {}", name, value, other->second));
  }
  return differing;
}

std::vector<std::string> UnknownKeyFields(const Key& base, const Key& head) {
  static constexpr std::array<std::string_view, 8> kOnGpu = {
      "gpu", "sm_count", "gpu_count", "cuda", "cublas", "cudnn", "profiler_version", "torch"};
  static constexpr std::array<std::string_view, 3> kOnCpu = {"cpu_isa", "threads", "torch"};
  const auto is_gpu = [](const Key& key) {
    const auto device = key.fields.find("device");
    return device != key.fields.end() && device->second == "cuda";
  };
  std::vector<std::string> unknown;
  const auto add = [&](std::string_view name) {
    const std::string field(name);
    if (base.fields.contains(field) && head.fields.contains(field)) return;
    AddUnique(unknown, field);
  };
  if (is_gpu(base) || is_gpu(head)) {
    for (const std::string_view name : kOnGpu) add(name);
  } else {
    for (const std::string_view name : kOnCpu) add(name);
  }
  add("definition");
  // Whatever else one side says and the other does not.
  for (const auto& [name, value] : base.fields) add(name);
  for (const auto& [name, value] : head.fields) add(name);
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace perfgate
