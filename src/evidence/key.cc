#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>

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

// Fields of an environment that belong to the key of a GPU case, of a CPU case, and those that are
// only recorded. They are called the same on both sides.
constexpr std::array kGpuFields = {"torch", "cublas", "cudnn", "triton", "mig", "gpu", "cuda"};
constexpr std::array kCpuFields = {"torch", "triton", "cpu_isa", "threads"};
constexpr std::array kRecorded = {"driver", "clocks",   "cpu",
                                  "host",   "gpu_uuid", "cuda_visible_devices"};

void FillFrom(std::span<const char* const> names, const std::map<std::string, std::string>& from,
              std::map<std::string, std::string>& fields) {
  for (const char* name : names) Fill(fields, name, Lookup(from, name));
}

void LowerCase(std::string& text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

void AddEnvironment(const std::map<std::string, std::string>& environment, bool gpu, Key& key) {
  FillFrom(gpu ? std::span<const char* const>(kGpuFields) : kCpuFields, environment, key.fields);
  // torch says AVX512 for what the machine's facts call avx512.
  const auto isa = key.fields.find("cpu_isa");
  if (isa != key.fields.end()) LowerCase(isa->second);
  FillFrom(kRecorded, environment, key.recorded);
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
    Fill(key.recorded, "gpu_uuid", device.uuid);
  }
  FillFrom(kGpuFields, trace.environment, key.fields);
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
  const bool of_head = std::any_of(attempts.begin(), attempts.end(), [](const AttemptData& data) {
    return data.attempt.side == Side::kHead;
  });
  for (const AttemptData& data : attempts) {
    if (data.samples && (data.attempt.side == Side::kHead) == of_head) {
      AddEnvironment(data.samples->environment, gpu, key);
    }
  }
  FillFrom(kRecorded, machine, key.recorded);
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
