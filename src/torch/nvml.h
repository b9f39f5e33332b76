// What the NVIDIA driver's management library (NVML) says of a GPU. It is opened at run time: where
// it is missing, or does not answer a question, nothing is known, and nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace perfgate::runner {

// One GPU at one instant.
struct GpuReading {
  std::string driver;    // "580.65.06"
  std::string mig;       // "1g.18gb": profile of a slice; "" for a whole GPU
  std::string throttle;  // what holds the clocks down: "sw_power_cap", several with ", "; "none"
  std::optional<int64_t> sm_clock_mhz, memory_clock_mhz, temperature_c, power_mw;
  std::optional<int64_t> ecc_errors;  // uncorrectable ones since the driver was loaded
  std::optional<int64_t> processes;  // with a context on the GPU, this one among them if it has one
};

// `uuid` as CUDA gives it, without a prefix: "8d2c…-…". Empty if NVML cannot be opened or does not
// know the GPU.
std::optional<GpuReading> ReadGpu(const std::string& uuid,
                                  const std::string& library = "libnvidia-ml.so.1");

// Adds a reading before the process had a context on the GPU, and one after its work, to what is
// recorded of the process (docs/attempt.md has the keys), with a `warning` where the numbers cannot
// be trusted.
void AddReadings(const std::optional<GpuReading>& before, const std::optional<GpuReading>& after,
                 std::map<std::string, std::string>* environment);

}  // namespace perfgate::runner
