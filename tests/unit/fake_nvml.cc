#include "fake_nvml.h"

#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT FakeNvml fake_nvml;
FakeNvml fake_nvml;

namespace {

int gpu, board;  // their addresses are the handles: of the GPU or its slice, of a slice's board

int Copy(const char* from, char* to, unsigned size) {
  std::strncpy(to, from, size - 1);
  to[size - 1] = '\0';
  return 0;
}

int Give(void* device, unsigned value, unsigned* out) {
  const bool slice = std::strstr(fake_nvml.name, " MIG ") != nullptr;
  if (slice && device != &board) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *out = value;
  return fake_nvml.result;
}

}  // namespace

EXPORT int nvmlInit_v2() {
  fake_nvml.open += fake_nvml.init == 0;
  return fake_nvml.init;
}
EXPORT int nvmlShutdown() {
  --fake_nvml.open;
  return 0;
}
EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return Copy("580.65.06", text, size);
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpu;
  return std::strcmp(uuid, fake_nvml.uuid) == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}
EXPORT int nvmlDeviceGetName(void*, char* text, unsigned size) {
  return Copy(fake_nvml.name, text, size);
}
EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** device) {
  *device = &board;
  return 0;
}
EXPORT int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* mhz) {
  return Give(device, clock == 1 ? 1980 : 3201, mhz);
}
EXPORT int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
  return Give(device, 41, celsius);
}
EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return Give(device, 118000, milliwatts);
}
EXPORT int nvmlDeviceGetTotalEccErrors(void*, int, int, unsigned long long* count) {
  *count = fake_nvml.ecc_errors;
  return 0;
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = fake_nvml.throttle;
  return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* infos) {
  const bool room = infos != nullptr || fake_nvml.processes == 0;
  *count = fake_nvml.processes;
  return room ? 0 : 7;  // NVML_ERROR_INSUFFICIENT_SIZE
}
