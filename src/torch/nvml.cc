#include "torch/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace perfgate::runner {
namespace {

// NVML's binary interface, as far as it is used: names, types and numbers are stable across
// drivers.
using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1, kMemoryClock = 2;
constexpr int kGpuTemperature = 0;
constexpr int kUncorrectable = 1, kVolatile = 0;

constexpr std::array<std::pair<unsigned long long, std::string_view>, 8> kThrottleReasons = {{
    {0x2, "applications_clocks_setting"},
    {0x4, "sw_power_cap"},
    {0x8, "hw_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "sw_thermal_slowdown"},
    {0x40, "hw_thermal_slowdown"},
    {0x80, "hw_power_brake_slowdown"},
    {0x100, "display_clock_setting"},
}};  // 0x1, idle, holds nothing down

// The opened library, between its Init and its Shutdown.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW)) {
    ready_ = library_ != nullptr && Call("nvmlInit_v2");
  }
  ~Nvml() {
    if (ready_) Call("nvmlShutdown");
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool ready() const { return ready_; }

  // The result of a function; that of one which this NVML has not is no success.
  template <typename... Arguments>
  int Result(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(dlsym(library_, name));
    return function == nullptr ? -1 : function(arguments...);
  }
  template <typename... Arguments>
  bool Call(const char* name, Arguments... arguments) const {
    return Result(name, arguments...) == kSuccess;
  }

  // A number that a function leaves behind its last argument.
  template <typename Number = unsigned, typename... Arguments>
  std::optional<int64_t> Ask(const char* name, Arguments... arguments) const {
    Number value = 0;
    if (!Call(name, arguments..., &value)) return std::nullopt;
    return static_cast<int64_t>(value);
  }

  template <typename... Arguments>
  std::string AskText(const char* name, Arguments... arguments) const {
    std::array<char, 96> text{};
    if (!Call(name, arguments..., text.data(), static_cast<unsigned>(text.size()))) return "";
    return text.data();
  }

 private:
  void* library_;
  bool ready_ = false;
};

// CUDA calls a part of a GPU, too, by "GPU-…".
std::optional<Handle> Find(const Nvml& nvml, const std::string& uuid) {
  for (const char* prefix : {"GPU-", "MIG-"}) {
    Handle gpu = nullptr;
    const std::string name = prefix + uuid.substr(uuid.find('-') + 1);
    if (nvml.Call("nvmlDeviceGetHandleByUUID", name.c_str(), &gpu)) return gpu;
  }
  return std::nullopt;
}

// "NVIDIA H200 MIG 1g.18gb" -> "1g.18gb"
std::string MigProfile(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const size_t at = name.find(kMark);
  return at == std::string::npos ? "" : name.substr(at + kMark.size());
}

std::string ThrottleText(unsigned long long reasons) {
  std::string text;
  for (const auto& [bit, name] : kThrottleReasons) {
    if (reasons & bit) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text.empty() ? "none" : text;
}

std::optional<int64_t> CountProcesses(const Nvml& nvml, Handle gpu) {
  unsigned count = 0;  // of the entries that there is room for; on return of the processes
  const int result =
      nvml.Result("nvmlDeviceGetComputeRunningProcesses_v3", gpu, &count, Handle(nullptr));
  if (result != kSuccess && result != kInsufficientSize) return std::nullopt;
  return count;
}

bool Holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Warnings(const GpuReading& before, const GpuReading& after) {
  std::string text;
  const auto warn = [&](const std::string& sentence) {
    text += (text.empty() ? "" : "; ") + sentence;
  };
  // Before, this process had no context yet; after, it is one of them.
  const int64_t others = std::max(before.processes.value_or(0), after.processes.value_or(1) - 1);
  if (others > 0) {
    warn(std::to_string(others) +
         (others > 1 ? " other processes use the GPU" : " other process uses the GPU") +
         ", which disturbs all times");
  }
  if (Holds(after.throttle, "slowdown")) warn("the GPU slowed down: " + after.throttle);
  if (after.ecc_errors.value_or(0) > before.ecc_errors.value_or(0)) {
    warn("uncorrectable ECC errors during the attempt");
  }
  return text;
}

void AddReading(const GpuReading& reading, const std::string& when,
                std::map<std::string, std::string>* environment) {
  const std::initializer_list<std::pair<const char*, std::optional<int64_t>>> numbers = {
      {"sm_clock_mhz", reading.sm_clock_mhz},   {"memory_clock_mhz", reading.memory_clock_mhz},
      {"temperature_c", reading.temperature_c}, {"power_mw", reading.power_mw},
      {"ecc_errors", reading.ecc_errors},       {"gpu_processes", reading.processes},
  };
  for (const auto& [name, value] : numbers) {
    if (value) (*environment)[name + when] = std::to_string(*value);
  }
  if (!reading.throttle.empty()) (*environment)["throttle" + when] = reading.throttle;
}

}  // namespace

std::optional<GpuReading> ReadGpu(const std::string& uuid, const std::string& library) {
  const Nvml nvml(library);
  if (!nvml.ready()) return std::nullopt;
  const std::optional<Handle> found = Find(nvml, uuid);
  if (!found) return std::nullopt;
  GpuReading reading;
  reading.driver = nvml.AskText("nvmlSystemGetDriverVersion");
  reading.mig = MigProfile(nvml.AskText("nvmlDeviceGetName", *found));
  // A slice has no clocks and no temperature of its own; those of the whole GPU hold.
  Handle gpu = *found;
  if (!reading.mig.empty()) nvml.Call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", *found, &gpu);
  reading.sm_clock_mhz = nvml.Ask("nvmlDeviceGetClockInfo", gpu, kSmClock);
  reading.memory_clock_mhz = nvml.Ask("nvmlDeviceGetClockInfo", gpu, kMemoryClock);
  reading.temperature_c = nvml.Ask("nvmlDeviceGetTemperature", gpu, kGpuTemperature);
  reading.power_mw = nvml.Ask("nvmlDeviceGetPowerUsage", gpu);
  reading.ecc_errors =
      nvml.Ask<unsigned long long>("nvmlDeviceGetTotalEccErrors", gpu, kUncorrectable, kVolatile);
  reading.processes = CountProcesses(nvml, *found);
  if (const auto reasons =
          nvml.Ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", gpu)) {
    reading.throttle = ThrottleText(static_cast<unsigned long long>(*reasons));
  }
  return reading;
}

void AddReadings(const std::optional<GpuReading>& before, const std::optional<GpuReading>& after,
                 std::map<std::string, std::string>* environment) {
  if (!before || !after) return;
  (*environment)["driver"] = after->driver;
  (*environment)["mig"] = after->mig;
  AddReading(*before, "_before", environment);
  AddReading(*after, "_after", environment);
  (*environment)["warning"] = Warnings(*before, *after);
  std::erase_if(*environment, [](const auto& item) { return item.second.empty(); });
}

}  // namespace perfgate::runner
